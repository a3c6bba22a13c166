import { describe, expect, it } from 'vitest';
import { Future, TaskQueue } from './future.ts';

describe('Future', () => {
  it('resolves with the value of its promise and says when it has', async () => {
    const future = new Future(Promise.resolve(7));
    expect(future.settled).toBe(false);
    expect(await future).toBe(7);
    expect(future.settled).toBe(true);
  });

  it('keeps a rejection for whoever awaits it later, without an unhandled rejection', async () => {
    const future = new Future(Promise.reject(new Error('no')));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(future.settled).toBe(true);
    await expect(future).rejects.toThrow('no');
  });
});

describe('TaskQueue', () => {
  it('runs tasks in order, one at a time, past failures', async () => {
    const sequence = new TaskQueue();
    const events: string[] = [];
    const slow = sequence.run(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      events.push('slow');
    });
    const failing = sequence.run(() => {
      events.push('failing');
      throw new Error('no');
    });
    const last = sequence.run(() => events.push('last'));
    await expect(failing).rejects.toThrow('no');
    await Promise.all([slow, last]);
    expect(events).toEqual(['slow', 'failing', 'last']);
    await sequence.idle();
  });
});
