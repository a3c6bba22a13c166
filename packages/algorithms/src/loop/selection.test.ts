import { expect, it } from 'vitest';
import { resolveRlOptions } from './options.ts';
import { selectedTokens } from './selection.ts';

const tokens = 32;
const row = (valueAt: (t: number) => number) => Array.from({ length: tokens }, (_, t) => valueAt(t));

/** Tokens that Clip-Cov drops: a random half of the eligible ones. */
function dropped(at: { readonly iteration: number; readonly update: number }, seed = 'selection') {
  const logprobs = row((t) => -t / tokens);
  const inputs = {
    scores: [{ logprobs: Float32Array.from(logprobs), entropies: new Float32Array(tokens) }],
    proximalLogprobs: [logprobs.map(Math.fround)],
    advantages: [row((t) => -t)],
    masks: [row(() => 1)],
  };
  const tokenSelection = { method: 'clip-covariance', share: 0.25, low: 0, high: 100 } as const;
  const { name, rows } = selectedTokens(inputs, resolveRlOptions({ tokenSelection, seed }), at)!;
  expect(name).toBe('keep');
  const kept = Array.from(rows[0]!);
  expect(kept.filter((keep) => keep === 0)).toHaveLength(8);
  return kept.join('');
}

it('the tokens that clip-covariance drops follow from seed, iteration and update', () => {
  const draws = [
    dropped({ iteration: 0, update: 0 }),
    dropped({ iteration: 1, update: 0 }),
    dropped({ iteration: 0, update: 1 }),
    dropped({ iteration: 0, update: 0 }, 'another'),
  ];
  expect(new Set(draws).size).toBe(4);
  expect(dropped({ iteration: 0, update: 1 })).toBe(draws[2]);
});
