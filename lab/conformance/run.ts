import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { advantages } from './advantages.ts';
import { chatMasks } from './chat-masks.ts';
import { definitionVariants } from './definition-variants.ts';
import { definitionVariantLosses } from './definition-variants-losses.ts';
import {
  type AdapterTable,
  difference,
  type Fixture,
  type FixtureCase,
  floatTolerance,
  type OperationsTable,
  unsupported,
} from './fixture.ts';
import { gaeAdapters } from './gae.ts';
import { gigpo } from './gigpo.ts';
import { groupSelection } from './group-selection.ts';
import { arealLosses } from './losses-areal.ts';
import { corrections } from './losses-correction.ts';
import { logitLosses } from './losses-logits.ts';
import { openInstructLosses } from './losses-open-instruct.ts';
import { openrlhfLosses } from './losses-openrlhf.ts';
import { primeRlLosses } from './losses-prime-rl.ts';
import { skyrlLosses } from './losses-skyrl.ts';
import { slimeLosses } from './losses-slime.ts';
import { textpolicyLosses } from './losses-textpolicy.ts';
import { trlLosses } from './losses-trl.ts';
import { valueLosses } from './losses-values.ts';
import { verlLosses } from './losses-verl.ts';
import { maskedStatistics } from './masked-statistics.ts';
import { eager, type Operations, onnx } from './operations.ts';
import { optimisation } from './optimisation.ts';
import { qualityMonitor } from './quality-monitor.ts';
import { readFixture } from './read.ts';
import { rewardComputers } from './reward-computers.ts';
import { sequences } from './sequences.ts';
import { stockRewards } from './stock-rewards.ts';
import { textRewards } from './text-rewards.ts';
import { verification } from './verification.ts';

const families: readonly AdapterTable[] = [
  advantages,
  chatMasks,
  definitionVariants,
  gaeAdapters,
  gigpo,
  groupSelection,
  maskedStatistics,
  optimisation,
  qualityMonitor,
  rewardComputers,
  sequences,
  stockRewards,
  textRewards,
  verification,
];

const operationFamilies: readonly OperationsTable[] = [
  definitionVariantLosses,
  verlLosses,
  trlLosses,
  skyrlLosses,
  textpolicyLosses,
  slimeLosses,
  openrlhfLosses,
  openInstructLosses,
  arealLosses,
  primeRlLosses,
  logitLosses,
  corrections,
  valueLosses,
];

/** The implementations of `TensorOps` and what counts as equal on them. */
const implementations: readonly {
  readonly operations: Operations;
  widen(tolerance: Fixture['tolerance'], fixtureCase: FixtureCase): Fixture['tolerance'];
}[] = [
  { operations: eager, widen: (tolerance) => tolerance },
  { operations: onnx, widen: floatTolerance },
];

/** What came of one fixture file. */
export interface FileResult {
  readonly file: string;
  /** Cases that passed, on every implementation they ran on. */
  readonly passed: number;
  readonly unsupported: number;
  /** One line per failed case and implementation: its id and the first difference. */
  readonly failures: readonly string[];
  /** Of the cases over `TensorOps`, how many passed on each implementation. */
  readonly perOperations: Readonly<Record<string, number>>;
}

function adaptersOf<Adapters>(
  families: readonly Readonly<Record<string, Readonly<Record<string, Adapters>>>>[],
  { fixture, fn }: { readonly fixture: string; readonly fn: string },
): Adapters | undefined {
  const tables = families.flatMap((family) => (Object.hasOwn(family, fixture) ? [family[fixture]!] : []));
  return tables.find((table) => Object.hasOwn(table, fn))?.[fn];
}

/** How much is run. */
export interface RunOptions {
  /** Of the cases over `TensorOps`, one in this many is run on ONNX Runtime too. Default 1. */
  readonly onnxEvery?: number;
}

/** Runs every case of a fixture that there is an adapter for; those over `TensorOps` on each implementation. */
export async function runFixture(fixture: Fixture, { onnxEvery = 1 }: RunOptions = {}): Promise<FileResult> {
  const failures: string[] = [];
  const perOperations: Record<string, number> = {};
  let passed = 0;
  let skipped = 0;
  for (const [index, fixtureCase] of fixture.cases.entries()) {
    const used = index % onnxEvery === 0 ? implementations : implementations.slice(0, 1);
    const problems = await problemsOf(fixture, fixtureCase, { perOperations, used });
    if (problems === unsupported) skipped += 1;
    else if (problems.length === 0) passed += 1;
    else failures.push(...problems.map((problem) => `${fixtureCase.id}${problem}`));
  }
  return { file: `${fixture.name}.json`, passed, unsupported: skipped, failures, perOperations };
}

async function problemsOf(
  { name: fixture, tolerance }: Fixture,
  fixtureCase: FixtureCase,
  {
    perOperations,
    used,
  }: { readonly perOperations: Record<string, number>; readonly used: typeof implementations },
): Promise<readonly string[] | typeof unsupported> {
  const { fn, expected } = fixtureCase;
  const adapter = adaptersOf(families, { fixture, fn });
  if (adapter !== undefined) {
    const problem = await judge(() => adapter(fixtureCase), { expected, tolerance });
    return problem === unsupported ? unsupported : problem === undefined ? [] : [problem];
  }
  const overOperations = adaptersOf(operationFamilies, { fixture, fn });
  if (overOperations === undefined) return unsupported;
  const problems: string[] = [];
  for (const { operations, widen } of used) {
    const judged = { expected, tolerance: widen(tolerance, fixtureCase) };
    const problem = await judge(() => overOperations(fixtureCase, operations), judged);
    if (problem === unsupported) return unsupported;
    if (problem === undefined) perOperations[operations.name] = (perOperations[operations.name] ?? 0) + 1;
    else problems.push(` (${operations.name})${problem}`);
  }
  return problems;
}

async function judge(
  compute: () => unknown,
  { expected, tolerance }: { readonly expected: unknown; readonly tolerance: Fixture['tolerance'] },
): Promise<string | undefined | typeof unsupported> {
  try {
    const got = await compute();
    return got === unsupported ? unsupported : difference(got, expected, tolerance);
  } catch (error) {
    return `: threw ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Runs every fixture file of a directory, in the order of their names; what cannot be read of a file is a failure of it. */
export async function runDirectory(directory: string, options: RunOptions = {}): Promise<FileResult[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json')).sort();
  const known = (name: string) =>
    [...families, ...operationFamilies].some((family) => Object.hasOwn(family, name));
  const results: FileResult[] = [];
  for (const file of names) {
    const text = await readFile(join(directory, file), 'utf8');
    const { fixture, problems } = readFixture(text, { file: file.replace(/\.json$/, ''), known });
    const result = await runFixture(fixture, options);
    results.push({ ...result, file, failures: [...problems, ...result.failures] });
  }
  return results;
}

/** The report: a line per file (and per failure, indented), and the totals last. */
export function report(results: readonly FileResult[]): string[] {
  const lines = results.flatMap(({ file, passed, failures, unsupported: skipped, perOperations }) => [
    `${file}: ${passed} passed, ${failures.length} failed, ${skipped} unsupported${split(perOperations)}`,
    ...failures.slice(0, 5).map((failure) => `  ${failure}`),
  ]);
  const total = (count: (result: FileResult) => number) => results.reduce((sum, r) => sum + count(r), 0);
  return [...lines, `${total((r) => r.passed)} passed, ${total((r) => r.failures.length)} failed`];
}

function split(perOperations: FileResult['perOperations']): string {
  const parts = Object.entries(perOperations).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
