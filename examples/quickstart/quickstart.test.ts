import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { loadModel } from '@rlp/models';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { additionTasks, demonstrations, workedSolution } from './addition.ts';
import { quickstartOptions } from './options.ts';
import { explained, quickstart } from './quickstart.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
/** Enough imitation for some answers to be in form, so that practice has something to learn from. Tests run beside others. */
const short = [
  ...['--sft-updates', '12', '--rl-iterations', '2', '--rl-problems', '4'],
  ...['--held-out', '10', '--threads', '1'],
];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-quickstart-'));
});
afterAll(() => rm(directory, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  /** Milliseconds from the first Ctrl-C to the end. */
  readonly stoppedAfter: number;
}

/** Runs the quickstart as a shell would; presses Ctrl-C, so many times, when the output matches. */
function runInShell(
  flags: readonly string[],
  interrupt?: { readonly at: RegExp; readonly times: number; readonly signal: NodeJS.Signals },
): Promise<Ended> {
  const args = ['--conditions=@rlp/source', '--import', import.meta.resolve('tsx'), main, ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  let interruptedAt = Number.NaN;
  child.stdout.on('data', (text: Buffer) => {
    output += text;
    if (!interrupt?.at.test(output) || !Number.isNaN(interruptedAt)) return;
    interruptedAt = performance.now();
    for (let n = 0; n < interrupt.times; n++) setTimeout(() => child.kill(interrupt.signal), 100 * n);
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, output, errors, stoppedAfter: performance.now() - interruptedAt }),
    );
  });
}

/** Runs it in this process, which saves the start of one; aborts it when what it says matches. */
async function runHere(flags: readonly string[], abortAt?: RegExp) {
  const options = quickstartOptions(flags);
  if (options === 'help') throw new Error('expected flags of a run');
  const controller = new AbortController();
  let output = '';
  const stream = new Writable({
    write(text, _encoding, done) {
      output += text;
      if (abortAt?.test(output)) controller.abort(new Error('interrupted'));
      done();
    },
  });
  const ended = await quickstart(options, { signal: controller.signal, stream }).catch(
    (error: unknown) => error,
  );
  return { ended, output };
}

const readJson = async (...path: string[]) => JSON.parse(await readFile(join(...path), 'utf8'));

/** Of a model's weights: to compare close to a million numbers one by one takes seconds. */
async function digest(path: string): Promise<string> {
  const { weights } = await loadModel(path);
  const hash = createHash('sha256');
  for (const [name, { data }] of weights) hash.update(name).update(data);
  return hash.digest('hex');
}

/** What a run found out; times and speeds differ from run to run. */
async function findings(out: string) {
  const { seconds, trainTokensPerSecond, generateTokensPerSecond, ...summary } = await readJson(
    out,
    'summary.json',
  );
  expect(Math.min(seconds, generateTokensPerSecond)).toBeGreaterThan(0);
  expect(trainTokensPerSecond).toBeGreaterThanOrEqual(0);
  const weights = await digest(join(out, 'checkpoint'));
  const afterSft = await digest(join(out, 'sft'));
  const metrics = metricRowsFromJsonl(await readFile(join(out, 'metrics.jsonl'), 'utf8')).map((row) => ({
    step: row.step,
    metrics: Object.entries(row.metrics).filter(([name]) => !name.startsWith('time/')),
  }));
  return { summary, weights, afterSft, metrics };
}

async function partialFiles(out: string): Promise<string[]> {
  const names = await readdir(out, { recursive: true });
  return names.filter((name) => /\.(partial|tmp|replaced)/.test(name));
}

