/**
 * Moves the declaration files that `tsc -p tsconfig.types.json` emitted into each package's `dist/`, beside the code.
 *
 * Relative imports change from `.ts` to `.js`, and declaration maps point at the `src/` that is published with them.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { conclude, filesIn, packagesIn } from './workspace.ts';

const emitted = 'runs/check/types';

function withBuiltExtensions(declaration: string): string {
  return declaration.replaceAll(/(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2');
}

function withPublishedSources(map: string, source: string, placed: string): string {
  const parsed = JSON.parse(map) as { sources: string[] };
  return JSON.stringify({ ...parsed, sources: [relative(dirname(placed), source).replaceAll('\\', '/')] });
}

function placeDeclarations(directory: string): number {
  const placed = join(directory, 'dist');
  for (const stale of [...filesIn(placed, '.d.ts'), ...filesIn(placed, '.d.ts.map')]) rmSync(stale);
  const sources = filesIn(join(directory, 'src'), '.ts').filter((source) => !source.endsWith('.test.ts'));
  for (const source of sources) {
    const from = join(emitted, source.replace(/\.ts$/, '.d.ts'));
    if (!existsSync(from))
      throw new Error(`place-declarations: ${from} is missing; run pnpm check:types first`);
    const to = join(placed, relative(join(directory, 'src'), source).replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, withBuiltExtensions(readFileSync(from, 'utf8')));
    writeFileSync(
      `${to}.map`,
      withPublishedSources(readFileSync(`${from}.map`, 'utf8'), source, `${to}.map`),
    );
  }
  return sources.length;
}

const placed = packagesIn('packages').map(({ directory }) => placeDeclarations(directory));
conclude([], `${placed.reduce((sum, count) => sum + count, 0)} declaration files placed`);
