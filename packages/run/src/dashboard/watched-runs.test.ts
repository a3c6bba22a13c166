import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonlLogger } from '@rlp/tracking';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WatchedRuns } from './watched-runs.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'watched-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const row = (step: number, value: number) =>
  `${JSON.stringify({ step, metrics: { 'reward/mean': value, 'tokens/trained': 10, 'time/learn': 500 } })}\n`;

function fileOf(run: string, name = 'metrics.jsonl'): string {
  mkdirSync(join(root, run), { recursive: true });
  return join(root, run, name);
}

it('reads what was added, and a line once it has its end', async () => {
  const file = fileOf('a');
  writeFileSync(file, ` ${row(0, 1)}${row(1, 2).slice(0, 9)}`);
  const runs = new WatchedRuns(root);
  expect(await runs.read()).toBe(true);
  expect(await runs.read()).toBe(false);
  appendFileSync(file, row(1, 2).slice(9) + row(2, 3));
  expect(await runs.read()).toBe(true);
  expect(runs.curvesOf('reward/mean')).toEqual({ a: { steps: [0, 1, 2], values: [1, 2, 3] } });
  expect(runs.view.runs[0]!.spent).toEqual({
    tokens: { steps: [0, 1, 2], values: [10, 20, 30] },
    seconds: { steps: [0, 1, 2], values: [0.5, 1, 1.5] },
  });
  expect(runs.view.problems).toEqual([]);
});

it('takes iterations that a resumed run made again from the later rows', async () => {
  writeFileSync(fileOf('a'), row(0, 1) + row(1, 2) + row(2, 3) + row(1, 20));
  const runs = new WatchedRuns(root);
  await runs.read();
  expect(runs.curvesOf('reward/mean').a).toEqual({ steps: [0, 1], values: [1, 20] });
  expect(runs.view.runs[0]).toMatchObject({ iterations: 2 });
});

it('keeps metrics apart that only some rows have, in any order', async () => {
  const rows = [{ a: 1, b: 2 }, { evaluation: 9, a: 3, b: 4 }, { b: 6, a: 5 }, { b: 'NaN', a: 7 }, { c: 8 }];
  const lines = rows.map((metrics, step) => `${JSON.stringify({ step, metrics })}\n`);
  writeFileSync(fileOf('r'), lines.join(''));
  const runs = new WatchedRuns(root);
  await runs.read();
  const valuesOf = (metric: string) => runs.curvesOf(metric).r;
  expect(valuesOf('a')).toEqual({ steps: [0, 1, 2, 3], values: [1, 3, 5, 7] });
  expect(valuesOf('b')).toEqual({ steps: [0, 1, 2], values: [2, 4, 6] });
  expect(valuesOf('c')).toEqual({ steps: [4], values: [8] });
  expect(valuesOf('evaluation')).toEqual({ steps: [1], values: [9] });
});

it('says where a metric was not finite first, until the step is made again', async () => {
  const line = (step: number, loss: number | string) => `${JSON.stringify({ step, metrics: { loss } })}\n`;
  writeFileSync(fileOf('r'), line(0, 1) + line(1, 'NaN') + line(2, 'Infinity'));
  const runs = new WatchedRuns(root);
  await runs.read();
  expect(runs.view.problems).toEqual([expect.stringContaining('loss is NaN or infinite at step 1,')]);
  appendFileSync(fileOf('r'), line(1, 2));
  await runs.read();
  expect(runs.view.problems).toEqual([]);
  expect(runs.curvesOf('loss').r).toEqual({ steps: [0, 1], values: [1, 2] });
});

it('has nothing left of a file that was written anew', async () => {
  writeFileSync(fileOf('a'), row(0, 1) + row(1, 2));
  const runs = new WatchedRuns(root);
  await runs.read();
  writeFileSync(fileOf('a'), '{"step":0,"metrics":{"other":1}}\n');
  await runs.read();
  expect(runs.view.metrics).toEqual(['other']);
  expect(runs.view.runs[0]).toMatchObject({ iterations: 1 });
});

it('has nothing left of a file that was written anew and is longer', async () => {
  writeFileSync(fileOf('a'), row(0, 1) + row(1, 2));
  const runs = new WatchedRuns(root);
  await runs.read();
  writeFileSync(fileOf('a'), row(0, 3) + row(1, 4) + row(2, 5));
  await runs.read();
  expect(runs.curvesOf('reward/mean').a).toEqual({ steps: [0, 1, 2], values: [3, 4, 5] });
});

