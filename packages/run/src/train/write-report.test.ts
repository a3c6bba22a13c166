import type { Evaluation } from '@rlp/core';
import { expect, it } from 'vitest';
import { accuracyText } from './write-report.ts';

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
])('says what was measured: %j', (measured, said) => {
  expect(accuracyText({ ...nothing, ...measured })).toBe(said);
});
