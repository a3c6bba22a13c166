import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pause } from './pause.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('waits as long as it is told to', async () => {
  let hasEnded = false;
  void pause(50).then(() => {
    hasEnded = true;
  });
  await vi.advanceTimersByTimeAsync(49);
  expect(hasEnded).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(hasEnded).toBe(true);
});

it('rejects with the reason of its signal at once, and leaves no timer behind', async () => {
  const controller = new AbortController();
  const waiting = pause(50, controller.signal);
  expect(vi.getTimerCount()).toBe(1);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(vi.getTimerCount()).toBe(0);
  await expect(pause(50, controller.signal)).rejects.toThrow('enough');
});

it('no longer listens to its signal when it is over', async () => {
  const { signal } = new AbortController();
  const stopped = vi.spyOn(signal, 'removeEventListener');
  const waiting = pause(50, signal);
  await vi.advanceTimersByTimeAsync(50);
  await waiting;
  expect(stopped).toHaveBeenCalled();
});
