import { afterEach, expect, it, vi } from 'vitest';
import { inNextTurn, nextTurn } from './next-turn.ts';

afterEach(() => vi.unstubAllGlobals());

it.each(['Node', 'a page'])('waits for the turn under way, in %s', async (host) => {
  if (host === 'a page') vi.stubGlobal('setImmediate', undefined);
  const close = vi.spyOn(MessagePort.prototype, 'close');
  const order: string[] = [];
  inNextTurn(() => order.push('next turn'));
  void Promise.resolve().then(() => order.push('this turn'));
  await nextTurn();
  expect(order).toEqual(['this turn', 'next turn']);
  // An open port would keep the process alive.
  expect(close).toHaveBeenCalledTimes(host === 'a page' ? 2 : 0);
  close.mockRestore();
});
