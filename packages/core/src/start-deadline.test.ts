import { readFile } from 'node:fs/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { settleWithin, startDeadline } from './index.ts';

afterEach(() => void vi.useRealTimers());

it.each([1, 7, 10, 1234, 3_600_000])('is late after %d ms, and not before', (milliseconds) => {
  vi.useFakeTimers();
  const late = vi.fn();
  startDeadline(milliseconds, late);
  vi.advanceTimersByTime(milliseconds - 1);
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(late).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

it('is never late once it is ended', () => {
  vi.useFakeTimers();
  const late = vi.fn();
  const end = startDeadline(1000, late);
  vi.advanceTimersByTime(550);
  end();
  vi.advanceTimersByTime(5000);
  expect(late).not.toHaveBeenCalled();
});

it('lets a process that was halted for longer read what was answered meanwhile', async () => {
  const answer = readFile(import.meta.filename, 'utf8');
  const settled = settleWithin(answer, new AbortController(), { timeoutMs: 100 });
  for (const end = performance.now() + 500; performance.now() < end; );
  await expect(settled).resolves.toContain('was answered meanwhile');
});
