import type { Loss } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { nativeLossOf, unbounded } from './native-loss.ts';

const anchor = 'behaviorLogprobs';
const lossOf = (compute: Loss['compute'], columns = ['advantages', anchor]): Loss => ({
  ...{ key: 'loss', columns, compute },
});
const ppo = (low: number, high: number) =>
  lossOf((ops, { logprobs, columns }) => {
    const ratio = ops.exp(ops.sub(logprobs, columns[anchor]!));
    const surrogate = (one: typeof ratio) => ops.mul(one, columns.advantages!);
    return { tokenLosses: ops.neg(ops.minimum(surrogate(ratio), surrogate(ops.clip(ratio, low, high)))) };
  });
const cispo = (low: number, high: number) =>
  lossOf((ops, { logprobs, columns }) => {
    const ratio = ops.clip(ops.exp(ops.sub(logprobs, columns[anchor]!)), low, high);
    return { tokenLosses: ops.neg(ops.mul(ops.stopGradient(ops.mul(ratio, columns.advantages!)), logprobs)) };
  });

describe('nativeLossOf reads the loss off its derivatives', () => {
  it.each<[string, Loss, object]>([
    [
      'a cross-entropy',
      lossOf((ops, { logprobs, columns }) => ({
        tokenLosses: ops.neg(ops.mul(logprobs, columns.advantages!)),
      })),
      { name: 'cross_entropy', anchor: undefined },
    ],
    [
      'importance sampling',
      lossOf((ops, { logprobs, columns }) => ({
        tokenLosses: ops.neg(ops.mul(ops.exp(ops.sub(logprobs, columns[anchor]!)), columns.advantages!)),
      })),
      { name: 'importance_sampling', anchor, low: 0, high: unbounded },
    ],
    ['PPO', ppo(0.8, 1.28), { name: 'ppo', anchor, low: 0.8, high: 1.28 }],
    ['PPO without an upper bound', ppo(0.7, 1e12), { name: 'ppo', anchor, low: 0.7, high: unbounded }],
    ['CISPO', cispo(0.5, 3), { name: 'cispo', anchor, low: 0.5, high: 3 }],
    ['CISPO without a lower bound', cispo(0, 4), { name: 'cispo', anchor, low: 0, high: 4 }],
  ])('%s', (_, loss, native) => {
    expect(nativeLossOf(loss)).toMatchObject(native);
  });

  it.each<[string, Loss]>([
    [
      'mixes tokens',
      lossOf((ops, { logprobs }) => ({ tokenLosses: ops.neg(ops.mul(logprobs, ops.rowSum(logprobs))) })),
    ],
    ['is a square', lossOf((ops, { logprobs }) => ({ tokenLosses: ops.square(logprobs) }))],
    ['needs entropies', { ...ppo(0.8, 1.2), entropies: 'needed' }],
    ['needs values', { ...ppo(0.8, 1.2), values: 'only' }],
    [
      'throws',
      lossOf(() => {
        throw new Error('no');
      }),
    ],
  ])('is none for a loss that %s', (_, loss) => {
    expect(nativeLossOf(loss)).toBeUndefined();
  });
});
