import { NetworkError } from '@rlp/core';

/** All causes there are. */
export const requestFailureCauses = [
  'unreachable',
  'untrusted',
  'timed-out',
  'status',
  'redirected',
  'too-long',
  'malformed',
  'not-finite',
  'unsendable',
  'circuit-open',
] as const;

/**
 * Why a request has no usable answer.
 *
 * - `unreachable`: no answer.
 * - `untrusted`: a certificate that is not trusted, or no TLS at all.
 * - `timed-out`: no complete answer in time.
 * - `status`: a status that reports a failure.
 * - `redirected`: the server is elsewhere.
 * - `too-long`: an answer above the limit.
 * - `malformed`: not the JSON that was expected.
 * - `not-finite`: a number that is not finite.
 * - `unsendable`: a question that is not JSON data.
 * - `circuit-open`: not asked after too many failures.
 */
export type RequestFailureCause = (typeof requestFailureCauses)[number];

/** A server gave no usable answer. Messages never hold tokens or headers. */
export class RequestError extends NetworkError {
  /** Why. */
  readonly failure: RequestFailureCause;
  /** Status of the answer, if there was one. */
  readonly status: number | undefined;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** Reason that the server gave, at most 300 characters, without tokens and headers. It may quote what was sent. */
  readonly detail: string | undefined;
  /** What to do, if the failure shows it. */
  readonly remedy: string | undefined;

  constructor(
    failure: RequestFailureCause,
    message: string,
    details: {
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly detail?: string | undefined;
      readonly remedy?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.failure = failure;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.detail = details.detail;
    this.remedy = details.remedy;
  }

  /** Whether asking again may help: the server was away, slow, busy or broken. */
  get isPassing(): boolean {
    if (this.failure === 'status') return this.status === 408 || this.status === 429 || this.status! >= 500;
    return this.failure === 'unreachable' || this.failure === 'timed-out';
  }

  /** Whether one question of several in the request may be the cause. */
  get isAboutContent(): boolean {
    if (this.failure === 'status') return [400, 413, 422].includes(this.status!);
    return ['too-long', 'malformed', 'unsendable'].includes(this.failure);
  }
}
