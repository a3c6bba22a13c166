import { expect, it } from 'vitest';
import { LossScale } from './loss-scale.ts';

it('halves at an overflow, not below 1, and doubles after 2,000 finite gradients in a row', () => {
  const scale = new LossScale();
  expect(scale.factor).toBe(2 ** 16);
  for (let i = 0; i < 1999; i++) scale.adapt('finite');
  expect(scale.factor).toBe(2 ** 16);
  scale.adapt('overflow');
  expect(scale.state).toEqual({ factor: 2 ** 15, finite: 0 });
  for (let i = 0; i < 2000; i++) scale.adapt('finite');
  expect(scale.state).toEqual({ factor: 2 ** 16, finite: 0 });
  for (let i = 0; i < 20; i++) scale.adapt('overflow');
  expect(scale.factor).toBe(1);
});

it('goes on from a saved state, or from the beginning', () => {
  const scale = new LossScale();
  scale.restore({ factor: 8, finite: 1999 });
  scale.adapt('finite');
  expect(scale.factor).toBe(16);
  scale.restore();
  expect(scale.factor).toBe(2 ** 16);
});
