import { messageOf, SamplerError, TimeoutError, withPlace } from '@rlp/core';
import { apiErrorOf, isHidden } from '../api-error.ts';

/** Why a request got an error. */
export interface Refusal {
  readonly message: string;
  readonly error: unknown;
}

/** What became of the requests of an episode. */
export class EpisodeRequests {
  #begun = 0;
  #refused = 0;
  #answered = 0;
  /** Errors that were counted: one request tells of its error at several places. */
  readonly #counted = new Set<unknown>();
  #samplerError: SamplerError | undefined;
  #refusal: Refusal | undefined;
  #fault: Refusal | undefined;

  /** Requests of the agent, refused ones included. */
  get all(): number {
    return this.#begun + this.#refused;
  }

  /** Requests that got no answer: those refused, those that failed, and those still under way. */
  get unanswered(): number {
    return this.all - this.#answered;
  }

  /** Failure of the sampler, if it failed after the last answer. */
  get samplerError(): SamplerError | undefined {
    return this.#samplerError;
  }

  /** Why the last request that got an error got it. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** What broke after the last answer, and agents are not told of. */
  get fault(): Refusal | undefined {
    return this.#fault;
  }

  /** A request is on its way to the sampler. @returns how many were. */
  begin(): number {
    this.#begun += 1;
    return this.#begun;
  }

  answered(): void {
    this.#answered += 1;
    this.#samplerError = undefined;
    this.#fault = undefined;
  }

  /** A request on its way to the sampler failed. @param isOfSampler - Whether the policy threw the error. */
  failed(error: unknown, isOfSampler: boolean): void {
    this.#counted.add(error);
    if (error instanceof SamplerError) this.#samplerError = error;
    else if (isOfSampler || error instanceof TimeoutError) {
      const late = error instanceof TimeoutError ? 'sampler.sample: ' : '';
      const message = withPlace(late + messageOf(error), error);
      this.#samplerError = new SamplerError(message, { cause: error });
    }
  }

  /** A request got an error. */
  refused(error: unknown): void {
    const isFault = isHidden(error);
    const message = isFault ? withPlace(messageOf(error), error) : apiErrorOf(error).message;
    this.#refusal = { message, error };
    if (isFault) this.#fault = this.#refusal;
    if (this.#counted.has(error)) return;
    this.#counted.add(error);
    this.#refused += 1;
  }
}
