/** Names of ours in docs/seed-names.md that their package does not export. */
import { readFileSync } from 'node:fs';
import type { Compilation } from '../compiler.ts';
import type { Entry } from '../workspace.ts';

const path = 'docs/seed-names.md';

export function seedNames({ exportsOf }: Compilation, entries: readonly Entry[]): string[] {
  const exported = new Map(
    entries.map(({ specifier, source }) => [specifier, new Set(exportsOf(source).map(({ name }) => name))]),
  );
  const named = [...readFileSync(path, 'utf8').matchAll(/`(@rlp\/[a-z-]+)` `(\w+)`/g)];
  if (named.length <= 30) return [`${path}: expected more than 30 names, found ${named.length}`];
  return named
    .filter(([, specifier, name]) => !exported.get(specifier!)?.has(name!))
    .map(([, specifier, name]) => `${path}: ${specifier} exports no ${name}`);
}
