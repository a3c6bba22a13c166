import { expect, it } from 'vitest';
import { gae } from '../advantage/gae.ts';
import { explainedVariance } from './diagnostics.ts';

const rows = { rewards: [[1]], values: [[0]] };

it.each<[unknown, string]>([
  [undefined, 'gae: expected { rewards, values }, got undefined'],
  [[[1]], 'gae: expected { rewards, values }, got a list'],
  [{ rewards: [[1]] }, 'gae: values is missing; expected { rewards, values }'],
  [{ ...rows, final_values: [2] }, 'gae: there is no input "final_values"; did you mean finalValues?'],
  [{ ...rows, discount: 0.9 }, 'gae: there is no input "discount"; expected rewards, values, masks,'],
  [{ ...rows, values: 7 }, 'gae: values must be a list of numbers, got 7'],
])('refuses %j, which would be computed without what was meant', (inputs, message) => {
  expect(() => gae(inputs as never)).toThrow(message);
});

it('takes what is known', () => {
  expect(gae({ ...rows, finalValues: [2], masks: undefined }).advantages).toEqual([Float64Array.of(3)]);
  expect(explainedVariance({ values: [[0, 1]], returns: [[0, 1]] })).toBe(1);
});
