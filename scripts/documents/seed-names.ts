/** Names of ours in docs/seed-names.md that their package does not export, and tests that it names but that are not there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Compilation } from '../compiler.ts';
import type { Entry } from '../workspace.ts';

const path = 'docs/seed-names.md';

/** Where the document's paths of tests begin. */
const testFolders = ['.', 'packages/rewards/src', 'packages/quality-monitor/src'];

export function seedNames({ exportsOf }: Compilation, entries: readonly Entry[]): string[] {
  const exported = new Map(
    entries.map(({ specifier, source }) => [specifier, new Set(exportsOf(source).map(({ name }) => name))]),
  );
  const document = readFileSync(path, 'utf8');
  const named = [...document.matchAll(/`(@rlp\/[a-z/-]+)` `(\w+)`/g)];
  if (named.length <= 30) return [`${path}: expected more than 30 names, found ${named.length}`];
  const unknown = named
    .filter(([, specifier, name]) => !exported.get(specifier!)?.has(name!))
    .map(([, specifier, name]) => `${path}: ${specifier} exports no ${name}`);
  const tests = [...document.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, test]) => test!);
  const missing = tests.filter((test) => !testFolders.some((folder) => existsSync(join(folder, test))));
  return [...unknown, ...missing.map((test) => `${path}: there is no test ${test}`)];
}
