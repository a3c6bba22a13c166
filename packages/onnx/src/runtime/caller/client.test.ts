import { expect, it } from 'vitest';
import type { FromEngine, ToEngine } from '../channel.ts';
import { Client } from './client.ts';

/** A client, the ids of its messages, and whether it keeps the process alive. */
function connected() {
  let receive: (message: FromEngine) => void = () => {};
  const sent: number[] = [];
  let liveness: 'alive' | 'free' = 'free';
  const client = new Client(
    {
      post: (message: ToEngine) => void sent.push(message.id),
      listen: (receiver) => (receive = receiver),
    },
    { ref: () => (liveness = 'alive'), unref: () => (liveness = 'free') },
    () => {},
  );
  return { client, sent, receive: (message: FromEngine) => receive(message), liveness: () => liveness };
}

it('keeps the process alive until the last pending call is settled', async () => {
  const { client, sent, receive, liveness } = connected();
  const first = client.request('profile', undefined, Number.POSITIVE_INFINITY);
  const second = client.request('profile', undefined, Number.POSITIVE_INFINITY);
  expect(liveness()).toBe('alive');
  receive({ kind: 'answer', id: sent[0]!, value: [] });
  await first;
  expect(liveness()).toBe('alive');
  receive({ kind: 'answer', id: sent[1]!, value: [] });
  await second;
  expect(liveness()).toBe('free');
});

it('gives the note of an engine that is ready', async () => {
  const { client, receive } = connected();
  receive({ kind: 'ready', note: 'slower than it could be' });
  expect(await client.ready).toBe('slower than it could be');
});
