/**
 * Names of ours in lab/acceptance.md that their package does not export, tests that it names but that are not there, and lines of
 * a system that it leaves out.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Compilation } from '../compiler.ts';
import type { Entry } from '../workspace.ts';

const path = 'lab/acceptance.md';

/** Where the document's paths of tests begin. */
const testFolders = ['.', 'packages/rewards/src', 'packages/quality-monitor/src'];

/** Systems whose every line has to have a row, and how many lines they have. */
const complete = { S0: 82 } as const;

export function acceptance({ exportsOf }: Compilation, entries: readonly Entry[]): string[] {
  const exported = new Map(
    entries.map(({ specifier, types }) => [specifier, new Set(exportsOf(types).map(({ name }) => name))]),
  );
  const document = readFileSync(path, 'utf8');
  const named = [...document.matchAll(/`(@rlp\/[a-z/-]+)` `(\w+)`/g)];
  if (named.length <= 30) return [`${path}: expected more than 30 names, found ${named.length}`];
  const unknown = named
    .filter(([, specifier, name]) => !exported.get(specifier!)?.has(name!))
    .map(([, specifier, name]) => `${path}: ${specifier} exports no ${name}`);
  const tests = [...document.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, test]) => test!);
  const missing = tests.filter((test) => !testFolders.some((folder) => existsSync(join(folder, test))));
  const left = Object.entries(complete).flatMap(([system, lines]) => leftOut(document, system, lines));
  return [...unknown, ...left, ...missing.map((test) => `${path}: there is no test ${test}`)];
}

/** Lines of a system without a row: the first column names them one by one, or as `S0-06…08`. */
function leftOut(document: string, system: string, lines: number): string[] {
  const first = [...document.matchAll(/^\| ([^|]*)\|/gm)].map(([, cell]) => cell!).join(' ');
  const named = new Set<number>();
  for (const [, from, to = from] of first.matchAll(new RegExp(`${system}-(\\d+)(?:…(\\d+))?`, 'g'))) {
    for (let line = Number(from); line <= Number(to); line++) named.add(line);
  }
  return Array.from({ length: lines }, (_, k) => k + 1)
    .filter((line) => !named.has(line))
    .map((line) => `${path}: no row for ${system}-${String(line).padStart(2, '0')}`);
}
