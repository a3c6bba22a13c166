import type { EngineHost, Tensor, Tensors } from '@rlp/onnx/runtime';
import { KeyValueCache } from './cache.ts';
import type { DecoderOptions } from './cached-decoder.ts';
import { cacheNames, partName } from './fused-graph.ts';
import { StoredDecoder } from './stored-decoder.ts';

/** Base of the decoders that keep their cache in host memory. */
export abstract class HostDecoder extends StoredDecoder {
  protected readonly cache: KeyValueCache;

  constructor(host: EngineHost, options: DecoderOptions) {
    super(host, options);
    this.cache = new KeyValueCache(options.config, options.maxSequences, options.contextLength);
  }

  /**
   * Keys and values of consecutive rows. The graph reads and writes the same memory.
   *
   * @param parts - Parts of the tokens that attend one after another. Default 1.
   */
  protected rowTensors(
    firstRow: number,
    count: number,
    parts = 1,
  ): { readonly feeds: Tensors; readonly into: Tensors } {
    const feeds: Record<string, Tensor> = {};
    const into: Record<string, Tensor> = {};
    for (let layer = 0; layer < this.options.config.layers; layer++) {
      const keys = this.cache.tensor(this.cache.keys[layer]!, firstRow, count);
      const values = this.cache.tensor(this.cache.values[layer]!, firstRow, count);
      feeds[cacheNames.key(layer)] = keys;
      feeds[cacheNames.value(layer)] = values;
      // The whole cache comes last, for a runtime that copies outputs in this order.
      for (let part = 0; part < parts - 1; part++) {
        into[partName(cacheNames.newKey(layer), part)] = keys;
        into[partName(cacheNames.newValue(layer), part)] = values;
      }
      into[cacheNames.newKey(layer)] = keys;
      into[cacheNames.newValue(layer)] = values;
    }
    return { feeds, into };
  }

  copyRow(from: number, to: number, length: number): void {
    this.cache.copyRow(from, to, length);
  }

  get positionBytes(): number {
    return this.cache.positionBytes;
  }

  saveRow(row: number, position: number, into: Float32Array): void {
    this.cache.moveBlock('save', row, position, into);
  }

  loadRow(row: number, position: number, from: Float32Array): void {
    this.cache.moveBlock('load', row, position, from);
  }
}
