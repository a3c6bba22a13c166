import { ArgumentError, type HostTensor, type Loss } from '@rlp/core';

/** Whether a backend's model has a value head. */
export type ValueHead = 'none' | 'linear';

/** A value head's initial row. `'linear'` means zeros. */
export type ValueHeadStart = ValueHead | HostTensor;

/** Whether a loss reads a critic's values. */
export function readsValues({ values = 'none' }: Loss): boolean {
  return values !== 'none';
}

/**
 * Checks that the backend has the values that a loss reads.
 *
 * @throws ArgumentError if the backend has no value head, or if the loss has `values: 'only'` and reads
 * entropies.
 */
export function checkLossValues(loss: Loss, valueHead: ValueHead): void {
  if (loss.values === 'only' && loss.entropies === 'needed') {
    throw new ArgumentError(
      `forwardBackward: the loss "${loss.key}" has values: 'only' and reads entropies, which are the policy's; ` +
        `give it values: 'needed'`,
    );
  }
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
