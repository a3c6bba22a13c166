import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { allWithSignals, onAbort, orAborted, untilAborted, withSignals } from './abort.ts';

it('calls everyone who waits once, with one listener on the signal', () => {
  const controller = new AbortController();
  const called: number[] = [];
  const released = Array.from({ length: 1000 }, (_, index) =>
    onAbort(controller.signal, () => void called.push(index)),
  );
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  for (const release of released.slice(3)) release();
  controller.abort();
  controller.abort();
  expect(called).toEqual([0, 1, 2]);
});

it('leaves no listener behind once nobody waits, and takes a new one afterwards', () => {
  const controller = new AbortController();
  const first = onAbort(controller.signal, () => undefined);
  const second = onAbort(controller.signal, () => undefined);
  first();
  first();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  second();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  let called = 0;
  onAbort(controller.signal, () => void called++);
  controller.abort();
  expect(called).toBe(1);
});

it('calls at once when the signal has fired, and lets the same function wait twice', () => {
  let called = 0;
  const count = () => void called++;
  const controller = new AbortController();
  onAbort(controller.signal, count);
  onAbort(controller.signal, count);
  controller.abort();
  expect(called).toBe(2);
  onAbort(controller.signal, count)();
  expect(called).toBe(3);
});

it('lets a callback stop others that have not been called', () => {
  const controller = new AbortController();
  const called: string[] = [];
  const release: (() => void)[] = [];
  onAbort(controller.signal, () => {
    called.push('first');
    for (const stop of release) stop();
  });
  release.push(onAbort(controller.signal, () => void called.push('second')));
  controller.abort();
  expect(called).toEqual(['first']);
});

describe('orAborted', () => {
  const never = new Promise<number>(() => undefined);

  it('is the promise, if nothing aborts', async () => {
    const { signal } = new AbortController();
    for (const given of [signal, undefined]) {
      expect(await orAborted(Promise.resolve(7), given)).toBe(7);
      await expect(orAborted(Promise.reject(new Error('mine')), given)).rejects.toThrow('mine');
    }
  });

  it('rejects with the reason of its signal, fired before or later', async () => {
    const controller = new AbortController();
    const waiting = orAborted(never, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(orAborted(never, controller.signal)).rejects.toThrow('enough');
  });

  it('leaves no listener behind, however the promise ends', async () => {
    const { signal } = new AbortController();
    await orAborted(Promise.resolve(1), signal);
    await orAborted(Promise.reject(new Error('no')), signal).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('withSignals', () => {
  const untilAborted = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => onAbort(signal, () => reject(signal.reason)));

  it('aborts with the first of its signals, fired before or later', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = withSignals([undefined, first.signal, second.signal], untilAborted);
    second.abort(new Error('second'));
    first.abort(new Error('first'));
    await expect(waiting).rejects.toThrow('second');
    await expect(withSignals([second.signal], untilAborted)).rejects.toThrow('second');
    await expect(withSignals([second.signal, first.signal], untilAborted)).rejects.toThrow('second');
  });

  it('hands on its own signal, so that listeners of the work go with it', async () => {
    const { signal } = new AbortController();
    await withSignals([undefined, signal], async (given) => onAbort(given, () => undefined));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('leaves no listener behind, however the work ends', async () => {
    const [{ signal }, other] = [new AbortController(), new AbortController()];
    expect(await withSignals([signal, other.signal], async () => 7)).toBe(7);
    await withSignals([signal, other.signal], () => Promise.reject(new Error('no'))).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('untilAborted', () => {
  it('gives the items of a source, and closes it if the reader stops', async () => {
    let closed = 0;
    async function* source() {
      try {
        yield* [1, 2, 3];
      } finally {
        closed += 1;
      }
    }
    const { signal } = new AbortController();
    const read: number[] = [];
    for await (const item of untilAborted(source(), signal)) read.push(item);
    for await (const item of untilAborted(source(), signal)) {
      read.push(item);
      break;
    }
    expect(read).toEqual([1, 2, 3, 1]);
    expect(closed).toBe(2);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('ends the wait for an item that never comes', async () => {
    async function* source() {
      yield 1;
      await new Promise(() => undefined);
    }
    const controller = new AbortController();
    const items = untilAborted(source(), controller.signal);
    expect(await items.next()).toEqual({ done: false, value: 1 });
    const second = items.next();
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
  });

  it('gives the error of a source that fails, and does not stop it again', async () => {
    let told = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('boom')),
        return: async () => {
          told += 1;
          return { done: true, value: undefined } as const;
        },
      }),
    };
    await expect(untilAborted(source, new AbortController().signal).next()).rejects.toThrow('boom');
    expect(told).toBe(0);
  });

  it('tells a source that waits to stop, whichever signal aborts, and listens no more', async () => {
    let told = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<number>>(() => undefined),
        return: async () => {
          told += 1;
          return { done: true, value: undefined } as const;
        },
      }),
    };
    const [one, other] = [new AbortController(), new AbortController()];
    const waiting = untilAborted(source, one.signal, other.signal).next();
    other.abort(new Error('closed'));
    await expect(waiting).rejects.toThrow('closed');
    expect([told, getEventListeners(one.signal, 'abort').length]).toEqual([1, 0]);
  });

  it('names what cannot be iterated', async () => {
    const { signal } = new AbortController();
    const refused = untilAborted({ episodes: [] } as never, signal).next();
    await expect(refused).rejects.toThrow('items must be iterable, got object');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

it('does work for all items, and ends that of the others if one fails or a signal aborts', async () => {
  const double = async (item: number) => 2 * item;
  expect(await allWithSignals([1, 2, 3], [], double)).toEqual([2, 4, 6]);
  const ended: unknown[] = [];
  const waiting = (item: number, signal: AbortSignal) =>
    item === 2
      ? Promise.reject(new Error('second'))
      : new Promise<number>((_, reject) => {
          onAbort(signal, () => {
            ended.push((signal.reason as Error).message);
            reject(signal.reason);
          });
        });
  await expect(allWithSignals([1, 2, 3], [], waiting)).rejects.toThrow('second');
  expect(ended).toEqual(['second', 'second']);
  const controller = new AbortController();
  const aborted = allWithSignals([1, 3], [controller.signal], waiting);
  controller.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
});
