import { EngineError } from '@rlp/core';
import { afterEach, describe, expect, it } from 'vitest';
import { createEngine } from '../../runtime.ts';
import type { Engine, EngineHost } from '../protocol.ts';
import { scaleModel } from '../testing/models.ts';

const engines: Engine[] = [];
afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close())));

/** The host of an engine in this thread, with a session of runs side by side. */
async function open(profiling: 'on' | 'off' | 'runs') {
  const engine = await createEngine({ thread: 'inline', threads: 2, profiling });
  engines.push(engine);
  let host!: EngineHost;
  const capture = (given: EngineHost) => {
    host = given;
    return {};
  };
  await engine.start({ url: new URL('capture:'), load: async () => ({ default: capture }) }, {});
  const session = await host.createSession(scaleModel([2], 3), { runs: 'side by side' });
  const store = host.createStore({ name: 'x', parameters: [{ name: 'x', shape: [2] }] });
  await store.write('x', Float32Array.of(1, 2));
  const run = async () => [...((await session.run({ x: store.tensor('x') })).y!.data as Float32Array)];
  return { engine, host, session, store, run };
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
    const { engine, host, run } = await open('runs');
    skip(host.lanes === 1, 'runs do not leave the thread here');
    await run();
    const [before] = await engine.profile();
    const change = changing(host);
    const found = run();
    await new Promise((resolve) => setTimeout(resolve, 500));
    change.end();
    await found;
    const [after] = await engine.profile();
    expect(after!.count).toBe(before!.count + 1);
    expect(after!.milliseconds - before!.milliseconds).toBeLessThan(400);
  });
});

it('a profile taken during runs has them all, and later runs compute the same', async ({ skip }) => {
  const { engine, host, run } = await open('on');
  skip(host.lanes === 1, 'runs do not leave the thread here');
  const all: Promise<number[]>[] = [];
  for (let i = 0; i < 5; i++) {
    all.push(run(), run());
    const profile = engine.profile();
    all.push(run(), run());
    await profile;
  }
  for (const found of await Promise.all(all)) expect(found).toEqual([3, 6]);
  const times = await engine.profile();
  expect(times.find(({ operator }) => operator === 'Mul')?.count).toBe(all.length);
});
