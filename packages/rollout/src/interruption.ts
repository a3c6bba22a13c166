/**
 * What ends a collection early: a signal of the caller's, or the consumer leaving.
 *
 * One listener on the caller's signal serves any number of episodes (thousands of listeners on one signal make Node warn
 * of a leak), and is gone once the collection is.
 */
export class Interruption {
  readonly #callbacks = new Set<(reason: unknown) => void>();
  readonly #detach: () => void;
  #state: 'running' | 'fired' = 'running';
  #reason: unknown;

  constructor(signal: AbortSignal | undefined) {
    const onAbort = () => this.fire(signal?.reason);
    this.#detach = () => signal?.removeEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  }

  get isFired(): boolean {
    return this.#state === 'fired';
  }

  /** What fired it. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Tells everyone who listens, once; lets go of the caller's signal. */
  fire(reason: unknown): void {
    this.#detach();
    if (this.isFired) return;
    this.#state = 'fired';
    this.#reason = reason;
    for (const callback of this.#callbacks) callback(reason);
    this.#callbacks.clear();
  }

  /** Calls `callback` when it fires, at once if it has. Returns what stops listening. */
  onFire(callback: (reason: unknown) => void): () => void {
    if (this.isFired) callback(this.#reason);
    else this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }
}
