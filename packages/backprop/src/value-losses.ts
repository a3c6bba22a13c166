import { ArgumentError, type Loss } from '@rlp/core';

/** Whether a backend's model has a value head: none, or one linear row. */
export type ValueHead = 'none' | 'linear';

/** Whether a loss reads a critic's values. */
export function readsValues({ values = 'none' }: Loss): boolean {
  return values !== 'none';
}

/** Throws an ArgumentError if a loss reads values that the backend does not have. */
export function checkLossValues(loss: Loss, valueHead: ValueHead): void {
  if (valueHead !== 'none' || !readsValues(loss)) return;
  throw new ArgumentError(
    `forwardBackward: the loss "${loss.key}" reads the values of a critic, and this backend has none; ` +
      `create it with valueHead: 'linear'`,
  );
}

/** Throws an ArgumentError unless there is a value head. */
export function checkValueHead(valueHead: ValueHead): void {
  if (valueHead !== 'none') return;
  throw new ArgumentError(`values: this backend has no value head; create it with valueHead: 'linear'`);
}