it('counts the notes and broken lines of a file that was written anew once, and keeps those of the other', async () => {
  const note = (text: string) => `${JSON.stringify({ step: 0, note: text })}\n`;
  writeFileSync(fileOf('a'), `${note('of metrics')}{"step": 1}\n${row(1, 1)}`);
  writeFileSync(fileOf('a', 'notes.jsonl'), `${note('of notes')}${note('of notes')}!\n`);
  const runs = new WatchedRuns(root);
  await runs.read();
  writeFileSync(fileOf('a'), note('of metrics'));
  await runs.read();
  const countsOf = () => runs.view.runs[0]!.notes.map(({ text, count }) => [text, count]);
  expect(countsOf()).toEqual([
    ['of metrics', 1],
    ['of notes', 2],
  ]);
  expect(runs.view.problems).toEqual([expect.stringContaining('notes.jsonl, line 3')]);
  writeFileSync(fileOf('a', 'notes.jsonl'), note('of notes'));
  await runs.read();
  expect(countsOf()).toEqual([
    ['of metrics', 1],
    ['of notes', 1],
  ]);
  expect(runs.view.problems).toEqual([]);
});

it('begins again with a file that was written anew, and forgets a run that was deleted', async () => {
  writeFileSync(fileOf('a'), row(0, 1) + row(1, 2));
  writeFileSync(fileOf('b'), row(0, 5));
  const runs = new WatchedRuns(root);
  await runs.read();
  writeFileSync(fileOf('a'), row(0, 9));
  rmSync(join(root, 'b'), { recursive: true });
  expect(await runs.read()).toBe(true);
  expect(runs.curvesOf('reward/mean')).toEqual({ a: { steps: [0], values: [9] } });
  rmSync(root, { recursive: true });
  expect(await runs.read()).toBe(true);
  expect(runs.view.problems).toEqual([expect.stringContaining(`${root} cannot be read`)]);
});

it('leaves out broken lines and says which', async () => {
  writeFileSync(fileOf('a'), `${row(0, 1)}{"step": 1}\n\n\0\0\n${row(2, 3)}`);
  writeFileSync(
    fileOf('a', 'notes.jsonl'),
    '{"step":0,"note":"3 of 8 failed"}\n{"step":1,"note":"4 of 8 failed"}\n!\n',
  );
  writeFileSync(fileOf('a', 'run.json'), '{');
  mkdirSync(join(root, 'a', 'evaluations'));
  writeFileSync(join(root, 'a', 'evaluations', 'final.json'), '{}');
  const runs = new WatchedRuns(root);
  await runs.read();
  const { problems, runs: views } = runs.view;
  expect(runs.curvesOf('reward/mean').a!.values).toEqual([1, 3]);
  expect(views[0]!.notes).toEqual([{ text: '4 of 8 failed', first: 0, last: 1, count: 2 }]);
  expect(problems).toHaveLength(5);
  expect(problems.join('\n')).toMatch(
    /run\.json: expected the record of a run.*\n.*final\.json is not an evaluation/,
  );
  expect(problems.join('\n')).toContain(
    'metrics.jsonl, line 2: expected a row of metrics; the line is left out',
  );
});

it('reads the notes and samples that a logger of a program writes between its metrics', async () => {
  const logger = new JsonlLogger({ path: fileOf('a') });
  for (const step of [0, 1]) {
    logger.log(step, { 'reward/mean': step });
    logger.note(step, `${step} of 8 groups had no reward variance`);
    logger.samples(step, [{ task: 't', prompt: 'p', response: 'r', reward: 1, components: {} }]);
  }
  await logger.close();
  const runs = new WatchedRuns(root);
  await runs.read();
  expect(runs.view.problems).toEqual([]);
  expect(runs.curvesOf('reward/mean').a!.values).toEqual([0, 1]);
  expect(runs.view.runs[0]!.notes).toMatchObject([{ first: 0, last: 1, count: 2 }]);
});

