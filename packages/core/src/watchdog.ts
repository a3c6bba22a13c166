import { onAbort } from './abort.ts';
import { TimeoutError } from './errors.ts';
import { startDeadline } from './start-deadline.ts';

/** How patient a {@link Watchdog} is. */
export interface WatchdogOptions {
  /** Milliseconds without any answer after which everything that waits is given up. */
  readonly timeoutMs: number;
  /** Milliseconds without any answer before `note` is called. It is called again after twice that, and so on. */
  readonly noteAfterMs: number;
  /** Called while things wait, with the milliseconds since the last answer. Default none. */
  readonly note?: ((waitedMs: number) => void) | undefined;
}

/**
 * Watches pieces of work that wait side by side. They are late when none of them has been answered for `timeoutMs`.
 *
 * A queue that moves is not late, however long its last piece waits.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #waiting = new Set<(reason: unknown) => void>();
  #endDeadline: (() => void) | undefined;
  #reminder: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /**
   * Settles as `work` does, or rejects when it is late or with the signal's reason.
   *
   * @param controller - Aborted with the same reason if the work is given up. Default: the work is left alone.
   * @throws TimeoutError when nothing was answered for `timeoutMs`.
   */
  watch<Value>(
    work: PromiseLike<Value>,
    {
      signal,
      controller,
    }: { readonly signal?: AbortSignal | undefined; readonly controller?: AbortController },
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      let release: (() => void) | undefined;
      const giveUp = (reason: unknown) => {
        settled();
        reject(reason);
        controller?.abort(reason);
      };
      const settled = () => {
        release?.();
        this.#waiting.delete(giveUp);
        this.#restart();
      };
      this.#waiting.add(giveUp);
      if (this.#waiting.size === 1) this.#restart();
      release = signal && onAbort(signal, () => giveUp(signal.reason));
      Promise.resolve(work).then(
        (value) => {
          settled();
          resolve(value);
        },
        (error: unknown) => {
          settled();
          reject(error);
        },
      );
    });
  }

  /** Something was answered, or began to wait. */
  #restart(): void {
    this.#endDeadline?.();
    clearTimeout(this.#reminder);
    if (this.#waiting.size === 0) return;
    const { timeoutMs, noteAfterMs, note } = this.#options;
    this.#endDeadline = startDeadline(timeoutMs, () => {
      const reason = new TimeoutError(`had no answer for ${timeoutMs} ms`);
      for (const giveUp of [...this.#waiting]) giveUp(reason);
    });
    if (note !== undefined) this.#remind(noteAfterMs, 0, note);
  }

  #remind(waitedMs: number, beforeMs: number, note: (waitedMs: number) => void): void {
    this.#reminder = setTimeout(() => {
      note(waitedMs);
      this.#remind(2 * waitedMs, waitedMs, note);
    }, waitedMs - beforeMs);
  }
}
