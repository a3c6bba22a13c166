import { onAbort } from '@rlp/core';
import { ApiError } from './api-error.ts';

/** Limits how many requests are answered and how many wait. */
export class Admission {
  readonly #most: number;
  readonly #mostWaiting: number;
  #active = 0;
  #waiting: (() => void)[] = [];

  constructor({ maxRequests, maxWaiting }: { readonly maxRequests: number; readonly maxWaiting: number }) {
    this.#most = maxRequests;
    this.#mostWaiting = maxWaiting;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for a place. Call what it resolves with when the request has ended.
   *
   * @throws ApiError 429 if too many wait. Rejects with the signal's reason.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const leave = this.enterNow();
    if (leave !== undefined) return leave;
    await this.#wait(signal);
    return this.#leaving();
  }

  /** Takes a place if one is free. Call the result when the request has ended. */
  enterNow(): (() => void) | undefined {
    if (this.#active >= this.#most) return undefined;
    this.#active += 1;
    return this.#leaving();
  }

  #leaving(): () => void {
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#active -= 1;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#mostWaiting) {
      throw new ApiError(429, `the server is busy: ${this.#active} requests run and ${this.waiting} wait`, {
        ...{ code: 'rate_limit_exceeded', retryAfterSeconds: 1 },
      });
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        release();
        resolve();
      };
      this.#waiting.push(start);
      const release = onAbort(signal, () => {
        this.#waiting = this.#waiting.filter((other) => other !== start);
        reject(signal.reason);
      });
    });
  }
}