describe('the quickstart', () => {
  it('keeps its contract; interrupted twice and resumed, it gives the same model', async () => {
    const whole = join(directory, 'whole');
    const { ended: summary } = await runHere([...short, '--out', whole]);
    expect(summary).toMatchObject({ seed: '0', heldOutProblems: 10, sftSteps: 12, rlSteps: 2 });
    expect(await readJson(whole, 'summary.json')).toEqual(summary);
    expect(Object.keys(summary as object).sort()).toEqual(
      [
        'heldOutAccuracyAfterRl',
        'heldOutAccuracyAfterSft',
        'heldOutAccuracyBefore',
        'heldOutProblems',
        'parameters',
        'rlSteps',
        'seconds',
        'seed',
        'sftSteps',
        'trainTokensPerSecond',
        'generateTokensPerSecond',
      ].sort(),
    );
    expect(await readFile(join(whole, 'report.html'), 'utf8')).toMatch(/^<!doctype html>[\s\S]*<svg/i);
    const { weights, afterSft } = await findings(whole);
    expect(weights).not.toBe(afterSft);

    const out = join(directory, 'interrupted');
    const flags = [...short, '--out', out];
    const duringSft = await runInShell(flags, { at: /SFT +\d+\/12/, times: 2, signal: 'SIGHUP' });
    expect(duringSft).toMatchObject({ code: 130, errors: '' });
    expect(duringSft.output).toContain(
      `Continue with: npx -y pnpm@10 quickstart ${flags.join(' ')} --resume`,
    );
    console.log(`The end of the terminal stopped it after ${Math.round(duringSft.stoppedAfter)} ms`);
    expect(duringSft.stoppedAfter).toBeLessThan(5000);
    expect(await partialFiles(out)).toEqual([]);
    const duringRl = await runHere([...flags, '--resume'], /GRPO 1\/2/);
    expect(duringRl.ended).toEqual(new Error('interrupted'));
    expect(duringRl.output).not.toMatch(/SFT +1\/12/);
    expect(await partialFiles(out)).toEqual([]);
    const resumed = await runHere([...flags, '--resume']);
    expect(resumed.output).not.toMatch(/GRPO 1\/2/);
    expect(await findings(out)).toEqual(await findings(whole));
  }, 180_000);

  it('ends at once at the second Ctrl-C', async () => {
    const out = join(directory, 'twice');
    const ended = await runInShell(['--out', out], {
      at: /million random weights/,
      times: 2,
      signal: 'SIGINT',
    });
    expect(ended.code).toBe(130);
    expect(ended.stoppedAfter).toBeLessThan(5000);
    expect(await partialFiles(out)).toEqual([]);
  }, 60_000);

  it('reports in one line what is wrong with a directory', async () => {
    const file = join(directory, 'file');
    await writeFile(file, 'mine');
    const { ended, output } = await runHere(['--out', join(file, 'run')]);
    expect(explained(ended)).toMatch(/^quickstart: ENOTDIR: .*$/);
    expect(output).toBe('');
  });
});

describe('its options', () => {
  it.each([
    [['--bogus'], /^quickstart: Unknown option '--bogus'; --help lists the flags$/],
    [['somewhere'], /^quickstart: Unexpected argument 'somewhere'; --help/],
    [['--out'], /^quickstart: Option '--out <value>' argument missing; --help/],
    [
      ['--sft-updates', 'many', '--carelessness', '2'],
      /sft-updates: expected a number\n.*carelessness: expected a number of at most/,
    ],
    [['--resume', '--new'], /--resume continues a run and --new deletes it; choose one/],
    [['--rl-iterations', '1.5', '--seed', ''], /seed: [\s\S]*rl-iterations: expected a whole number/],
  ])('%j is refused', (args, message) => {
    expect(() => quickstartOptions(args)).toThrow(message);
  });
});

describe('workedSolution', () => {
  it.each([
    [[47, 85], 'carries', '<reasoning>7+5=12,4+8+1=13</reasoning><answer>132</answer>'],
    [[47, 85], 'forgets the carry', '<reasoning>7+5=12,4+8=12</reasoning><answer>122</answer>'],
    [[61, 71], 'carries', '<reasoning>1+1=2,6+7=13</reasoning><answer>132</answer>'],
    [[61, 71], 'forgets the carry', '<reasoning>1+1=2,6+7=13</reasoning><answer>132</answer>'],
  ] as const)('of %j by a teacher who %s', (addends, carrying, solution) => {
    expect(workedSolution(addends, carrying)).toBe(solution);
  });
});

describe('additionTasks', () => {
  const tasks = additionTasks('0');

  it('shows, practises and judges different problems', () => {
    const all = [tasks.heldOut, tasks.demonstrated, tasks.practised].flat().map(({ prompt }) => prompt);
    expect(new Set(all).size).toBe(all.length);
    expect(tasks.heldOut).toHaveLength(400);
    expect(tasks.practised.length).toBeGreaterThan(1000);
  });

  it('is demonstrated with as many mistakes as the teacher is careless', () => {
    const right = (carelessness: number) =>
      demonstrations(tasks.demonstrated, { seed: '0', carelessness }).filter((demonstration, index) => {
        const { answer } = tasks.demonstrated[index]!.metadata;
        return 'completion' in demonstration && demonstration.completion.endsWith(`>${answer}</answer>`);
      }).length / tasks.demonstrated.length;
    expect(right(0)).toBe(1);
    // Sums that carry into the hundreds only come out right even without care.
    expect(right(1)).toBeLessThan(0.5);
    expect(right(0.5)).toBeCloseTo((1 + right(1)) / 2, 1);
  });
});
