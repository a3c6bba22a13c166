import { onAbort } from './abort.ts';
import { TimeoutError } from './errors.ts';
import { startDeadline } from './start-deadline.ts';

/** Limits on a piece of foreign work. */
export interface WorkLimits {
  /** Milliseconds it may take. Default no limit. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Settles as `work` does, or rejects at the time limit or with the signal's reason, whichever comes first.
 *
 * @param controller - Aborted with the same reason if the work is given up.
 * @throws TimeoutError at the time limit.
 */
export function settleWithin<Value>(
  work: PromiseLike<Value>,
  controller: AbortController,
  { timeoutMs, signal }: WorkLimits,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let endDeadline: (() => void) | undefined;
    let release: (() => void) | undefined;
    const stop = () => {
      endDeadline?.();
      release?.();
    };
    const giveUp = (reason: unknown) => {
      stop();
      reject(reason);
      controller.abort(reason);
    };
    if (timeoutMs !== undefined) {
      const late = () => giveUp(new TimeoutError(`took longer than ${timeoutMs} ms`));
      endDeadline = startDeadline(timeoutMs, late);
    }
    release = signal && onAbort(signal, () => giveUp(signal.reason));
    Promise.resolve(work).then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Whether a value has to be waited for. */
export function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
