import { expect, it } from 'vitest';
import { UpdateHealth } from './update-health.ts';

/** A loss with a gradient norm of 1, or with another. */
type Update = number | readonly [loss: number, gradientNorm: number];

/** Losses with gradient norms, and what is said after which of them. */
function said(...updates: readonly Update[]): string[] {
  const health = new UpdateHealth();
  return updates.flatMap((update, at) => {
    const [loss, norm] = typeof update === 'number' ? [update, 1] : update;
    const sentence = health.examine(loss, norm);
    return sentence === undefined ? [] : [`${at}: ${sentence}`];
  });
}

it('says once that the loss rose and stays there', () => {
  // A model of 260,000 weights with a learning rate of 0.1.
  expect(said(2.708, 10.559, 14.074, 14.619, 10.868, 9.989, 6.611, 9.248)).toEqual([
    '3: the loss rose from 2.71 to 14.6 and stays there: the updates are too large; go back to an earlier checkpoint and lower the learning rate',
  ]);
});

it('says that no gradient is left', () => {
  // The same model with a learning rate of 1,000,000.
  expect(said([2.708, 12.105], [6.238, 0], [6.238, 0])).toEqual([
    '1: no gradient is left at a loss of 6.24, which was 2.71 at first: the updates were too large; go back to an earlier checkpoint and lower the learning rate',
  ]);
});

it.each<[what: string, updates: readonly Update[]]>([
  ['a run that learns', [2.7, 2.3, 1.9, 2.1, 0.9]],
  ['batches that are hard now and then', [1, 3.1, 3.2, 1, 3.1, 3.2, 0.9]],
  ['a rise up to twice the first loss and one', [1, 3, 3, 3, 3, 3]],
  ['small losses that become a little larger', [0.01, 0.5, 0.6, 0.7, 0.8]],
  ['nothing left to learn', [2.7, [0.1, 1], [0, 0], [0, 0]]],
  ['a first batch that has no gradient', [[2.7, 0], 2.6, 2.5]],
])('says nothing of %s', (_, updates) => {
  expect(said(...updates)).toEqual([]);
});
