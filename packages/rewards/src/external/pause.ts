import { onAbort } from '@rlp/core';

/** Waits; rejects with the signal's reason. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      release();
      resolve();
    }, milliseconds);
    const release = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
