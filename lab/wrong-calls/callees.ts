/** Exported functions and classes of the packages, each with a call that fits its type. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { compile } from '../../scripts/compiler.ts';
import { Examples } from './examples.ts';
import type { Callee } from './sweep.ts';

/** Folders of all packages. */
export const folders: readonly string[] = readdirSync('packages');

/** Sources of the public entries of a package, without those that need a test runner. */
function entriesOf(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')) as {
    exports: Readonly<Record<string, { readonly '@rlp/source'?: string }>>;
  };
  return Object.entries(exports).flatMap(([entry, { '@rlp/source': source }]) =>
    source === undefined || entry.endsWith('testing') ? [] : [resolve(`packages/${folder}`, source)],
  );
}

/** What the packages in these folders export, by folder. Each function and class once. */
export async function calleesOf(chosen: readonly string[]): Promise<ReadonlyMap<string, readonly Callee[]>> {
  const entries = new Map(chosen.map((folder) => [folder, entriesOf(folder)]));
  const compilation = compile([...entries.values()].flat(), 'source');
  const examples = new Examples(compilation.checker);
  const callees = new Map<string, readonly Callee[]>();
  for (const [folder, paths] of entries) {
    const found = new Map<unknown, Callee>();
    for (const path of paths) {
      const module = (await import(path)) as Readonly<Record<string, unknown>>;
      for (const symbol of compilation.exportsOf(path)) {
        const value = module[symbol.name];
        if (typeof value !== 'function' || found.has(value)) continue;
        const example = examples.callOf(symbol, compilation.sourceOf(path));
        if (example) found.set(value, { name: symbol.name, value: value as Callee['value'], example });
      }
    }
    callees.set(folder, [...found.values()]);
  }
  return callees;
}
