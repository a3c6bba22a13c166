import { randomUUID } from 'node:crypto';
import { failedCall } from './failed-call.ts';

/** Result of a call, once it is there. */
type Outcome =
  | { readonly state: 'done'; readonly body: object }
  | { readonly state: 'working' | 'gone' | 'unknown' };

/** Whether a call may be made again once its result is gone. An update may not: it is in the weights. */
export type Repetition = 'possible' | 'wrong';

interface Call {
  readonly repetition: Repetition;
  readonly settled: Promise<void>;
  body: object | undefined;
  touchedMs: number;
}

/** Settings of {@link Futures}. */
export interface FuturesSettings {
  readonly clock: () => number;
  /** Milliseconds that a result is kept after it was asked for last. */
  readonly resultMs: number;
  readonly onFailure: (error: unknown) => void;
  /** Called with the name of each result that was dropped. */
  readonly onDropped: (id: string) => void;
}

/** Calls that clients come back for. Results are kept for a time, because answers get lost. */
export class Futures {
  readonly #settings: FuturesSettings;
  readonly #calls = new Map<string, Call>();
  /** Results that were dropped, oldest first, and whether their calls may be made again. */
  readonly #dropped = new Map<string, Repetition>();

  constructor(settings: FuturesSettings) {
    this.#settings = settings;
  }

  /** Calls that are not settled. */
  get open(): number {
    let open = 0;
    for (const { body } of this.#calls.values()) if (body === undefined) open++;
    return open;
  }

  /** Starts a call. Returns the name under which clients ask for its result. */
  start(work: () => Promise<object>, repetition: Repetition): string {
    const { clock, onFailure } = this.#settings;
    this.#sweep();
    const id = randomUUID();
    const call: Call = { repetition, body: undefined, touchedMs: clock(), settled: settle() };
    async function settle(): Promise<void> {
      try {
        // Later, so that `call` is there.
        await undefined;
        call.body = await work();
      } catch (error) {
        onFailure(error);
        call.body = failedCall(error);
      }
      call.touchedMs = clock();
    }
    this.#calls.set(id, call);
    return id;
  }

  /** Waits for a result, at most so long. */
  async retrieve(id: string, waitMs: number, signal: AbortSignal): Promise<Outcome> {
    const call = this.#calls.get(id);
    if (call === undefined) return this.#missing(id);
    if (call.body === undefined) await within(call.settled, waitMs, signal);
    call.touchedMs = this.#settings.clock();
    return call.body === undefined ? { state: 'working' } : { state: 'done', body: call.body };
  }

  /** Resolves once no call is open. */
  async idle(): Promise<void> {
    await Promise.all([...this.#calls.values()].map(({ settled }) => settled));
  }

  #missing(id: string): Outcome {
    const repetition = this.#dropped.get(id);
    if (repetition !== 'wrong') return { state: repetition === undefined ? 'unknown' : 'gone' };
    const error = `the call was done; its result was kept for ${this.#settings.resultMs} ms and is gone`;
    return { state: 'done', body: { error, category: 'server' } };
  }

  #sweep(): void {
    const { clock, resultMs } = this.#settings;
    const before = clock() - resultMs;
    for (const [id, { body, touchedMs, repetition }] of this.#calls) {
      if (body === undefined || touchedMs > before) continue;
      this.#calls.delete(id);
      this.#dropped.set(id, repetition);
      this.#settings.onDropped(id);
    }
    for (const id of this.#dropped.keys()) {
      if (this.#dropped.size <= 100_000) break;
      this.#dropped.delete(id);
    }
  }
}

/** Waits until the work settles, the time is over or the client has left. */
function within(work: Promise<void>, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, waitMs);
    signal.addEventListener('abort', done);
    void work.then(done);
  });
}
