import { parseModelConfig } from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';
import {
  type EngineHost,
  type EngineSession,
  type SessionOptions,
  Tensor,
  type Tensors,
} from '@rlp/onnx/runtime';
import { describe, expect, it } from 'vitest';
import { tinyConfigs } from '../testing/tiny-models.ts';
import type { DecoderOptions } from './cached-decoder.ts';
import { DeviceDecoder } from './device-decoder.ts';
import { FusedDecoder } from './fused-decoder.ts';
import { StandardDecoder } from './standard-decoder.ts';

const config = parseModelConfig(tinyConfigs.llama, 'test');
const options: DecoderOptions = {
  ...{ config, store: 'policy', contextLength: 16, maxSequences: 300 },
  ...{ weights: 'shared', operators: 'fused' },
};

/** An engine that compiles nothing, and writes down what it is asked for. */
class RecordingHost {
  readonly residency = 'host';
  readonly sessions: (SessionOptions & { state: 'open' | 'released' })[] = [];
  readonly runs: { readonly feeds: Tensors; readonly into: Tensors | undefined; readonly fetch: unknown }[] =
    [];
  failures = 0;
  readonly #parameters = parameterSpecs(config);

  store() {
    const size = (name: string) => this.#parameters.find((each) => each.name === name)!.shape;
    const data = (name: string) => new Float32Array(size(name).reduce((a, b) => a * b, 1));
    const tensor = (name: string) => new Tensor('float32', data(name), [...size(name)]);
    return { name: 'policy', residency: 'host', parameters: this.#parameters, data, tensor };
  }

  async createSession(_model: Uint8Array, given: SessionOptions): Promise<EngineSession> {
    if (this.failures-- > 0) throw new Error('out of memory');
    const session = { ...given, state: 'open' as 'open' | 'released' };
    this.sessions.push(session);
    return {
      ...{ inputNames: ['tokens'], outputNames: ['probabilities', 'logits'] },
      run: async (feeds, { into, fetch } = {}) => {
        this.runs.push({ feeds, into, fetch });
        return {};
      },
      release: async () => {
        session.state = 'released';
      },
    };
  }
}

function start(change: Partial<DecoderOptions> = {}) {
  const host = new RecordingHost();
  return { host, decoder: new FusedDecoder(host as unknown as EngineHost, { ...options, ...change }) };
}
const optimized = ({ sessions }: RecordingHost) => sessions.map(({ graphOptimization }) => graphOptimization);
/** A step of one token in each of the first rows. */
const step = (decoder: FusedDecoder, count: number, logits: 'needed' | 'unneeded' = 'unneeded') => {
  const each = <Value>(value: Value) => Array.from({ length: count }, () => value);
  return decoder.decode({ tokens: each(3), positions: each(5), temperatures: each(1) }, logits);
};

describe('FusedDecoder', () => {
  it.each([
    // Operands that are swapped must not be swapped back.
    ['shared', 300, ['all', 'none']],
    ['shared', 2, ['all', 'none']],
    ['shared', 1, ['all', 'all']],
    // The weights of one session compute prompts and tokens.
    ['packed', 300, ['all']],
    // Nothing of them is computed with operands swapped.
    ['int8', 32, ['all']],
    ['int8', 1, ['all']],
  ] as const)(
    'opens the sessions that %s weights need for %i sequences',
    async (weights, maxSequences, expected) => {
      const { host, decoder } = start({ weights, maxSequences });
      await decoder.prepare();
      await step(decoder, 1);
      expect(optimized(host)).toEqual(expected);
      expect(host.sessions.map(({ spinMicroseconds }) => spinMicroseconds)).toEqual(expected.map(() => 100));
    },
  );

  it('swaps the operands of up to 32 rows', async () => {
    const { host, decoder } = start();
    for (const count of [1, 32]) await step(decoder, count);
    expect(optimized(host)).toEqual(['none']);
    for (const count of [33, 300]) await step(decoder, count);
    expect(optimized(host)).toEqual(['none', 'all']);
  });

  it('opens a session again after a failure, and after it was closed', async () => {
    const { host, decoder } = start();
    host.failures = 1;
    await expect(step(decoder, 1)).rejects.toThrow('out of memory');
    await step(decoder, 1);
    await decoder.close();
    expect(host.sessions.map(({ state }) => state)).toEqual(['released']);
    await step(decoder, 1);
    expect(host.sessions.map(({ state }) => state)).toEqual(['released', 'open']);
  });

  it('builds packed weights in again, and reads shared ones in place', async () => {
    for (const [weights, sessions] of [
      ['shared', ['open', 'open']],
      ['packed', ['released', 'open']],
      ['int8', ['released', 'open']],
    ] as const) {
      const { host, decoder } = start({ weights });
      await decoder.prepare();
      await decoder.refresh();
      expect(host.sessions.map(({ state }) => state)).toEqual(sessions);
    }
  });

  it('gives the cache after the last part of a prompt as the last output of its memory', async () => {
    const { host, decoder } = start({ contextLength: 200, maxSequences: 2 });
    const extend = (length: number) =>
      decoder.extend(
        { row: 0, length: 7, tokens: Array(length).fill(3), temperature: 1, last: 1 },
        'unneeded',
      );
    await extend(95);
    await extend(96);
    const [whole, inParts] = host.runs.map(({ into }) => Object.entries(into!));
    const lastOf = (outputs: typeof whole) => [
      ...new Map(outputs!.map(([name, { data }]) => [data, name])).values(),
    ];
    expect(whole).not.toContainEqual([expect.stringContaining('part'), expect.anything()]);
    expect(lastOf(inParts)).toEqual(lastOf(whole));
    expect(inParts).toHaveLength(whole!.length + 3 * 2 * config.layers);
  });

  it('feeds the same views of its cache again, and forgets them all after 256', async () => {
    const { host, decoder } = start();
    for (const count of [1, 2, 1]) await step(decoder, count);
    const views = () => host.runs.map(({ feeds }) => feeds['key.1']!);
    expect(views()[2]).toBe(views()[0]);
    expect(views()[1]!.dims).toEqual([2, config.keyValueHeads, 16, config.headDimension]);
    expect(host.runs[0]!.into!['new_value.1']).toBe(host.runs[0]!.feeds['value.1']);
    for (let count = 3; count <= 256; count++) await step(decoder, count);
    await step(decoder, 1);
    expect(views().at(-1)).toBe(views()[0]);
    await step(decoder, 257);
    await step(decoder, 1);
    expect(views().at(-1)).not.toBe(views()[0]);
  });

  it('returns logits only if they are needed, of the rows that were asked for', async () => {
    const { host, decoder } = start();
    const size = config.vocabularySize;
    const large = await step(decoder, 3, 'needed');
    expect([large.probabilities.length, large.logits!.length]).toEqual([3 * size, 3 * size]);
    const small = await step(decoder, 2);
    expect([small.probabilities.length, small.logits]).toEqual([2 * size, undefined]);
    // Memory for the largest step serves smaller ones.
    expect(small.probabilities.buffer).toBe(large.probabilities.buffer);
    const again = await step(decoder, 1, 'needed');
    expect(again.logits!.buffer).toBe(large.logits!.buffer);
    expect(host.runs.map(({ into }) => Object.keys(into!).slice(0, 2))).toEqual([
      ['probabilities', 'logits'],
      ['probabilities', 'new_key.0'],
      ['probabilities', 'logits'],
    ]);
    expect(host.runs.map(({ fetch }) => fetch)).toEqual([['less_total'], ['less_total'], ['less_total']]);
  });
});

describe('DeviceDecoder', () => {
  it('knows the size of a position, and keeps none for later prompts', () => {
    const decoder = new DeviceDecoder(new RecordingHost() as unknown as EngineHost, options);
    // Keys and values of two layers with two heads of eight numbers.
    expect(decoder.positionBytes).toBe(2 * 2 * 2 * 8 * 4);
    for (const move of [() => decoder.saveRow(), () => decoder.loadRow()]) {
      expect(move).toThrow(
        'keys and values on a device cannot be kept for later prompts; set prefixCacheBytes to 0',
      );
    }
  });
});

describe('StandardDecoder', () => {
  it('opens its session again after a failure, and after it was closed', async () => {
    const host = new RecordingHost();
    const decoder = new StandardDecoder(host as unknown as EngineHost, { ...options, operators: 'standard' });
    await decoder.close();
    host.failures = 1;
    await expect(decoder.prepare()).rejects.toThrow('out of memory');
    await decoder.prepare();
    await decoder.prepare();
    await decoder.close();
    await decoder.prepare();
    expect(host.sessions.map(({ state }) => state)).toEqual(['released', 'open']);
  });
});
