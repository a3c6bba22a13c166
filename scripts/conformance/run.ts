import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { advantages } from './advantages.ts';
import { type Adapter, type AdapterTable, difference, type Fixture, unsupported } from './fixture.ts';
import { gaeAdapters } from './gae.ts';
import { gigpo } from './gigpo.ts';
import { losses } from './losses.ts';
import { maskedStatistics } from './masked-statistics.ts';
import { optimisation } from './optimisation.ts';
import { sequences } from './sequences.ts';

const families: readonly AdapterTable[] = [
  advantages,
  gaeAdapters,
  gigpo,
  losses,
  maskedStatistics,
  optimisation,
  sequences,
];

/** What came of one fixture file. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly unsupported: number;
  /** One line per failed case: its id and the first difference. */
  readonly failures: readonly string[];
}

function adaptersOf(name: string): Readonly<Record<string, Adapter>> {
  return Object.assign({}, ...families.map((family) => family[name] ?? {}));
}

/** Runs every case of a fixture that there is an adapter for. */
export function runFixture(fixture: Fixture): FileResult {
  const adapters = adaptersOf(fixture.name);
  const failures: string[] = [];
  let passed = 0;
  let skipped = 0;
  for (const fixtureCase of fixture.cases) {
    const adapter = Object.hasOwn(adapters, fixtureCase.fn) ? adapters[fixtureCase.fn] : undefined;
    const problem = adapter === undefined ? unsupported : judge(adapter, fixtureCase, fixture.tolerance);
    if (problem === unsupported) skipped += 1;
    else if (problem === undefined) passed += 1;
    else failures.push(`${fixtureCase.id}${problem}`);
  }
  return { file: `${fixture.name}.json`, passed, unsupported: skipped, failures };
}

function judge(
  adapter: Adapter,
  fixtureCase: Fixture['cases'][number],
  tolerance: Fixture['tolerance'],
): string | undefined | typeof unsupported {
  try {
    const got = adapter(fixtureCase);
    return got === unsupported ? unsupported : difference(got, fixtureCase.expected, tolerance);
  } catch (error) {
    return `: threw ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Runs every fixture file of a directory, in the order of their names. */
export async function runDirectory(directory: string): Promise<FileResult[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json')).sort();
  const results: FileResult[] = [];
  for (const name of names) {
    const fixture = JSON.parse(await readFile(join(directory, name), 'utf8')) as Fixture;
    results.push(runFixture({ ...fixture, name: name.replace(/\.json$/, '') }));
  }
  return results;
}

/** The report: a line per file (and per failure, indented), and the totals last. */
export function report(results: readonly FileResult[]): string[] {
  const lines = results.flatMap(({ file, passed, failures, unsupported: skipped }) => [
    `${file}: ${passed} passed, ${failures.length} failed, ${skipped} unsupported`,
    ...failures.slice(0, 5).map((failure) => `  ${failure}`),
  ]);
  const total = (count: (result: FileResult) => number) => results.reduce((sum, r) => sum + count(r), 0);
  return [...lines, `${total((r) => r.passed)} passed, ${total((r) => r.failures.length)} failed`];
}
