/** Public entries of the packages, and what they export. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Folders of all packages. */
export const folders: readonly string[] = readdirSync('packages');

/** An exported function or class. */
export interface Exported {
  readonly name: string;
  readonly value: (...args: unknown[]) => unknown;
  /** Source of the entry that exports it. */
  readonly path: string;
}

/** Sources of the public entries of a package, without those that need a test runner. */
export function entriesOf(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')) as {
    exports: Readonly<Record<string, { readonly '@rlp/source'?: string }>>;
  };
  return Object.entries(exports).flatMap(([entry, { '@rlp/source': source }]) =>
    source === undefined || entry.endsWith('testing') ? [] : [resolve(`packages/${folder}`, source)],
  );
}

/** What entries export, each function and class once. */
export async function exportedBy(paths: readonly string[]): Promise<readonly Exported[]> {
  const found = new Map<unknown, Exported>();
  for (const path of paths) {
    const module = (await import(path)) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(module)) {
      if (typeof value === 'function' && !found.has(value))
        found.set(value, { name, value: value as Exported['value'], path });
    }
  }
  return [...found.values()];
}
