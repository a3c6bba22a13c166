import { describe, expect, it, vi } from 'vitest';
import { isPromiseLike, settleWithin, TimeoutError } from './index.ts';

const never = new Promise<never>(() => undefined);

describe('settleWithin', () => {
  it('settles as the work does', async () => {
    const controller = new AbortController();
    await expect(settleWithin(Promise.resolve(1), controller, { timeoutMs: 1000 })).resolves.toBe(1);
    const broken = Promise.reject(new Error('broken'));
    await expect(settleWithin(broken, controller, {})).rejects.toThrow('broken');
    expect(controller.signal.aborted).toBe(false);
  });

  it('gives up at the time limit, and tells the work', async () => {
    const controller = new AbortController();
    const settled = settleWithin(never, controller, { timeoutMs: 5 });
    await expect(settled).rejects.toThrow(new TimeoutError('took longer than 5 ms'));
    expect(controller.signal.reason).toBeInstanceOf(TimeoutError);
  });

  it.each(['before', 'after'])("rejects with the signal's reason, aborted %s the call", async (when) => {
    const stop = new AbortController();
    const controller = new AbortController();
    if (when === 'before') stop.abort('enough');
    const settled = settleWithin(never, controller, { signal: stop.signal });
    stop.abort('enough');
    await expect(settled).rejects.toBe('enough');
    expect(controller.signal.reason).toBe('enough');
  });

  it('leaves no timer and no listener behind', async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const stopped = vi.spyOn(signal, 'removeEventListener');
    await settleWithin(Promise.resolve(1), new AbortController(), { timeoutMs: 1000, signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(stopped).toHaveBeenCalled();
    vi.useRealTimers();
  });

  it('tells what has to be waited for', () => {
    expect([1, null, {}, never].map(isPromiseLike)).toEqual([false, false, false, true]);
  });
});
