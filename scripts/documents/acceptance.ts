/** Names of ours in lab/acceptance.md that their package does not export. `lab/acceptance.test.ts` checks its lines and files. */
import { readFileSync } from 'node:fs';
import type { Compilation } from '../compiler.ts';
import type { Entry } from '../workspace.ts';

const path = 'lab/acceptance.md';

export function acceptance({ exportsOf }: Compilation, entries: readonly Entry[]): string[] {
  const exported = new Map(
    entries.map(({ specifier, types }) => [specifier, new Set(exportsOf(types).map(({ name }) => name))]),
  );
  // `@rlp/core` `Message`, `Task`
  const lists = readFileSync(path, 'utf8').matchAll(/`(@rlp\/[a-z/-]+)` (`\w+`(?:, `\w+`)*)/g);
  const named = [...lists].flatMap(([, specifier, list]) =>
    Array.from(list!.matchAll(/\w+/g), ([name]) => ({ specifier: specifier!, name })),
  );
  if (named.length <= 30) return [`${path}: expected more than 30 names, found ${named.length}`];
  return named
    .filter(({ specifier, name }) => !exported.get(specifier)?.has(name))
    .map(({ specifier, name }) => `${path}: ${specifier} exports no ${name}`);
}
