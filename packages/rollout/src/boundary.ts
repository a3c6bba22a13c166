import { EnvironmentError, SamplerError, TimeoutError } from '@rlp/core';
import type { Interruption } from './interruption.ts';

/** Limits on one piece of foreign work. */
interface Limits {
  readonly interruption: Interruption;
  readonly timeoutMs?: number | undefined;
}

/** Settles as `work` does, or rejects at the time limit or with the interruption's reason, whichever comes first. */
async function settleWithin<Result>(
  owner: string,
  work: () => Result | PromiseLike<Result>,
  { interruption, timeoutMs }: Limits,
): Promise<Result> {
  if (interruption.isFired) throw interruption.reason;
  const release: (() => void)[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    release.push(interruption.onFire(reject));
    if (timeoutMs === undefined) return;
    const timer = setTimeout(
      () => reject(new TimeoutError(`${owner} took longer than ${timeoutMs} ms`)),
      timeoutMs,
    );
    release.push(() => clearTimeout(timer));
  });
  try {
    return await Promise.race([Promise.resolve().then(work), interrupted]);
  } finally {
    for (const undo of release) undo();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs one call of an environment.
 *
 * @throws `EnvironmentError` if it throws or takes too long; the interruption's reason once that fired.
 */
export async function callEnvironment<Result>(
  method: string,
  work: () => Result | PromiseLike<Result>,
  limits: Limits,
): Promise<Result> {
  try {
    return await settleWithin(`environment.${method}`, work, limits);
  } catch (error) {
    if (limits.interruption.isFired) throw limits.interruption.reason;
    const message =
      error instanceof TimeoutError ? error.message : `environment.${method}: ${messageOf(error)}`;
    throw new EnvironmentError(message, { cause: error });
  }
}

/**
 * Runs one request to a sampler, with a signal of its own.
 *
 * @throws `SamplerError` if it fails; the interruption's reason once that fired, even if the sampler heeds no signal.
 */
export async function callSampler<Result>(
  work: (signal: AbortSignal) => PromiseLike<Result>,
  interruption: Interruption,
): Promise<Result> {
  const controller = new AbortController();
  const release = interruption.onFire((reason) => controller.abort(reason));
  try {
    return await settleWithin('sampler.sample', () => work(controller.signal), { interruption });
  } catch (error) {
    if (interruption.isFired) throw interruption.reason;
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
