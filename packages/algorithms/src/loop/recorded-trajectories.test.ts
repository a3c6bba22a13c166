import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { parseRecords, type RecordedTrajectory, rolloutEventSchema } from '@rlp/core';
import { taskSource } from '@rlp/env';
import { gameEnvironment, keyAndDoor } from '@rlp/env/stock';
import { characterTokenizer, tokenTexts } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';
import { recordTrajectories } from '@rlp/rollout';
import { expect, it } from 'vitest';
import { GiGPOAlgorithm } from '../algorithm/gigpo.ts';

const tokenizer = characterTokenizer('0123456789kldru', { end: '.' });

it('tells what it learned from: advantages of tokens, and how GiGPO came to them', async () => {
  const lines: string[] = [];
  const events: unknown[] = [];
  const record = recordTrajectories({
    on: 'trajectory-learned',
    tokenTexts: (tokens) => tokenTexts(tokenizer, tokens),
    write: (line) => lines.push(line),
  });
  const backend = new TabularBackend({ vocabularySize: tokenizer.vocabularySize, contextTokens: 1 });
  const gigpo = new GiGPOAlgorithm(
    {
      environment: gameEnvironment(keyAndDoor, { prompt: 'key' }),
      tasks: taskSource(keyAndDoor.tasks({ count: 2, difficulty: 0 })),
      rewards: rewardFunctions({ short: ({ response }) => -response.length }),
      sampler: new TabularSampler({ backend, tokenizer }),
      backend,
      tokenizer,
      onEvent: [record, (event) => event.type === 'trajectory-learned' && events.push(event)],
    },
    {
      tasksPerIteration: 2,
      referenceKl: 'always',
      rollout: { groupSize: 4, maxTurns: 3, sampling: { maxTokens: 2 } },
    },
  );
  const metrics: (number | undefined)[] = [];
  for await (const report of gigpo.run({ iterations: 2 })) metrics.push(report.metrics['anchors/compared']);

  const records = lines.flatMap((line) => parseRecords(JSON.parse(line), 'line') as RecordedTrajectory[]);
  expect(records.map(({ iteration }) => iteration)).toEqual([...Array(8).fill(0), ...Array(8).fill(1)]);
  for (const event of events) expect(rolloutEventSchema.safeParse(event).error).toBeUndefined();
  const traced = records.flatMap(({ trajectory, trace = [] }) =>
    trace.map((step, at) => ({ ...step, ...trajectory.steps[at]! })),
  );
  for (const { tokens, text, ...step } of traced) {
    expect(step.tokenTexts!.join('').replace('.', '')).toBe(text);
    for (const advantage of step.advantages!)
      expect(advantage).toBeCloseTo(step.episodeAdvantage! + step.stepAdvantage!, 12);
    // The sampler is the trainer's own table.
    for (const ratio of step.ratios!) expect(ratio).toBeCloseTo(1, 5);
    expect([step.mask, step.entropies!.length]).toEqual([tokens.map(() => 1), tokens.length]);
    expect(step.anchor!.state).toBe(step.stateKey);
  }
  const second = records.slice(8).flatMap(({ trace = [] }) => trace);
  const compared = second.filter(({ anchor }) => anchor!.steps > 1).length / second.length;
  expect(metrics[1]).toBeCloseTo(compared, 12);
  expect(compared).toBeGreaterThan(0);
});
