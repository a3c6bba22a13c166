import * as koffi from 'koffi';
import { describe, expect, it } from 'vitest';
import { mixedModel, scaleModel } from '../../testing/models.ts';
import { runtimeLibrary } from '../cuda-files.ts';
import { openBound } from './open-bound.ts';

const onLinux = `${process.platform}-${process.arch}` === 'linux-x64';
const options = { executionProvider: 'cuda', threads: 1 } as const;

// The memory of the host stands for that of a card. Everything else is as with a card.
describe.skipIf(!onLinux)('sessions with bound tensors', () => {
  const runtime = onLinux ? openBound(koffi, runtimeLibrary(), 'host') : undefined!;
  const host = (...data: number[]) => runtime.tensor('float32', Float32Array.from(data), [data.length]);
  const double = (deviceOutputs: readonly string[] = ['y']) =>
    runtime.createSession(scaleModel(['n'], 2), { ...options, deviceOutputs });

  it('keep outputs on the device, take them as inputs, and write them in place', async () => {
    const onDevice = await double();
    const { y } = await onDevice.run({ x: host(1, 2, 3) }, ['y'], {});
    expect([y!.location, y!.type, [...y!.dims]]).toEqual(['gpu-buffer', 'float32', [3]]);
    const again = await onDevice.run({ x: y! }, ['y'], { y: y! });
    expect(again.y).toBe(y);
    const back = await (await double([])).run({ x: y! }, ['y'], {});
    expect([...(back.y!.data as Float32Array)]).toEqual([8, 16, 24]);
  });

  it('see what an input is bound to anew, and hold host memory only for the run', async () => {
    const session = await double([]);
    for (const value of [1, 5]) {
      const { y } = await session.run({ x: host(value) }, ['y'], {});
      expect([...(y!.data as Float32Array)]).toEqual([2 * value]);
    }
  });

  it('read a new tensor where an earlier one was', async () => {
    const [up, back] = [await double(), await double([])];
    for (let value = 0; value < 50; value++) {
      const { y } = await up.run({ x: host(value) }, ['y'], {});
      const { y: read } = await back.run({ x: y! }, ['y'], {});
      expect([...(read!.data as Float32Array)]).toEqual([4 * value]);
      y!.dispose();
    }
  });

  it('have views of other shapes of the same memory', async () => {
    const { memory } = runtime;
    const all = memory!.zeros(6);
    memory!.copy(host(1, 2, 3), memory!.window(all, 2, [3]));
    const { y } = await (await double([])).run({ x: all }, ['y'], {});
    expect([...(y!.data as Float32Array)]).toEqual([0, 0, 2, 4, 6, 0]);
    all.dispose();
    await memory!.release();
    expect([...memory!.zeros(2).dims]).toEqual([2]);
  });

  it('give outputs in the order that was asked for', async () => {
    const session = await runtime.createSession(mixedModel(), options);
    const results = await session.run({ x: host(1, 2, 3, 4), v: host(5) }, ['z', 'total'], {});
    expect(Object.keys(results)).toEqual(['z', 'total']);
    expect([...(results.z!.data as Float32Array)]).toEqual([3, 6, 9, 12]);
    expect([...(results.total!.data as Float32Array)]).toEqual([10]);
  });

  it('say what is wrong', async () => {
    const session = await double();
    await expect(session.run({}, ['y'], {})).rejects.toThrow('input "x" is missing from the feeds');
    await expect(session.run({ x: host(1) }, ['y'], { y: host(1, 2) })).rejects.toThrow(/shape|dimension/i);
    const { y: gone } = await session.run({ x: host(1) }, ['y'], {});
    const { gpuBuffer } = gone!;
    gone!.dispose();
    Object.defineProperties(gone, { location: { value: 'gpu-buffer' }, gpuBuffer: { value: gpuBuffer } });
    await expect(session.run({ x: gone! }, ['y'], {})).rejects.toThrow(
      'must outlive its runs, but was disposed',
    );
    const strange = runtime.tensor('float32', new Float32Array(1), [1]);
    Object.defineProperty(strange, 'location', { value: 'gpu-buffer' });
    Object.defineProperty(strange, 'gpuBuffer', { value: {} });
    await expect(session.run({ x: strange }, ['y'], {})).rejects.toThrow('one of another device');
    await expect(runtime.createSession(Uint8Array.of(1, 2, 3), options)).rejects.toThrow(/protobuf|parse/i);
    await session.release();
  });

  it('write a profile', async () => {
    const { mkdtempSync, readdirSync, rmSync } = await import('node:fs');
    const { join } = await import('node:path');
    const { tmpdir } = await import('node:os');
    const folder = mkdtempSync(join(tmpdir(), 'rlp-bound-'));
    const session = await runtime.createSession(scaleModel(['n'], 2), {
      ...options,
      profileFilePrefix: join(folder, 'p'),
    });
    await session.run({ x: host(1) }, ['y'], {});
    session.endProfiling();
    expect(readdirSync(folder)).toHaveLength(1);
    rmSync(folder, { recursive: true });
  });
});
