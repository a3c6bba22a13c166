import { ArgumentError, EngineError } from '@rlp/core';
import * as koffi from 'koffi';
import { describe, expect, it } from 'vitest';
import { openBound } from '../native/c-interface/open-bound.ts';
import { runtimeLibrary } from '../native/cuda-files.ts';
import { loadNative } from '../native/load-native.ts';
import type { NativeRuntime } from '../native/native.ts';
import type { StoreSpec } from '../protocol.ts';
import { DeviceStore } from './device-store.ts';
import { DeviceTransfer } from './device-transfer.ts';
import { FlatDeviceStore } from './flat-device-store.ts';
import { HostStore } from './host-store.ts';
import { writeTensors } from './store.ts';

const runtime = await loadNative();
const spec: StoreSpec = {
  name: 'policy',
  parameters: [
    { name: 'a', shape: [3] },
    { name: 'b', shape: [4, 5] },
    { name: 'c', shape: [] },
  ],
  slots: ['gradient', 'moment1'],
};

describe('a host store', () => {
  it('aligns every tensor of every slot to 64 bytes, in one memory', () => {
    const store = new HostStore(runtime, spec);
    const buffers = new Set<ArrayBufferLike>();
    for (const slot of [undefined, 'gradient', 'moment1']) {
      for (const { name } of spec.parameters) {
        const data = store.data(name, slot);
        expect(data.byteOffset % 64).toBe(0);
        buffers.add(data.buffer);
      }
      expect(store.all(slot)).toHaveLength(16 + 32 + 16);
      expect(store.segments(slot)).toEqual([store.all(slot)]);
    }
    expect(buffers.size).toBe(1);
    expect([...buffers][0]).toBeInstanceOf(ArrayBuffer);
  });

  it('gives views and tensors of the same bytes, and zeros between', () => {
    const store = new HostStore(runtime, spec);
    store.data('a').fill(1);
    store.data('b').fill(2);
    store.data('c').fill(3);
    expect(store.tensor('b').data).toEqual(new Float32Array(20).fill(2));
    expect(store.tensor('b')).toBe(store.tensor('b'));
    expect(store.tensor('c').dims).toEqual([]);
    expect(store.all().reduce((total, value) => total + value, 0)).toBe(3 + 40 + 3);
    expect(store.all('gradient').every((value) => value === 0)).toBe(true);
    store.kernels.combine(store.all(), 1, store.all(), 1);
    expect(store.data('c')[0]).toBe(6);
    expect(store.kernels.sumOfSquares(store.all())).toBe(3 * 4 + 20 * 16 + 36);
  });

  it('names what there is when asked for what there is not', () => {
    const store = new HostStore(runtime, spec);
    expect(() => store.data('d')).toThrow(
      new ArgumentError('store "policy": no parameter named "d", expected one of: a, b, c'),
    );
    expect(() => store.tensor('a', 'moment2')).toThrow(
      new ArgumentError('store "policy": no slot named "moment2", its slots are: gradient, moment1'),
    );
    const twice = {
      name: 'x',
      parameters: [
        { name: 'a', shape: [1] },
        { name: 'a', shape: [2] },
      ],
    };
    expect(() => new HostStore(runtime, twice)).toThrow(/"a" occurs twice/);
  });

  it('checks everything before it writes anything', async () => {
    const store = new HostStore(runtime, spec);
    const good = { shape: [3], data: new Float32Array(3).fill(9) };
    const bad = [
      ['d', { shape: [1], data: new Float32Array(1) }],
      ['b', { shape: [5, 4], data: new Float32Array(20) }],
      ['b', { shape: [4, 5], data: new Float32Array(19) }],
    ] as const;
    for (const [name, tensor] of bad) {
      const tensors = new Map([['a', good]]).set(name, tensor as unknown as typeof good);
      await expect(writeTensors(store, tensors, undefined)).rejects.toThrow(ArgumentError);
      expect(store.data('a')[0]).toBe(0);
    }
    await expect(store.write('b', new Float32Array(3))).rejects.toThrow(
      'parameter "b" [4, 5] has 20 elements, got 3',
    );
  });

  it('spreads over several memories when one is full', async () => {
    const store = new HostStore(runtime, spec, 3 * 48 * 4);
    expect(store.segments().map(({ length }) => length)).toEqual([48, 16]);
    expect(store.segments('gradient')[1]!.buffer).toBe(store.segments()[1]!.buffer);
    expect(store.segments()[0]!.buffer).not.toBe(store.segments()[1]!.buffer);
    expect(() => store.all()).toThrow(/spread over 2 memories .* use segments\(\)/);
    for (const { name } of spec.parameters) store.data(name).fill(2);
    const total = store.segments().reduce((sum, segment) => sum + store.kernels.sumOfSquares(segment), 0);
    expect(total).toBe(24 * 4);
    store.kernels.combine(store.data('c'), 1, store.data('a').subarray(0, 1), 1);
    expect([...(await store.read('c'))]).toEqual([4]);
  });

  it('says how large a parameter may be', () => {
    expect(() => new HostStore(runtime, spec, 3 * 16 * 4)).toThrow(EngineError);
    const huge = { name: 'huge', parameters: [{ name: 'w', shape: [2 ** 15, 2 ** 16] }] };
    expect(() => new HostStore(runtime, huge)).toThrow(
      /parameter "w" \[32768, 65536\] takes 8\.00 GiB, .* and one memory holds 4\.00 GiB/,
    );
  });
});

