import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Longest time in milliseconds that each file took. A run that stops at its first failure shortens some. */
const longest = new Map<string, number>();

/** Quick files first: a run ends with the first test that fails, and most mutants fail in many files. */
export class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const file of files) {
      const { duration = 0 } = this.ctx.cache.getFileTestResults(this.#key(file)) ?? {};
      longest.set(this.#key(file), Math.max(duration, longest.get(this.#key(file)) ?? 0));
    }
    return files.toSorted((a, b) => longest.get(this.#key(a))! - longest.get(this.#key(b))!);
  }

  #key({ project, moduleId }: TestSpecification): string {
    return `${project.name}:${relative(this.ctx.config.root, moduleId)}`;
  }
}
