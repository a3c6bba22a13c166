/**
 * Injects every fault into every file operation of the store's saves, and lets two processes save to one directory.
 *
 * ```sh
 * npx tsx --conditions=@rlp/source lab/crash-points.ts [--saves 1000]
 * ```
 * It prints a row for each sequence of saves and a line about the writers, and exits with 1 if anything was lost or mixed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crashTable, faults, storeScenarios } from '@rlp/data/testing';
import { twoWriters } from './two-writers.ts';

const { values } = parseArgs({ options: { saves: { type: 'string', default: '1000' } } });
let problems = 0;

console.log(`| sequence | operations | ${faults.join(' | ')} | lost or mixed |`);
console.log(`| --- | --: |${' --: |'.repeat(faults.length + 1)}`);
for (const scenario of storeScenarios) {
  const table = await crashTable(scenario);
  const cells = faults.map((fault) => table.points[fault]);
  console.log(`| ${scenario.name} | ${table.operations} | ${cells.join(' | ')} | ${table.problems.length} |`);
  for (const problem of table.problems) console.log(problem);
  problems += table.problems.length;
}

const directory = mkdtempSync(join(tmpdir(), 'rlp-writers-'));
const outcome = await twoWriters(directory, { saves: Number(values.saves), killEveryMs: 5000 });
console.log(JSON.stringify(outcome));
rmSync(directory, { recursive: true });
process.exitCode = problems + outcome.mixed + outcome.problems.length > 0 ? 1 : 0;
