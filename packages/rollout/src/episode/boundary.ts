import { EnvironmentError, messageOf, SamplerError, type Watchdog } from '@rlp/core';

/**
 * Runs one request to a sampler with a separate signal. Node warns of a leak if thousands of requests listen to one signal.
 *
 * @throws SamplerError if it fails or is late; the signal's reason once aborted, even if the sampler ignores signals.
 */
export async function callSampler<Result>(
  work: (own: AbortController) => PromiseLike<Result>,
  { signal, watchdog }: { readonly signal: AbortSignal; readonly watchdog: Watchdog },
): Promise<Result> {
  const controller = new AbortController();
  try {
    signal.throwIfAborted();
    return await watchdog.watch(work(controller), { signal, controller });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SamplerError) throw error;
    const late = controller.signal.aborted ? 'sampler.sample: ' : '';
    throw new SamplerError(`${late}${messageOf(error)}`, { cause: error });
  }
}

/** Context of a call. Its signal is made on first access, because that takes longer than most calls. */
export function lazily<Context extends object>(own: AbortController, context?: Context) {
  return {
    ...(context as Context),
    get signal() {
      return own.signal;
    },
  };
}

/** The boundary that an error crossed, or `undefined` for errors of this package. */
export function boundaryOf(error: unknown): 'environment' | 'sampler' | undefined {
  if (error instanceof EnvironmentError) return 'environment';
  return error instanceof SamplerError ? 'sampler' : undefined;
}
