import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as koffi from 'koffi';
import * as onnxRuntime from 'onnxruntime-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Tensors } from '../protocol.ts';
import { mixedModel, scaleModel } from '../testing/models.ts';
import { OwnedSession } from '../thread/session.ts';
import { SessionLease } from '../thread/session-lease.ts';
import { openBound } from './c-interface/open-bound.ts';
import { runtimeLibrary } from './cuda-files.ts';
import { loadNative } from './load-native.ts';
import type { NativeRuntime } from './native.ts';
import { openBinding } from './native-binding.ts';
import { openPublic } from './native-public.ts';

const options = { executionProvider: 'cpu', threads: 2 } as const;
const publicRuntime = openPublic(onnxRuntime);
const onLinux = `${process.platform}-${process.arch}` === 'linux-x64';

async function open(runtime: NativeRuntime, model: Uint8Array): Promise<OwnedSession> {
  const lease = new SessionLease(await runtime.createSession(model, options), () => {});
  return new OwnedSession(lease, { open: async () => lease, releasing: () => {}, ran: () => {} });
}

const values = (tensors: Tensors) =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { data, dims }]) => [name, [[...dims], ...(data as Float32Array)]]),
  );

describe.each(
  (
    [
      ['binding', openBinding(publicRuntime)],
      ['public', publicRuntime],
      ['bound', onLinux ? openBound(koffi, runtimeLibrary(), 'host') : undefined],
    ] as const
  ).filter(([, runtime]) => runtime !== undefined),
)('%s access', (access, maybe) => {
  const runtime = maybe!;
  const x = runtime?.tensor('float32', Float32Array.of(1, 2, 3, 4), [4]);
  const v = runtime?.tensor('float32', Float32Array.of(5, 6), [2]);
  const expected = {
    total: [[], 10],
    y: [[2], 10, 12],
    z: [[4], 3, 6, 9, 12],
    w: [[4], 2, 3, 4, 5],
  };

  it('is the one asked for', () => {
    expect(runtime.access).toBe(access);
  });

  it('returns every output, whatever its rank and however it is known', async () => {
    const session = await open(runtime, mixedModel());
    expect(session.inputNames).toEqual(['x', 'v']);
    expect(session.outputNames).toEqual(['total', 'y', 'z', 'w']);
    expect(values(await session.run({ x, v }))).toEqual(expected);
    await session.release();
  });

  it('returns what is fetched, and what is given to be written', async () => {
    const session = await open(runtime, mixedModel());
    const w = runtime.tensor('float32', new Float32Array(4), [4]);
    const results = await session.run({ x, v }, { fetch: ['y'], into: { w } });
    expect(values(results)).toEqual({ y: expected.y, w: expected.w });
    expect(results.w).toBe(w);
    await session.release();
  });

  it('writes outputs in place, also over a WebAssembly memory and over its own input', async () => {
    const session = await open(runtime, scaleModel(['n'], 2));
    const memory = new (
      globalThis as unknown as { WebAssembly: { Memory: new (size: object) => { buffer: ArrayBuffer } } }
    ).WebAssembly.Memory({ initial: 1, maximum: 1 });
    const data = new Float32Array(memory.buffer, 128, 3);
    data.set([1, 2, 3]);
    const tensor = runtime.tensor('float32', data, [3]);
    for (let run = 0; run < 3; run++) await session.run({ x: tensor }, { into: { y: tensor } });
    expect([...data]).toEqual([8, 16, 24]);
    await session.release();
  });

  it('says what is wrong with a run', async () => {
    const session = await open(runtime, scaleModel([4], 2));
    await expect(session.run({})).rejects.toThrow(/input 'x'|input "x"/);
    await expect(session.run({ x }, { fetch: ['q'] })).rejects.toThrow(
      'session: no output named q, expected some of: y',
    );
    await expect(session.run({ x: v })).rejects.toThrow(/dimension/i);
    const freed = runtime.tensor('float32', new Float32Array(4), [4]);
    freed.dispose();
    await expect(session.run({ x: freed })).rejects.toThrow('session: input "x" was freed before the run');
    expect(values(await session.run({ x }))).toEqual({ y: [[4], 2, 4, 6, 8] });
    await session.release();
    await session.release();
    await expect(session.run({ x })).rejects.toThrow('session: run after release');
  });

  it('rejects a tensor that does not fit its output', async () => {
    const session = await open(runtime, scaleModel([4], 2));
    const y = runtime.tensor('float32', new Float32Array(3), [3]);
    await expect(session.run({ x }, { into: { y } })).rejects.toThrow(/session: /);
    await session.release();
  });

  it('feeds tensors of other copies of the tensor class', async () => {
    const { Tensor } = await import('onnxruntime-common');
    const session = await open(runtime, scaleModel([2], 3));
    const y = new Tensor('float32', new Float32Array(2), [2]);
    await session.run({ x: new Tensor('float32', Float32Array.of(1, 2), [2]) }, { into: { y } });
    expect([...(y.data as Float32Array)]).toEqual([3, 6]);
    await session.release();
  });
});

describe('the binding', () => {
  const require = createRequire(import.meta.url);
  const files = require(join(dirname(require.resolve('onnxruntime-node')), 'binding.js')) as {
    binding: object;
  };

  it('is not used when its shape, its behaviour or its loading differs', () => {
    expect(openBinding(publicRuntime, () => undefined)).toBeUndefined();
    expect(openBinding(publicRuntime, () => ({ ...files, initOrt: undefined }))).toBeUndefined();
    expect(openBinding(publicRuntime, () => ({ ...files, binding: {} }))).toBeUndefined();
    const deaf = { ...files.binding, initOrtOnce: () => {} };
    expect(openBinding(publicRuntime, () => ({ ...files, binding: deaf }))).toBeUndefined();
    const load = () => {
      throw new Error('moved');
    };
    expect(openBinding(publicRuntime, load)).toBeUndefined();
  });

  it('skips the copies of everything but the first output', async () => {
    const session = await openBinding(publicRuntime)!.createSession(mixedModel(), options);
    const results = await session.run(
      {
        x: publicRuntime.tensor('float32', new Float32Array(4), [4]),
        v: publicRuntime.tensor('float32', new Float32Array(2), [2]),
      },
      ['z', 'w'],
      {},
    );
    expect(Object.keys(results)).toEqual(['z', 'w']);
    expect((session as { lastRun?: string }).lastRun).toBe('stopped');
    await session.release();
  });
});

describe('loadNative', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('prefers the binding, and keeps to the public interface when told', async () => {
    expect((await loadNative()).access).toBe('binding');
    vi.stubEnv('RLP_ONNX_PUBLIC_API', '1');
    expect((await loadNative()).access).toBe('public');
  });
});
