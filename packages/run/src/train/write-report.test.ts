import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluation } from '@rlp/core';
import { expect, it } from 'vitest';
import type { RunFiles } from '../folder/run-files.ts';
import type { Measured } from './measure.ts';
import { accuracyText, writeReport } from './write-report.ts';

const nothing = { unscored: { count: 0, causes: {} } } as Evaluation;
const reward = { value: 0.71, low: 0.265, high: 1.155 } as NonNullable<Evaluation['reward']>;

it.each([
  [{ accuracy: 0.92, low: 0.812, high: 0.968 }, '92.0 % (81.2–96.8 %)'],
  [{ reward }, 'none, because rewards are graded; mean reward 0.710 (0.265 to 1.155)'],
  [
    { unscored: { count: 30, causes: { 'no reference': 30 } } },
    'not measured, because 30 responses got no score: no reference',
  ],
  [{}, 'not measured'],
  [
    { accuracy: 0.5, unscored: { count: 2, causes: { 'sampler failed': 2 } } },
    '50.0 %; 2 responses got no score: sampler failed',
  ],
])('says what was measured: %j', (measured, said) => {
  expect(accuracyText({ ...nothing, ...measured })).toBe(said);
});

it('says what accuracy is of runs that compare pairs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'report-'));
  const notes = ['accuracy is the share of pairs whose preferred answer gets the higher reward'];
  const record = { ...nothing, accuracy: 1, tasks: [] as Evaluation['tasks'], notes } as Evaluation;
  const measured = new Map<string, Measured>([['final', { record, answers: [] }]]);
  const files = { report: join(directory, 'report.html') } as RunFiles;
  await writeReport(files, { title: 'Run', mode: 'reward-model', seconds: 1, measured, rows: [] });
  expect(readFileSync(files.report, 'utf8')).toContain(
    'Mode reward-model. Accuracy is the share of pairs whose preferred answer gets the higher reward, with its 95 % interval.',
  );
  rmSync(directory, { recursive: true });
});

it('shows answers before the first stage and after the last', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'report-'));
  const measured = new Map(
    ['before', 'sft', 'rl'].map((name): [string, Measured] => {
      const answer = { task: '1', prompt: '1+1=', response: `said ${name}`, reward: 1, components: {} };
      return [
        name,
        {
          record: { ...nothing, accuracy: 1, tasks: [], notes: [] as string[] } as Evaluation,
          answers: [answer],
        },
      ];
    }),
  );
  const files = { report: join(directory, 'report.html') } as RunFiles;
  await writeReport(files, { title: 'Run', mode: 'sft+rl', seconds: 1, measured, rows: [] });
  const page = readFileSync(files.report, 'utf8');
  expect(page).toMatch(/data-label="Before"><pre>said before<.*data-label="After"><pre>said rl</s);
  rmSync(directory, { recursive: true });
});
