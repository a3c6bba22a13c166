import { EnvironmentError, onAbort, SamplerError, settleWithin } from '@rlp/core';
import { messageOf } from './guarded.ts';

/**
 * Runs one request to a sampler, with a signal of its own: thousands of requests listening to one make Node warn of a leak.
 *
 * @throws `SamplerError` if it fails; the signal's reason once aborted, even if the sampler heeds none.
 */
export async function callSampler<Result>(
  work: (signal: AbortSignal) => PromiseLike<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const controller = new AbortController();
  const release = onAbort(signal, () => controller.abort(signal.reason));
  try {
    signal.throwIfAborted();
    return await settleWithin(work(controller.signal), controller, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof SamplerError ? error : new SamplerError(messageOf(error), { cause: error });
  } finally {
    release();
  }
}

/** The boundary that an error crossed; `undefined` for errors of our own. */
export function boundaryOf(error: unknown): 'environment' | 'sampler' | undefined {
  if (error instanceof EnvironmentError) return 'environment';
  return error instanceof SamplerError ? 'sampler' : undefined;
}
