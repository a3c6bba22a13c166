/** Exported functions and classes of the packages, each with a call that fits its type. */
import { compile } from '../../scripts/compiler.ts';
import { entriesOf, exportedBy } from './entries.ts';
import { Examples } from './examples.ts';
import type { Callee } from './sweep.ts';

/** What the packages in these folders export, by folder. */
export async function calleesOf(folders: readonly string[]): Promise<ReadonlyMap<string, readonly Callee[]>> {
  const entries = new Map(folders.map((folder) => [folder, entriesOf(folder)]));
  const compilation = compile([...entries.values()].flat(), 'source');
  const examples = new Examples(compilation.checker);
  const callees = new Map<string, readonly Callee[]>();
  for (const [folder, paths] of entries) {
    const exported = await exportedBy(paths);
    const found = exported.flatMap(({ name, value, path }) => {
      const symbol = compilation.exportsOf(path).find((each) => each.name === name);
      const example = symbol && examples.callOf(symbol, compilation.sourceOf(path));
      return example === undefined ? [] : [{ name, value, example }];
    });
    callees.set(folder, found);
  }
  return callees;
}
