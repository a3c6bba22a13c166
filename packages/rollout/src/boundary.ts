import { EnvironmentError, onAbort, SamplerError, TimeoutError } from '@rlp/core';

/** Limits on one piece of foreign work. */
interface Limits {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

/** Settles as `work` does, or rejects at the time limit or with the signal's reason, whichever comes first. */
async function settleWithin<Result>(
  owner: string,
  work: () => Result | PromiseLike<Result>,
  { signal, timeoutMs }: Limits,
): Promise<Result> {
  signal.throwIfAborted();
  const working = work();
  // Most environments are done at once: nothing to wait for, and thousands of calls an iteration.
  if (!isPromise(working)) return working;
  const release: (() => void)[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    release.push(onAbort(signal, () => reject(signal.reason)));
    if (timeoutMs === undefined) return;
    const timer = setTimeout(
      () => reject(new TimeoutError(`${owner} took longer than ${timeoutMs} ms`)),
      timeoutMs,
    );
    release.push(() => clearTimeout(timer));
  });
  try {
    return await Promise.race([working, interrupted]);
  } finally {
    for (const undo of release) undo();
  }
}

function isPromise<Result>(value: Result | PromiseLike<Result>): value is PromiseLike<Result> {
  return typeof (value as PromiseLike<Result> | null | undefined)?.then === 'function';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs one call of an environment.
 *
 * @throws `EnvironmentError` if it throws or takes too long; the signal's reason once aborted.
 */
export async function callEnvironment<Result>(
  method: string,
  work: () => Result | PromiseLike<Result>,
  limits: Limits,
): Promise<Result> {
  try {
    return await settleWithin(`environment.${method}`, work, limits);
  } catch (error) {
    limits.signal.throwIfAborted();
    const message =
      error instanceof TimeoutError ? error.message : `environment.${method}: ${messageOf(error)}`;
    throw new EnvironmentError(message, { cause: error });
  }
}

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
    return await settleWithin('sampler.sample', () => work(controller.signal), { signal });
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
