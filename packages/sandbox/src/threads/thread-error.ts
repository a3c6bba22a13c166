import { RlpError } from '@rlp/core';

/** Why a thread gave no answer: it threw, took too long and was killed, or ended by itself. */
export type ThreadFailureCause = 'threw' | 'timed-out' | 'crashed';

/** A thread did not answer a request. */
export class ThreadError extends RlpError {
  override readonly name = 'ThreadError';

  readonly failure: ThreadFailureCause;

  constructor(failure: ThreadFailureCause, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}
