import { expect, it } from 'vitest';
import { TurnGate } from './turn-gate.ts';

it('sends together, in order, what is asked in one turn, across its microtasks', async () => {
  const log: string[] = [];
  const gate = new TurnGate(() => void log.push('opened'));
  const ask = (name: string) =>
    gate.pass(async () => {
      log.push(name);
      return name;
    });
  const first = ask('a');
  const second = Promise.resolve().then(() => ask('b'));
  expect(log).toEqual([]);
  expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  expect(log).toEqual(['a', 'b', 'opened']);
  await ask('c');
  expect(log).toEqual(['a', 'b', 'opened', 'c', 'opened']);
});

it('can be opened early, and settles each request as it went', async () => {
  const opened: number[] = [];
  const gate = new TurnGate(() => void opened.push(1));
  const refused = gate.pass(() => Promise.reject(new Error('refused')));
  const accepted = gate.pass(async () => 'accepted');
  gate.open();
  expect(opened).toEqual([1]);
  await expect(refused).rejects.toThrow('refused');
  expect(await accepted).toBe('accepted');
  await new Promise((resolve) => setImmediate(resolve));
  expect(opened).toEqual([1]);
});
