import type { EngineHost } from '@rlp/onnx/runtime';
import { KeyValueCache } from './cache.ts';
import type { DecoderOptions } from './cached-decoder.ts';
import { StoredDecoder } from './stored-decoder.ts';

/** What the decoders have in common that keep their cache in host memory. */
export abstract class HostDecoder extends StoredDecoder {
  protected readonly cache: KeyValueCache;

  constructor(host: EngineHost, options: DecoderOptions) {
    super(host, options);
    this.cache = new KeyValueCache(options.config, options.maxSequences, options.contextLength);
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
