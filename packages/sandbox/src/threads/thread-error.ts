import { RlpError } from '@rlp/core';

/** Reason that a thread gave no answer: it threw, took too long and was killed, or ended by itself. */
export type ThreadFailureCause = 'threw' | 'timed-out' | 'crashed';

/** Error for a request that a thread did not answer. */
export class ThreadError extends RlpError {
  override readonly name = 'ThreadError';

  readonly failure: ThreadFailureCause;

  constructor(failure: ThreadFailureCause, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}
