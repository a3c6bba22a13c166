import { onAbort } from './abort.ts';

/** Waits; rejects with the signal's reason once it aborts. */
export function pause(milliseconds: number, signal?: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let release: (() => void) | undefined;
    const timer = setTimeout(() => {
      release?.();
      resolve();
    }, milliseconds);
    release =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
  });
}
