import { EngineError } from '@rlp/core';
import { afterEach, describe, expect, it } from 'vitest';
import { loadNative } from '../native/load-native.ts';
import { nodePlatform } from '../native/node-platform.ts';
import type { EngineHost } from '../protocol.ts';
import { scaleModel } from '../testing/models.ts';
import { Host } from './host.ts';

const hosts: Host[] = [];
afterEach(() => Promise.all(hosts.splice(0).map((host) => host.dispose())));

/** The host of an engine, with a session of runs side by side. */
async function open(profiling: 'on' | 'off' | 'runs', thread: 'worker' | 'inline' = 'worker') {
  const options = { executionProvider: 'cpu', threads: 2, thread, profiling } as const;
  const host = new Host(await loadNative(), options, nodePlatform());
  hosts.push(host);
  const session = await host.createSession(scaleModel([2], 3), { runs: 'side by side' });
  const store = host.createStore({ name: 'x', parameters: [{ name: 'x', shape: [2] }] });
  await store.write('x', Float32Array.of(1, 2));
  const run = async () => [...((await session.run({ x: store.tensor('x') })).y!.data as Float32Array)];
  return { host, session, store, run };
}

/** A change that lasts until it is ended. */
function changing(host: EngineHost) {
  let end!: () => void;
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { done: host.exclusively(() => gate), end };
}

describe('runs that wait for a change', () => {
  it('read what it wrote', async ({ skip }) => {
    const { host, store, run } = await open('off');
    skip(host.lanes === 1, 'runs do not leave the thread here');
    const change = changing(host);
    const found = Promise.all([run(), run()]);
    await store.write('x', Float32Array.of(5, 7));
    change.end();
    expect(await found).toEqual([
      [15, 21],
      [15, 21],
    ]);
  });

  it('fail if their session is released meanwhile', async ({ skip }) => {
    const { host, session, run } = await open('off');
    skip(host.lanes === 1, 'runs do not leave the thread here');
    const change = changing(host);
    const runs = Promise.allSettled([run(), run()]);
    await session.release();
    change.end();
    for (const outcome of await runs) {
      expect(outcome).toEqual({ status: 'rejected', reason: expect.any(EngineError) });
      expect(outcome).toHaveProperty('reason.message', expect.stringContaining('run after release'));
    }
  });

  it('are not counted as time of runs', async ({ skip }) => {
    const { host, run } = await open('runs');
    skip(host.lanes === 1, 'runs do not leave the thread here');
    await run();
    const [before] = await host.profile();
    const change = changing(host);
    const found = run();
    await new Promise((resolve) => setTimeout(resolve, 500));
    change.end();
    await found;
    const [after] = await host.profile();
    expect(after!.count).toBe(before!.count + 1);
    expect(after!.milliseconds - before!.milliseconds).toBeLessThan(400);
  });
});

it('a profile taken during runs has them all, and later runs compute the same', async ({ skip }) => {
  const { host, run } = await open('on');
  skip(host.lanes === 1, 'runs do not leave the thread here');
  const all: Promise<number[]>[] = [];
  for (let i = 0; i < 5; i++) {
    all.push(run(), run());
    const profile = host.profile();
    all.push(run(), run());
    await profile;
  }
  for (const found of await Promise.all(all)) expect(found).toEqual([3, 6]);
  const times = await host.profile();
  expect(times.find(({ operator }) => operator === 'Mul')?.count).toBe(all.length);
});

it('runs block the thread of a caller who computes there', async () => {
  const { host, run } = await open('off', 'inline');
  expect(host.lanes).toBe(1);
  let turns = 0;
  setImmediate(() => turns++);
  await run();
  expect(turns).toBe(0);
});
