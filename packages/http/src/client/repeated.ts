import { pause, type RandomStream } from '@rlp/core';
import { RequestError } from './request-error.ts';

/** How often and how soon a request is sent again. */
export interface Repetition {
  readonly attempts: number;
  readonly backoff: { readonly firstMs: number; readonly longestMs: number };
  /** Draws the waits; made where there are any. */
  readonly random: () => RandomStream;
  readonly signal: AbortSignal;
}

/**
 * Sends a request until it is answered, as long as asking again may help.
 *
 * The wait is uniform between `firstMs` and three times the last one, and at least what the server asks for, within `longestMs`.
 */
export async function repeated<Answer>(
  send: (attempt: number) => Promise<Answer>,
  { attempts, backoff: { firstMs, longestMs }, random, signal }: Repetition,
): Promise<Answer> {
  let wait = firstMs;
  let stream: RandomStream | undefined;
  let unanswered: RequestError | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(attempt);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // A request that was sent failed by itself, even if the circuit opened before it could be sent again.
      if (error.failure === 'circuit-open') throw unanswered ?? error;
      if (!error.isPassing || attempt >= attempts) throw error;
      unanswered = error;
      stream ??= random();
      wait = Math.min(longestMs, firstMs + stream.uniform() * (3 * wait - firstMs));
      await pause(Math.max(wait, Math.min(error.retryAfterMs ?? 0, longestMs)), signal);
    }
  }
}