it('shows an evaluation whose responses are broken or many', async () => {
  const score = {
    accuracy: 0.5,
    low: 0.3,
    high: 0.7,
    interval: 'wilson',
    components: {},
    notes: [],
    tasks: [],
  };
  const evaluation = {
    ...{ record: 'evaluation', name: 'final', seed: '0', policyVersion: 1, samples: 1, confidence: 0.95 },
    ...{ ...score, unscored: { count: 0, causes: {} } },
  };
  writeFileSync(fileOf('a/evaluations', 'final.json'), JSON.stringify(evaluation));
  writeFileSync(fileOf('a'), row(0, 1));
  const sample = (task: number) => `${JSON.stringify({ task: `${task}`, prompt: 'p', response: 'r' })}\n`;
  const lines = Array.from({ length: 20 }, (_, task) => sample(task)).join('');
  writeFileSync(fileOf('a/evaluations', 'final.jsonl'), `not JSON\n{"task": 1}\n${lines}`);
  const runs = new WatchedRuns(root);
  await runs.read();
  const [run] = runs.view.runs;
  expect(runs.view.problems).toEqual([]);
  expect(run!.scores).toMatchObject([{ name: 'final', accuracy: 0.5 }]);
  expect(run!.samples.map(({ task }) => task)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  expect(run!.samples[0]!.reward).toBeNull();
});

it('finds runs in folders within folders, in the order of their numbers', async () => {
  for (const name of ['seeds/10', 'seeds/9', '.hidden', 'node_modules/x', 'other/files/deep/too-deep'])
    writeFileSync(fileOf(name), row(0, 1));
  const runs = new WatchedRuns(root);
  await runs.read();
  expect(runs.view.runs.map(({ name }) => name)).toEqual(['seeds/9', 'seeds/10']);
  const one = new WatchedRuns(join(root, 'seeds/9'));
  await one.read();
  expect(one.view.runs.map(({ name }) => name)).toEqual(['9']);
});

it('shows rows from all over a large file until it is read, and then the same as without an overview', async () => {
  const value = (step: number) => Math.sin(step);
  const line = (step: number) => {
    const metrics = { 'reward/mean': value(step), 'tokens/trained': 10, ...(step % 3 > 0 && { rare: step }) };
    return `${JSON.stringify({ step, metrics })}\n`;
  };
  const count = 20_000;
  writeFileSync(fileOf('large'), Array.from({ length: count }, (_, step) => line(step)).join(''));
  writeFileSync(fileOf('small'), row(0, 1));
  const runs = new WatchedRuns(root);
  await runs.overview();
  expect(runs.view.runs).toMatchObject([
    { name: 'large', isReading: true, isOverview: true, spent: {} },
    { name: 'small', isReading: false, isOverview: undefined, iterations: 1 },
  ]);
  const { large, small } = runs.curvesOf('reward/mean');
  expect(small).toEqual({ steps: [0], values: [1] });
  expect(large!.steps.length).toBeGreaterThan(290);
  expect([large!.steps[0], large!.steps.at(-1)]).toEqual([0, count - 1]);
  expect(large!.values).toEqual(large!.steps.map(value));
  expect(runs.curvesOf('rare').large!.steps.every((step) => step % 3 > 0)).toBe(true);
  await runs.read();
  const exact = new WatchedRuns(root);
  await exact.read();
  expect(runs.view).toEqual(exact.view);
  expect(runs.view.runs[0]).toMatchObject({ iterations: count, isReading: false });
  for (const metric of runs.view.metrics) expect(runs.curvesOf(metric)).toEqual(exact.curvesOf(metric));
});

it('drops the overview of a file that was written anew before it was read', async () => {
  writeFileSync(fileOf('a'), Array.from({ length: 15_000 }, (_, step) => row(step, 1)).join(''));
  const runs = new WatchedRuns(root);
  await runs.overview();
  writeFileSync(fileOf('a'), row(0, 2));
  await runs.read();
  expect(runs.curvesOf('reward/mean').a).toEqual({ steps: [0], values: [2] });
});

it('reads lines that are longer than a chunk', async () => {
  const long = JSON.stringify({ step: 0, metrics: { 'reward/mean': 1 }, more: 'é'.repeat(5_000_000) });
  writeFileSync(fileOf('a'), `${long}\n${row(1, 2)}`);
  const runs = new WatchedRuns(root);
  await runs.read();
  expect(runs.curvesOf('reward/mean').a).toEqual({ steps: [0, 1], values: [1, 2] });
});