const onLinux = `${process.platform}-${process.arch}` === 'linux-x64';
const transferOf = (native: NativeRuntime) =>
  new DeviceTransfer(native, { executionProvider: 'cpu', threads: 1 });
// The memory of the host stands for that of a device.
const bound = onLinux ? openBound(koffi, runtimeLibrary(), 'host') : undefined;
const flat = () => new FlatDeviceStore(bound!, bound!.memory!, transferOf(bound!), spec);

describe.each([
  ['of single tensors', () => new DeviceStore(runtime, transferOf(runtime), spec)],
  ...(bound ? ([['of neighbours', flat]] as const) : []),
] as const)('a device store %s', (_, open) => {
  const numbers = Float32Array.from({ length: 20 }, (_unused, index) => index);

  it('holds zeros, then what is written and what replaces it', async () => {
    const store = open();
    expect([...(await store.read('a', 'gradient'))]).toEqual([0, 0, 0]);
    await store.write('b', numbers);
    await store.write('a', Float32Array.of(7, 8, 9), 'gradient');
    expect(await store.read('b')).toEqual(numbers);
    expect([...(await store.read('a'))]).toEqual([0, 0, 0]);
    expect([...(await store.read('a', 'gradient'))]).toEqual([7, 8, 9]);
    expect([...store.tensor('b').dims]).toEqual([4, 5]);
    const { Tensor } = await import('onnxruntime-common');
    store.replace('c', new Tensor('float32', Float32Array.of(5), []));
    expect([...(await store.read('c'))]).toEqual([5]);
    store.dispose();
  });

  it('counts changes of its values', async () => {
    const store = open();
    const before = store.revision;
    await store.write('b', numbers);
    const written = store.revision;
    store.touch();
    expect(written).toBeGreaterThan(before);
    expect(store.revision).toBeGreaterThan(written);
    store.dispose();
  });

  it('says what does not fit, and has no memory of the host', async () => {
    const store = open();
    await expect(store.write('b', new Float32Array(3))).rejects.toThrow('has 20 elements, got 3');
    expect(() => store.tensor('a', 'moment2')).toThrow('no slot named "moment2"');
    const { Tensor } = await import('onnxruntime-common');
    expect(() => store.replace('c', new Tensor('int32', Int32Array.of(5), []))).toThrow(
      '"c" expected a tensor of float32, got int32',
    );
    expect(() => store.data()).toThrow('is on the device, where data is unavailable');
    expect(() => store.kernels).toThrow(EngineError);
    store.dispose();
  });

  it('is not read as zeros once it was deleted', async () => {
    const store = open();
    expect([...(await store.read('a'))]).toEqual([0, 0, 0]);
    store.dispose();
    expect(() => store.tensor('a')).toThrow(
      new EngineError('store "policy": it was deleted; create it again'),
    );
    await expect(store.read('a')).rejects.toThrow(EngineError);
  });
});

describe.skipIf(!bound)('neighbours on a device', () => {
  it('are one tensor of vectors and one of matrices, with zeros between parameters', async () => {
    const store = flat();
    await store.write('a', Float32Array.of(1, 2, 3));
    await store.write('c', Float32Array.of(4));
    await store.write('b', new Float32Array(20).fill(5));
    const [vectors, matrices] = store.stretches();
    expect(vectors!.parameters.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(matrices!.parameters.map(({ name }) => name)).toEqual(['b']);
    const transfer = transferOf(bound!);
    expect([...(await transfer.download(vectors!.tensor))]).toEqual([1, 2, 3, ...new Array(13).fill(0), 4]);
    expect(await transfer.download(matrices!.tensor)).toEqual(new Float32Array(20).fill(5));
    expect(store.stretches()[0]!.tensor).toBe(vectors!.tensor);
    store.dispose();
  });

  it('stay where they are when they are written', async () => {
    const store = flat();
    const tensor = store.tensor('b');
    await store.write('b', new Float32Array(20).fill(5));
    expect(store.tensor('b')).toBe(tensor);
    store.replace('b', tensor);
    expect(await store.read('b')).toEqual(new Float32Array(20).fill(5));
    store.dispose();
  });
});
