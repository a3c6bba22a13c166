import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { moduleExports } from './compiler.ts';
import { entriesOf, packagesIn } from './workspace.ts';

const document = readFileSync('docs/seed-names.md', 'utf8');

function exportedNames(): Map<string, Set<string>> {
  const entries = packagesIn('packages').flatMap(entriesOf);
  const { exportsOf } = moduleExports(entries.map(({ source }) => source));
  return new Map(
    entries.map(({ specifier, source }) => [specifier, new Set(exportsOf(source).map(({ name }) => name))]),
  );
}

const named = [...document.matchAll(/`(@rlp\/[a-z-]+)` `(\w+)`/g)].map(([, specifier, name]) => [
  specifier!,
  name!,
]);

describe('docs/seed-names.md', () => {
  it('names only what its package exports', () => {
    const exported = exportedNames();
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(([specifier, name]) => !exported.get(specifier!)?.has(name!))).toEqual([]);
  });
});
