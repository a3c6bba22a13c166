import { ArgumentError, OptionsError } from '@rlp/core';

import type { CallContext, EngineHost } from '../protocol.ts';
import { busyModel, scaleModel } from './models.ts';

/** Test program with a method for each feature. */
export default function echo(host: EngineHost, options: { readonly greeting: string }) {
  const log: string[] = [];
  return {
    greet: (name: string) => `${options.greeting}, ${name}`,
    fail(kind: 'argument' | 'options' | 'custom' | 'text' | 'textless' | 'cause'): never {
      if (kind === 'argument') throw new ArgumentError('no good');
      if (kind === 'options') throw new OptionsError('echo', ['a: bad', 'b: worse']);
      if (kind === 'cause') throw new ArgumentError('outer', { cause: new RangeError('inner') });
      if (kind === 'custom') throw Object.assign(new Error('mine'), { name: 'CustomError' });
      if (kind === 'textless') throw Object.create(null);
      throw 'just text';
    },
    uncloneable: () => () => 1,
    async count(limit: number, { signal, emit }: CallContext) {
      for (let i = 0; i < limit; i++) {
        signal.throwIfAborted();
        emit(i);
        await host.yield();
      }
      return limit;
    },
    async begin(name: string) {
      log.push(`begin ${name}`);
      for (let turn = 0; log.length < 2 && turn < 10_000; turn++) await host.yield();
      log.push(`end ${name}`);
      return [...log];
    },
    hang: (_: undefined, { signal }: CallContext) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          log.push(`aborted: ${signal.reason.message}`);
          reject(signal.reason);
        });
      }),
    sleep: (milliseconds: number) =>
      new Promise<string>((resolve) => {
        setTimeout(resolve, milliseconds, 'awake');
      }),
    spin(milliseconds: number) {
      const end = performance.now() + milliseconds;
      while (performance.now() < end);
    },
    deaf: () => new Promise<never>(() => {}),
    log: () => [...log],
    length: (data: ArrayBuffer) => data.byteLength,
    handOver(length: number, { transfer }: CallContext) {
      const data = new Float32Array(length).fill(7);
      transfer(data.buffer);
      return data;
    },
    explode: (message: string) =>
      new Promise<never>(() => {
        setImmediate(() => {
          throw new Error(message);
        });
      }),
    die: (code: number): never => process.exit(code),
    async busy({ milliseconds, products }: { milliseconds: number; products: number }) {
      const session = await host.createSession(busyModel(384, products));
      const store = host.createStore({ name: 'busy', parameters: [{ name: 'x', shape: [384, 384] }] });
      const times: number[] = [];
      for (const end = performance.now() + milliseconds; performance.now() < end; ) {
        const start = performance.now();
        await session.run({ x: store.tensor('x') });
        times.push(performance.now() - start);
        await host.yield();
      }
      await session.release();
      host.deleteStore('busy');
      return times;
    },
    async double() {
      const store = host.store('policy');
      const session = await host.createSession(scaleModel([3], 2));
      await session.run({ x: store.tensor('w') }, { into: { y: store.tensor('w', 'gradient') } });
      await session.release();
      return store.read('w', 'gradient');
    },
    makeStore(name: string) {
      host.createStore({ name, parameters: [{ name: 'w', shape: [1] }] });
    },
    close() {
      log.push('closed');
    },
  };
}

/** Methods of the program, for its callers. */
export type Echo = ReturnType<typeof echo>;
