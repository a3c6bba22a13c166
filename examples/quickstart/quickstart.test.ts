import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { closeRun } from '@rlp/algorithms/run';
import { holdDirectory } from '@rlp/data/store';
import { loadModel } from '@rlp/models';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quickstartOptions } from './options.ts';
import { explained, quickstart } from './quickstart.ts';

/** The bundle that `scripts/thread-bundles.ts` made. */
const main = join(process.env.RLP_THREADS ?? '', 'examples/quickstart/main.js');
/** Enough imitation for some answers to be in form, so that practice has something to learn from. Tests run beside others. */
const short = [
  ...['--sft-updates', '8', '--rl-iterations', '2', '--rl-problems', '2'],
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
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
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
    child.on('close', (exit, signal) => {
      // A shell reports a process that a signal ended as 128 and the signal's number.
      const code = signal === null ? exit : 128 + constants.signals[signal];
      resolve({ code, output, errors, stoppedAfter: performance.now() - interruptedAt });
    });
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
  const weights = await digest(join(out, 'checkpoints', 'last'));
  const afterSft = await digest(join(out, 'checkpoints', 'after-sft'));
  const metrics = metricRowsFromJsonl(await readFile(join(out, 'metrics.jsonl'), 'utf8')).map((row) => ({
    step: row.step,
    metrics: Object.entries(row.metrics).filter(([name]) => !/^(time|system)\//.test(name)),
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
    expect(summary).toMatchObject({ seed: '0', heldOutProblems: 10, sftSteps: 8, rlSteps: 2 });
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
    const duringSft = await runInShell(flags, { at: /SFT +\d+\/8/, times: 2, signal: 'SIGHUP' });
    expect(duringSft).toMatchObject({ code: 130, errors: '' });
    expect(duringSft.output).toContain(
      `Continue with: npx -y pnpm@10 quickstart ${flags.join(' ')} --resume`,
    );
    console.log(`The end of the terminal stopped it after ${Math.round(duringSft.stoppedAfter)} ms`);
    expect(duringSft.stoppedAfter).toBeLessThan(5000);
    expect(await partialFiles(out)).toEqual([]);
    const duringRl = await runHere([...flags, '--resume'], /RL 1\/2/);
    expect(duringRl.ended).toEqual(new Error('interrupted'));
    expect(duringRl.output).not.toMatch(/SFT +1\/8/);
    expect(await partialFiles(out)).toEqual([]);
    const resumed = await runHere([...flags, '--resume']);
    expect(resumed.output).not.toMatch(/RL 1\/2/);
    expect(await findings(out)).toEqual(await findings(whole));
  }, 180_000);

  it('ends at once at the second Ctrl-C', async () => {
    const out = join(directory, 'twice');
    const ended = await runInShell(['--out', out], {
      at: /million weights/,
      times: 2,
      signal: 'SIGINT',
    });
    expect(ended.code).toBe(130);
    expect(ended.stoppedAfter).toBeLessThan(5000);
    // A file that was being written stays half written until the next run, like after a kill.
    const next = await runHere([...short, '--out', out, '--new'], /million weights/);
    expect(next.ended).toEqual(new Error('interrupted'));
    expect(await partialFiles(out)).toEqual([]);
  }, 60_000);

  it('reports in one line what is wrong with a directory', async () => {
    const file = join(directory, 'file');
    await writeFile(file, 'mine');
    const { ended, output } = await runHere(['--out', join(file, 'run')]);
    expect(explained(ended)).toMatch(
      /^.*file.run is not a folder; choose another one, with --out or as `output`$/,
    );
    expect(output).toBe('');
  });
});

describe('its directory', () => {
  const record = (seed: string) => ({
    ...{ record: 'run', version: 1, config: { seed }, mode: 'sft+rl', status: 'stopped' },
    ...{ startedAt: '2026-01-01', updatedAt: '2026-01-01', seconds: 3, seeds: { run: seed }, versions: {} },
    stages: { sft: { iterations: 300, isFinished: false } },
    host: { platform: 'linux', arch: 'x64', cpu: 'any', cores: 2, memoryBytes: 1e9 },
  });
  const runIn = async (text: string) => {
    const out = await mkdtemp(join(directory, 'run-'));
    await writeFile(join(out, 'run.json'), text);
    await writeFile(join(out, 'metrics.jsonl'), '{"step":1,"metrics":{"sft/loss":3}}\n');
    return out;
  };
  const messageOf = async (...flags: readonly string[]) => explained((await runHere(flags)).ended);

  it('keeps an earlier run until it is told otherwise, and says how', async () => {
    const out = await runIn(JSON.stringify(record('3')));
    expect(await messageOf('--out', out)).toBe(
      `quickstart: ${out} holds a run with seed 3, stopped during SFT. Continue it with --seed 3 --resume. ` +
        'Keep it and start another with --out DIR. Delete it and start anew with --new',
    );
    expect(await messageOf('--out', out, '--resume')).toMatch(
      /holds a run with seed 3, and this command has seed 0\. Continue that run with --seed 3 --resume/,
    );
    const flags = ['--out', out, '--seed', '3', '--resume', '--held-out', '10'];
    expect(await messageOf(...flags)).toMatch(/another configuration \(.*evaluation\.heldOut: nothing there/);
    await writeFile(join(out, 'summary.json'), '{}');
    const { ended } = await runHere(['--out', out, '--new', '--threads', '1'], /Mode sft/);
    expect(ended).toEqual(new Error('interrupted'));
    expect(await readdir(out)).not.toContain('summary.json');
    expect(await readJson(out, 'run.json')).toMatchObject({ status: 'stopped', seeds: { run: '0' } });
  });

  it('is not touched if it holds other files', async () => {
    const mine = await mkdtemp(join(directory, 'mine-'));
    await writeFile(join(mine, 'thesis.txt'), 'years of work');
    for (const choice of [[], ['--resume'], ['--new']])
      expect(await messageOf('--out', mine, ...choice)).toMatch("holds files that are not an earlier run's");
    expect(await readdir(mine)).toEqual(['thesis.txt']);
  });

  it('is not resumed from a broken file', async () => {
    for (const text of ['{"record":', '{"record":"run"}']) {
      const out = await runIn(text);
      expect(await messageOf('--out', out, '--resume')).toMatch(
        `${join(out, 'run.json')}: expected the record of a run`,
      );
    }
  });

  it('is not touched while another process writes there', async () => {
    const out = await runIn(JSON.stringify(record('0')));
    await holdDirectory(out);
    await closeRun(out);
    const released = join(out, '.lease-00000001', 'released.json');
    const other = { ...JSON.parse(await readFile(released, 'utf8')), pid: process.ppid, started: 0 };
    await writeFile(join(out, '.lease-00000001', 'holder.json'), JSON.stringify(other));
    expect(await messageOf('--out', out, '--new')).toMatch(
      new RegExp(`process ${process.ppid} on .* has been writing here for`),
    );
    expect(await readdir(out)).toContain('run.json');
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
