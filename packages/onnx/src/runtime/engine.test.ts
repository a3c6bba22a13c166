import { ArgumentError, EngineError, OptionsError } from '@rlp/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  createEngine,
  type Engine,
  type ProgramReference,
  programUrl,
  type RunningProgram,
} from '../runtime.ts';
import type { Echo } from './testing/echo.program.ts';

const program: ProgramReference<Echo> = { url: programUrl(import.meta.url, './testing/echo.program') };

describe.each(['inline', 'worker'] as const)('engine (%s)', (thread) => {
  let engine: Engine;
  let echo: RunningProgram<Echo>;

  beforeAll(async () => {
    engine = await createEngine({ thread, threads: 2 });
    echo = await engine.start(program, { greeting: 'Hello' });
  });
  afterAll(() => engine.close());

  it('says what it runs on', () => {
    expect(engine).toMatchObject({ executionProvider: 'cpu', threads: 2 });
  });

  it('passes arguments and results', async () => {
    expect(await echo.call('greet', 'world')).toBe('Hello, world');
  });

  it('starts calls in order and interleaves them where they wait', async () => {
    const [first] = await Promise.all([echo.call('begin', 'a'), echo.call('begin', 'b')]);
    expect(first).toEqual(['begin a', 'begin b', 'end b', 'end a']);
  });

  it.each([
    ['argument', ArgumentError, 'no good'],
    ['options', OptionsError, 'echo: invalid options\n  - a: bad\n  - b: worse'],
    ['text', Error, 'just text'],
    ['textless', Error, '[object Object]'],
  ] as const)('passes errors with class and message: %s', async (kind, type, message) => {
    const error = await echo.call('fail', kind).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toBe(message);
    if (error instanceof OptionsError) expect(error.issues).toEqual(['a: bad', 'b: worse']);
  });

  it('passes causes, and names of classes that it does not know', async () => {
    const error = (await echo.call('fail', 'cause').catch((thrown: unknown) => thrown)) as Error;
    expect(error.cause).toBeInstanceOf(RangeError);
    expect((error.cause as Error).message).toBe('inner');
    await expect(echo.call('fail', 'custom')).rejects.toMatchObject({ name: 'CustomError', message: 'mine' });
  });

  it('names the methods there are', async () => {
    const unknown = echo as unknown as RunningProgram<{ shout: () => void }>;
    await expect(unknown.call('shout', undefined)).rejects.toThrow(
      /no method named "shout", expected one of: greet, /,
    );
    const inherited = echo as unknown as RunningProgram<{ toString: () => string }>;
    await expect(inherited.call('toString', undefined)).rejects.toThrow(ArgumentError);
  });

  it('rejects what cannot be cloned, either way', async () => {
    const wrong = (() => 1) as unknown as string;
    await expect(echo.call('greet', wrong)).rejects.toThrow(/argument cannot be sent/);
    await expect(echo.call('uncloneable', undefined)).rejects.toThrow(/result of "uncloneable" cannot leave/);
  });

  it('delivers events in order, before the result', async () => {
    const events: number[] = [];
    expect(await echo.call('count', 5, { onEvent: (event: number) => events.push(event) })).toBe(5);
    expect(events).toEqual([0, 1, 2, 3, 4]);
  });

  it('ends a call whose listener throws', async () => {
    const onEvent = () => {
      throw new RangeError('listener');
    };
    await expect(echo.call('count', 1e6, { onEvent })).rejects.toThrow('listener');
  });

  it('aborts', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = echo.call('hang', undefined, { signal: controller.signal });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(await echo.call('log', undefined)).toContain('aborted: enough');
    await expect(echo.call('hang', undefined, { signal: controller.signal })).rejects.toBe(reason);
  });

  it('aborts work that yields', async () => {
    const signal = AbortSignal.timeout(30);
    await expect(echo.call('count', 1e9, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await echo.call('greet', 'again')).toBe('Hello, again');
  });

  it('hands buffers over', async () => {
    const data = new ArrayBuffer(1024);
    expect(await echo.call('length', data, { transfer: [data] })).toBe(1024);
    expect(data.byteLength).toBe(0);
    expect(await echo.call('handOver', 3)).toEqual(Float32Array.of(7, 7, 7));
  });

  it('keeps stores that programs read and write in place', async () => {
    const parameters = [
      { name: 'w', shape: [3] },
      { name: 'v', shape: [2, 2] },
    ];
    await engine.createStore({ name: 'policy', parameters, slots: ['gradient'] });
    expect(engine.hasStore('policy')).toBe(true);
    await engine.writeStore('policy', new Map([['w', { shape: [3], data: Float32Array.of(1, 2, 3) }]]));
    expect(await echo.call('double', undefined)).toEqual(Float32Array.of(2, 4, 6));
    expect(await engine.readStore('policy', 'gradient')).toEqual(
      new Map([
        ['w', { shape: [3], data: Float32Array.of(2, 4, 6) }],
        ['v', { shape: [2, 2], data: new Float32Array(4) }],
      ]),
    );
    await engine.deleteStore('policy');
    expect(engine.hasStore('policy')).toBe(false);
    await expect(engine.readStore('policy')).rejects.toThrow(
      new EngineError('no store named "policy", there are none'),
    );
  });

  it('fills a new store piece by piece, and keeps none that it cannot fill', async () => {
    const parameters = [
      { name: 'large', shape: [5, 2 ** 20] },
      { name: 'empty', shape: [0] },
      { name: 'small', shape: [2] },
    ];
    const large = Float32Array.from({ length: 5 * 2 ** 20 }, (_, index) => index % 9973);
    // A view: only its own numbers are sent.
    const small = Float32Array.of(7, 8, 9, 10).subarray(1, 3);
    const contents = new Map([
      ['large', { shape: [5, 2 ** 20], data: large }],
      ['empty', { shape: [0], data: new Float32Array(0) }],
      ['small', { shape: [2], data: small }],
    ]);
    await engine.createStore({ name: 'filled', parameters, slots: ['gradient'] }, contents);
    const stored = await engine.readStore('filled');
    expect(Buffer.compare(bytesOf(stored.get('large')!.data), bytesOf(large))).toBe(0);
    expect(stored.get('small')!.data).toEqual(Float32Array.of(8, 9));
    expect(large).toHaveLength(5 * 2 ** 20);
    await engine.deleteStore('filled');
    const wrong = contents.set('small', { shape: [3], data: new Float32Array(3) });
    await expect(engine.createStore({ name: 'filled', parameters }, wrong)).rejects.toThrow(
      new ArgumentError('createStore "filled": parameter "small" has shape [2], got [3]'),
    );
    expect(engine.hasStore('filled')).toBe(false);
  });

  it('remembers what a store was created with', async () => {
    const tensor = (values: readonly number[]) =>
      new Map([['w', { shape: [2], data: Float32Array.from(values) }]]);
    const parameters = [
      { name: 'w', shape: [2] },
      { name: 'head', shape: [1] },
    ];
    const contents = tensor([1, 2]).set('head', { shape: [1], data: Float32Array.of(3) });
    await engine.createStore({ name: 'made', parameters }, contents);
    await engine.writeStore('made', tensor([5, 6]));
    expect(engine.wasCreatedWith('made', tensor([1, 2]))).toBe(true);
    expect(engine.wasCreatedWith('made', tensor([5, 6]))).toBe(false);
    await engine.deleteStore('made');
    await engine.createStore({ name: 'made', parameters });
    expect(engine.wasCreatedWith('made', tensor([5, 6]))).toBe(true);
    await engine.deleteStore('made');
  });

  it('counts a store that is on its way, and starts programs once it is complete', async () => {
    const data = new Float32Array(9 * 2 ** 20).fill(1);
    const contents = new Map([['w', { shape: [data.length], data }]]);
    const order: string[] = [];
    const spec = { name: 'coming', parameters: [{ name: 'w', shape: [data.length] }] };
    const creating = engine.createStore(spec, contents).then(() => order.push('store'));
    expect(engine.hasStore('coming')).toBe(true);
    expect(engine.wasCreatedWith('coming', new Map([['w', { shape: [1], data }]]))).toBe(false);
    const starting = engine.start(program, { greeting: 'Hello' }).then(() => order.push('program'));
    await expect(engine.createStore(spec)).rejects.toThrow('a store named "coming" exists already');
    await Promise.all([creating, starting]);
    expect(order).toEqual(['store', 'program']);
    await engine.deleteStore('coming');
    await expect(engine.createStore({ name: 'none', parameters: [] })).rejects.toThrow(OptionsError);
    expect(engine.hasStore('none')).toBe(false);
  });

  it('hears of stores that programs make', async () => {
    await echo.call('makeStore', 'made inside');
    expect(engine.hasStore('made inside')).toBe(true);
    await expect(
      engine.createStore({ name: 'made inside', parameters: [{ name: 'w', shape: [1] }] }),
    ).rejects.toThrow(EngineError);
    await engine.deleteStore('made inside');
  });

  it('stops programs', async () => {
    const second = await engine.start(program, { greeting: 'Hi' });
    const call = second.call('hang', undefined);
    const rejected = expect(call).rejects.toThrow('the program was stopped');
    await second.stop();
    await second.stop();
    await rejected;
    await expect(second.call('greet', 'you')).rejects.toThrow(EngineError);
  });

  it('says why a program does not start', async () => {
    const missing = { url: programUrl(import.meta.url, './testing/none.program') };
    await expect(engine.start(missing, {})).rejects.toThrow(/none\.program/);
    const noFactory = { url: programUrl(import.meta.url, './testing/models') };
    await expect(engine.start(noFactory, {})).rejects.toThrow(/default export must be a program factory/);
  });

  it('is empty when asked for a profile that it was not told to keep', async () => {
    expect(await engine.profile()).toEqual([]);
  });
});

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
