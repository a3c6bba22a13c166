/**
 * `pnpm check`: everything that CI checks, in two lanes. `pnpm check lint types` runs only those named.
 *
 * Each check is a script `check:<name>` of package.json. This file only knows which of them wait for which. The tests take
 * one lane. The other checks use the processor when the tests wait, and yield to them otherwise: some tests measure time.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { delimiter, relative, resolve } from 'node:path';

interface Check {
  readonly name: string;
  readonly after?: readonly string[];
}

interface Outcome {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly output: string;
}

const lanes = 2;

/** In the order they start, longest first. */
const checks: readonly Check[] = [
  { name: 'test' },
  { name: 'types' },
  { name: 'build' },
  { name: 'declarations', after: ['types'] },
  { name: 'packages', after: ['build', 'declarations'] },
  { name: 'docs', after: ['build', 'declarations'] },
  { name: 'size' },
  { name: 'site' },
  { name: 'unused' },
  { name: 'lint' },
  { name: 'layers' },
];

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const path = `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`;

function run(name: string): Promise<Outcome> {
  const command = scripts[`check:${name}`];
  if (command === undefined) throw new Error(`check: package.json has no script named check:${name}`);
  const start = performance.now();
  return new Promise((done) => {
    const child = spawn(command, {
      shell: true,
      stdio: name === 'test' ? 'inherit' : 'pipe',
      // The native compiler would spend a quarter of its time on collecting garbage.
      env: { GOGC: '400', ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: '1' },
    });
    if (name !== 'test' && child.pid !== undefined)
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', (code) => {
      const seconds = (performance.now() - start) / 1000;
      done({ name, passed: code === 0, seconds, output: Buffer.concat(chunks).toString() });
    });
  });
}

function report({ name, passed, seconds, output }: Outcome): void {
  console.log(`${passed ? '✓' : '✗'} ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s`);
  const notes = output.split('\n').filter((line) => line.startsWith('warning: '));
  if (!passed) console.log(output.trimEnd());
  else if (notes.length > 0) console.log(notes.join('\n'));
}

/** The files of tests that took longest, from the report of the last run. */
function slowestTests(): string {
  const { testResults } = JSON.parse(readFileSync('runs/check/tests.json', 'utf8')) as {
    testResults: readonly { name: string; startTime: number; endTime: number }[];
  };
  return testResults
    .map(({ name, startTime, endTime }) => ({
      name: relative('.', name),
      seconds: (endTime - startTime) / 1000,
    }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, 8)
    .map(({ name, seconds }) => `  ${seconds.toFixed(1).padStart(5)} s  ${name}`)
    .join('\n');
}

async function runInLanes(wanted: readonly Check[]): Promise<Outcome[]> {
  const waiting = [...wanted];
  const finished = new Map<string, Outcome>();
  const names = new Set(wanted.map(({ name }) => name));
  const ready = ({ after = [] }: Check) => after.every((name) => finished.has(name) || !names.has(name));
  const running = new Set<Promise<void>>();
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex(ready);
    if (next !== -1 && running.size < lanes) {
      const [check] = waiting.splice(next, 1);
      const lane: Promise<void> = run(check!.name).then((outcome) => {
        report(outcome);
        finished.set(outcome.name, outcome);
        running.delete(lane);
      });
      running.add(lane);
    } else {
      await Promise.race(running);
    }
  }
  return [...finished.values()];
}

async function main(only: readonly string[]): Promise<void> {
  const known = checks.map(({ name }) => name);
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`check: no check named ${unknown.join(', ')}, expected some of: ${known.join(', ')}`);
  }
  const wanted = (name: string) => only.length === 0 || only.includes(name);
  const start = performance.now();
  const outcomes = await runInLanes(checks.filter(({ name }) => wanted(name)));
  if (outcomes.some(({ name }) => name === 'test'))
    console.log(`\nslowest files of tests:\n${slowestTests()}`);
  const failed = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const verdict = failed.length === 0 ? 'all passed' : `failed: ${failed.join(', ')}`;
  console.log(`\n${outcomes.length} checks in ${seconds} s, ${verdict}`);
  if (failed.length > 0) process.exitCode = 1;
}

await main(process.argv.slice(2));
