import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { LogitsNeed, ManagedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import { cacheNames } from './fused-graph.ts';
import { HostDecoder } from './host-decoder.ts';
import { standardGraph } from './standard-graph.ts';
import {
  feedsOf,
  floats,
  inverseTemperatures,
  outputRows,
  paddedTime,
  type StepInputs,
  type StepKind,
} from './step-inputs.ts';

const BLOCKED = -1e30;

/**
 * Decoding with operators of the ONNX standard, on any execution provider. The cache stays in host memory and is an input of every step.
 * Slow but portable, and the reference for the fast decoders.
 */
export class StandardDecoder extends HostDecoder implements ManagedDecoder {
  async prepare(): Promise<void> {
    await this.#step();
  }

  protected async compute(
    _kind: StepKind,
    inputs: StepInputs,
    need: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const { session, parameters } = await this.#step();
    const cache = this.rowTensors(inputs.firstRow, inputs.tokens.length);
    const feeds = { ...parameters(), ...cache.feeds, ...stepFeeds(inputs, this.contextLength) };
    const fetch = session.outputNames.filter((name) => name !== 'logits' || need === 'needed');
    const outputs = await session.run(feedsOf(session, feeds), { fetch });
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

  #step() {
    const { config, contextLength } = this.options;
    return this.step('any', (weights) => standardGraph({ config, contextLength, ...weights }));
  }
}

function stepFeeds(inputs: StepInputs, contextLength: number): Tensors {
  const { tokens, lengths } = inputs;
  const count = tokens.length;
  const time = paddedTime(inputs);
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
  return {
    tokens: new Tensor('int64', ids, [count, time]),
    positions: new Tensor('int64', positions, [count, time]),
    rows: outputRows(inputs, time),
    mask: new Tensor('float32', mask, [count, 1, time, keys]),
    inverse_temperature: inverseTemperatures(inputs),
  };
}
