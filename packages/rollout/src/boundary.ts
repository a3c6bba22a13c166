import { EnvironmentError, onAbort, SamplerError, settleWithin } from '@rlp/core';
import { messageOf } from './guarded.ts';

/**
 * Runs one request to a sampler with a separate signal. Node warns of a leak if thousands of requests listen to one signal.
 *
 * @throws `SamplerError` if it fails; the signal's reason once aborted, even if the sampler ignores signals.
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

/** The boundary that an error crossed, or `undefined` for errors of this package. */
export function boundaryOf(error: unknown): 'environment' | 'sampler' | undefined {
  if (error instanceof EnvironmentError) return 'environment';
  return error instanceof SamplerError ? 'sampler' : undefined;
}
