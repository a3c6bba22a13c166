import { expect, it, vi } from 'vitest';
import { Watchdog } from './watchdog.ts';

function deferred() {
  let resolve!: (value: number) => void;
  const promise = new Promise<number>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const patient = { timeoutMs: 100, noteAfterMs: 20 };

it('gives up what waits when nothing was answered in time, and says while it waits', async () => {
  vi.useFakeTimers();
  const notes: number[] = [];
  const watchdog = new Watchdog({ ...patient, note: (waited) => void notes.push(waited) });
  const controller = new AbortController();
  const [first, second] = [deferred(), deferred()];
  const one = watchdog.watch(first.promise, {});
  const two = watchdog.watch(second.promise, { controller });
  two.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(90);
  expect(notes).toEqual([20, 40, 80]);
  first.resolve(1);
  await expect(one).resolves.toBe(1);
  // An answer starts the time again.
  await vi.advanceTimersByTimeAsync(99);
  expect(controller.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await expect(two).rejects.toThrow('had no answer for 100 ms');
  expect(controller.signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

it('gives no further time because something else begins to wait', async () => {
  vi.useFakeTimers();
  const watchdog = new Watchdog(patient);
  const both = [watchdog.watch(deferred().promise, {})];
  both[0]!.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(60);
  both.push(watchdog.watch(deferred().promise, {}));
  const late = expect(Promise.all(both)).rejects.toThrow('had no answer for 100 ms');
  await vi.advanceTimersByTimeAsync(40);
  await late;
  vi.useRealTimers();
});

it('waits in silence if nobody wants notes', async () => {
  vi.useFakeTimers();
  const watchdog = new Watchdog(patient);
  const { promise, resolve } = deferred();
  const waiting = watchdog.watch(promise, {});
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(90);
  resolve(1);
  await expect(waiting).resolves.toBe(1);
  vi.useRealTimers();
});

it('rejects with the reason of the signal at once, and passes errors on', async () => {
  const watchdog = new Watchdog(patient);
  const { signal, abort } = (() => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
  })();
  const waiting = watchdog.watch(new Promise<never>(() => undefined), { signal });
  abort();
  await expect(waiting).rejects.toThrow('enough');
  await expect(watchdog.watch(Promise.resolve(1), { signal })).rejects.toThrow('enough');
  await expect(watchdog.watch(Promise.reject(new Error('broken')), {})).rejects.toThrow('broken');
});
