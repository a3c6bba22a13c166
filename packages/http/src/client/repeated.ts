import { type Retries, retried } from '@rlp/core';
import { RequestError } from './request-error.ts';

/** How often and how soon a request is sent again. */
export interface Repetition extends Pick<Retries, 'attempts' | 'backoff' | 'random'> {
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request until it is answered, as long as asking again may help. Waits as {@link retried} does, or as long as the server asks for. */
export async function repeated<Answer>(
  send: (attempt: number) => Promise<Answer>,
  repetition: Repetition,
): Promise<Answer> {
  let unanswered: RequestError | undefined;
  const waitAfter = (error: unknown) => {
    if (!(error instanceof RequestError) || !error.isPassing) return undefined;
    unanswered = error;
    return error.retryAfterMs ?? 0;
  };
  try {
    return await retried(send, { ...repetition, waitAfter });
  } catch (error) {
    // A request that was sent failed by itself, even if the circuit opened before it could be sent again.
    const isUnsent = error instanceof RequestError && error.failure === 'circuit-open';
    throw isUnsent ? (unanswered ?? error) : error;
  }
}
