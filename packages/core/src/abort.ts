import { ArgumentError } from './errors.ts';

/** What is waiting for a signal. */
interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `callback` once `signal` aborts, at once if it has. Returns what stops listening.
 *
 * Many calls that wait for one signal share one listener, because Node warns of a leak at many.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (typeof signal?.addEventListener !== 'function') {
    throw new ArgumentError(`expected an AbortSignal, got ${String(signal)}`);
  }
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  const { callbacks } = waiting.get(signal) ?? listenTo(signal);
  // Wrapped, so that the same function may wait twice.
  const entry = () => callback();
  callbacks.add(entry);
  return () => {
    callbacks.delete(entry);
    if (callbacks.size === 0) stopListening(signal);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const listener = () => {
    waiting.delete(signal);
    for (const callback of callbacks) callback();
  };
  signal.addEventListener('abort', listener, { once: true });
  const entry = { callbacks, listener };
  waiting.set(signal, entry);
  return entry;
}

function stopListening(signal: AbortSignal): void {
  const entry = waiting.get(signal);
  if (entry === undefined || entry.callbacks.size > 0) return;
  signal.removeEventListener('abort', entry.listener);
  waiting.delete(signal);
}

/** The promise, or a rejection with the signal's reason as soon as it aborts. What the promise waits for goes on by itself. */
export function orAborted<Value>(
  promise: PromiseLike<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const release = signal && onAbort(signal, () => reject(signal.reason));
    promise.then(
      (value) => {
        release?.();
        resolve(value);
      },
      (error) => {
        release?.();
        reject(error);
      },
    );
  });
}

/**
 * Does work with a signal that aborts with the first of several, and stops listening once the work is done.
 *
 * `AbortSignal.any` keeps a part of every signal that it made as long as one of its sources lives.
 */
export async function withSignals<Value>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const given = signals.filter((signal) => signal !== undefined);
  const first = new AbortController();
  const releases = given.map((signal) => onAbort(signal, () => first.abort(signal.reason)));
  try {
    return await work(first.signal);
  } finally {
    for (const release of releases) release();
  }
}

/**
 * Does work for every item at once, and returns the results in order. As soon as one fails, or one of the signals aborts, the signal of the
 * others aborts with the reason.
 */
export function allWithSignals<Item, Value>(
  items: readonly Item[],
  signals: readonly (AbortSignal | undefined)[],
  work: (item: Item, signal: AbortSignal) => Promise<Value>,
): Promise<Value[]> {
  const failed = new AbortController();
  return withSignals([...signals, failed.signal], (signal) =>
    Promise.all(
      items.map((item) =>
        work(item, signal).catch((error: unknown) => {
          failed.abort(error);
          throw error;
        }),
      ),
    ),
  );
}

/**
 * The items of a source, until one of the signals aborts: then the wait for the next one ends with its reason. The source is told to stop, and not
 * waited for.
 *
 * @throws The signal's reason. ArgumentError for what is not iterable.
 */
export async function* untilAborted<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  ...signals: readonly (AbortSignal | undefined)[]
): AsyncGenerator<Item, void, undefined> {
  const stop = new AbortController();
  const iterator = iteratorOf(items);
  const given = signals.filter((signal) => signal !== undefined);
  const releases = given.map((signal) => onAbort(signal, () => stop.abort(signal.reason)));
  let isOver = false;
  const next = async () => {
    try {
      const result = await iterator.next();
      isOver = result.done === true;
      return result;
    } catch (error) {
      isOver = true;
      throw error;
    }
  };
  try {
    for (;;) {
      stop.signal.throwIfAborted();
      const { done, value } = await orAborted(next(), stop.signal);
      if (done) return;
      yield value;
    }
  } finally {
    for (const release of releases) release();
    const ended = isOver ? undefined : Promise.resolve(iterator.return?.());
    if (stop.signal.aborted) ended?.catch(() => undefined);
    else await ended;
  }
}

function iteratorOf<Item>(items: Iterable<Item> | AsyncIterable<Item>) {
  const given: object = Object(items);
  if (Symbol.asyncIterator in given) return (given as AsyncIterable<Item>)[Symbol.asyncIterator]();
  if (Symbol.iterator in given) return (given as Iterable<Item>)[Symbol.iterator]();
  throw new ArgumentError(
    `untilAborted: items must be iterable, got ${items === null ? 'null' : typeof items}`,
  );
}
