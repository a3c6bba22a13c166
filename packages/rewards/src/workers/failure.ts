import { RewardError } from '@rlp/core';

/** Why a thread gave no scores: the module threw, took too long and was ended, or ended the thread itself. */
export type ThreadFailureCause = 'threw' | 'timed-out' | 'crashed';

/** A thread gave no scores for what it was asked. */
export class ThreadError extends RewardError {
  readonly failure: ThreadFailureCause;

  constructor(failure: ThreadFailureCause, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}
