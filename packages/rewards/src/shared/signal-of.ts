import { ArgumentError, described, requireFields } from '@rlp/core';

/** The signal of a call of a reward. @throws ArgumentError for a call without a trajectory, or without a signal. */
export function signalOf(
  owner: string,
  trajectory: unknown,
  context: { readonly signal: AbortSignal } | undefined,
): AbortSignal {
  requireFields(owner, { task: 'object', response: 'text' }, trajectory);
  const signal = context?.signal;
  if (typeof signal?.throwIfAborted === 'function') return signal;
  const call = 'reward(trajectory, { signal: new AbortController().signal })';
  throw new ArgumentError(
    `${owner}: expected a context with an AbortSignal, got ${described(context)}; call ${call}`,
  );
}
