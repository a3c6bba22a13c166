import type { TokenId } from '@rlp/core';
import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { LogitsNeed, ManagedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import { cacheNames } from './fused-graph.ts';
import { HostDecoder } from './host-decoder.ts';
import { standardGraph } from './standard-graph.ts';
import { inverseTemperatures, type Step } from './stored-decoder.ts';

const BLOCKED = -1e30;

/** Lengths of prompts are padded to a multiple of this. */
const PADDING = 16;

/** New tokens of some rows. */
interface StepInputs {
  readonly firstRow: number;
  /** Tokens to append, by row. */
  readonly tokens: readonly (readonly TokenId[])[];
  /** Tokens each row holds already. */
  readonly lengths: readonly number[];
  /** Of the last tokens of each row whose distributions are wanted. */
  readonly temperatures: readonly number[];
}

/**
 * Decoding with operators of the ONNX standard, on any execution provider. The cache stays in host memory and is fed
 * with every step: the slow but portable way, and the oracle of the fast one.
 */
export class StandardDecoder extends HostDecoder implements ManagedDecoder {
  #step: Promise<Step> | undefined;

  async prepare(): Promise<void> {
    await this.#ready();
  }

  prefill(
    firstRow: number,
    prompts: readonly (readonly TokenId[])[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    return this.#run({ firstRow, tokens: prompts, lengths: prompts.map(() => 0), temperatures }, logits);
  }

  decode(
    tokens: readonly TokenId[],
    positions: readonly number[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const each = tokens.map((token) => [token]);
    return this.#run({ firstRow: 0, tokens: each, lengths: positions, temperatures }, logits);
  }

  extend(
    row: number,
    length: number,
    tokens: readonly TokenId[],
    temperature: number,
    logits: LogitsNeed,
    last: number,
  ): Promise<NextTokenDistributions> {
    const temperatures = new Array<number>(last).fill(temperature);
    const inputs = { firstRow: row, tokens: [tokens], lengths: [length], temperatures };
    return this.#run(inputs, logits);
  }

  async close(): Promise<void> {
    const step = await this.#step;
    this.#step = undefined;
    await step?.session.release();
  }

  async #run(inputs: StepInputs, need: LogitsNeed): Promise<NextTokenDistributions> {
    const { session, parameters } = await this.#ready();
    const feeds = { ...parameters(), ...this.#cacheFeeds(inputs), ...stepFeeds(inputs, this.contextLength) };
    const wanted = Object.entries(feeds).filter(([name]) => session.inputNames.includes(name));
    const fetch = session.outputNames.filter((name) => name !== 'logits' || need === 'needed');
    const outputs = await session.run(Object.fromEntries(wanted), { fetch });
    for (let layer = 0; layer < this.options.config.layers; layer++) {
      const newKeys = floats(outputs, cacheNames.newKey(layer));
      this.cache.write(this.cache.keys[layer]!, newKeys, inputs.firstRow, inputs.lengths);
      const newValues = floats(outputs, cacheNames.newValue(layer));
      this.cache.write(this.cache.values[layer]!, newValues, inputs.firstRow, inputs.lengths);
    }
    return {
      probabilities: floats(outputs, 'probabilities'),
      logits: need === 'needed' ? floats(outputs, 'logits') : undefined,
    };
  }

  #cacheFeeds({ firstRow, tokens }: StepInputs): Tensors {
    const feeds: Record<string, Tensor> = {};
    for (let layer = 0; layer < this.options.config.layers; layer++) {
      const tensor = (array: Float32Array) => this.cache.tensor(array, firstRow, tokens.length);
      feeds[cacheNames.key(layer)] = tensor(this.cache.keys[layer]!);
      feeds[cacheNames.value(layer)] = tensor(this.cache.values[layer]!);
    }
    return feeds;
  }

  #ready(): Promise<Step> {
    const { config, contextLength } = this.options;
    this.#step ??= this.open((parameter, product) =>
      standardGraph({ config, contextLength, parameter, product }),
    );
    this.#step.catch(() => {
      this.#step = undefined;
    });
    return this.#step;
  }
}

function floats(outputs: Tensors, name: string): Float32Array {
  return outputs[name]!.data as Float32Array;
}

/** A device compiles programs for each length, so steps of more than one token have few of them. */
function paddedTime(time: number): number {
  return time === 1 ? 1 : PADDING * Math.ceil(time / PADDING);
}

function stepFeeds({ tokens, lengths, temperatures }: StepInputs, contextLength: number): Tensors {
  const count = tokens.length;
  const time = paddedTime(Math.max(...tokens.map((row) => row.length)));
  const keys = contextLength + time;
  const ids = new BigInt64Array(count * time);
  const positions = new BigInt64Array(count * time);
  const mask = new Float32Array(count * time * keys).fill(BLOCKED);
  for (const [row, added] of tokens.entries()) {
    ids.set(added.map(BigInt), row * time);
    for (let offset = 0; offset < time; offset++) {
      positions[row * time + offset] = BigInt(Math.min(lengths[row]! + offset, contextLength - 1));
      const start = (row * time + offset) * keys;
      mask.fill(0, start, start + lengths[row]!);
      mask.fill(0, start + contextLength, start + contextLength + offset + 1);
    }
  }
  const each = temperatures.length / count;
  const rows = tokens.flatMap((added, row) =>
    Array.from({ length: each }, (_, index) => BigInt(row * time + added.length - each + index)),
  );
  return {
    tokens: new Tensor('int64', ids, [count, time]),
    positions: new Tensor('int64', positions, [count, time]),
    rows: new Tensor('int64', BigInt64Array.from(rows), [rows.length]),
    mask: new Tensor('float32', mask, [count, 1, time, keys]),
    inverse_temperature: inverseTemperatures(temperatures),
  };
}
