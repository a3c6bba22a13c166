import type { Trajectory } from '@rlp/core';
import { expect, it } from 'vitest';
import { resolveRlOptions } from './options.ts';
import type { ScoredGroup } from './protocol.ts';
import { stalenessMetrics } from './staleness.ts';

const stalenessOf = (policyVersions: readonly number[], lookAhead: number) => {
  const trajectories = policyVersions.map((policyVersion) => ({
    policyVersion,
    steps: [] as Trajectory['steps'],
  }));
  const groups = [{ group: { trajectories }, scored: [] }] as unknown as readonly ScoredGroup[];
  return stalenessMetrics(groups, { version: 5, options: resolveRlOptions({ lookAhead }) });
};

it('weights that are newer than the run knows have the age 0', () => {
  expect(stalenessOf([7, 6], 1)).toEqual({
    'staleness/max': 0,
    'staleness/mean': 0,
    'staleness/mixed': 0,
  });
  expect(stalenessOf([7, 3, 4], 1)).toMatchObject({ 'staleness/max': 2, 'staleness/mean': 1 });
});

it('without trajectories there is no age', () => {
  expect(stalenessOf([], 1)).toEqual({});
});
