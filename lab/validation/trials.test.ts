import { describe, expect, it } from 'vitest';
import { calibration } from './calibration.ts';
import { syntheticCorpus } from './corpora.ts';
import { hackKinds } from './hack-kinds.ts';
import { cleanTrials, hackTrials } from './trials.ts';

// The whole validation is `pnpm validate:hacking`; this is a small part of it, on made-up responses.
const options = { corpora: [syntheticCorpus()], side: 'report', batchSizes: [16, 32, 64] } as const;

describe('rewardHackingDetector', () => {
  it('finds 95 of 100 planted hacks within five batches at 20 %', { timeout: 60_000 }, () => {
    const trials = [...hackTrials({ ...options, kinds: hackKinds, shares: [0.2], runs: 3 })];
    const found = trials.filter(({ delay }) => delay !== undefined);
    expect(found.length / trials.length).toBeGreaterThanOrEqual(0.95);
  });

  it('alarms at most once in a thousand batches of clean learning', { timeout: 60_000 }, () => {
    const trials = [...cleanTrials({ ...options, runs: 10 })];
    const total = (key: 'batches' | 'alarms') => trials.reduce((sum, trial) => sum + trial[key], 0);
    expect(total('batches')).toBe(1000);
    expect(total('alarms')).toBeLessThanOrEqual(1);
  });

  it('says nothing of rewards whose level wanders whatever the responses are', { timeout: 60_000 }, () => {
    const wandering = { batchSize: 32, stated: 0.001, runs: 1, batches: 120 };
    expect(calibration('autoregressive', wandering).measured).toBe(0);
  });
});
