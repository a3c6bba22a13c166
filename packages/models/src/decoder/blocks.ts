import type { OperatorSet, Value } from '@rlp/onnx';

import type { LinearLayer } from './layout.ts';

/**
 * What differs between the uses of a decoder: where its weights come from, how linear layers are computed (plain, adapted,
 * packed) and how attention remembers. `decoderHidden` is the same for all.
 */
export interface DecoderBlocks {
  /** Which operators composites are made of. */
  readonly ops: OperatorSet;
  /** A parameter's value, by its Hugging Face name. Called several times for a name, also while recomputing. */
  parameter(name: string): Value;
  /** Rows of the token table at `tokens` `[B, T]`: `[B·T, hidden]`. */
  embedTokens(table: string, tokens: Value): Value;
  /** Rows of the position table for every token: `[B·T, hidden]`. Asked of models with learned positions only. */
  embedPositions(table: string): Value;
  /** A linear layer applied to `x` `[B·T, inputs]`: `[B·T, outputs]`. */
  linear(x: Value, layer: LinearLayer): Value;
  /**
   * Causal self-attention of layer `layer`. Rotary positions are this method's business, because fused decoding kernels
   * rotate by themselves; norms of queries and keys are done before.
   *
   * @param query - `[B·T, heads · headDimension]`
   * @param key - `[B·T, keyValueHeads · headDimension]`
   * @param value - as `key`
   * @returns `[B·T, heads · headDimension]`
   */
  attend(layer: number, query: Value, key: Value, value: Value): Value;
  /** Wraps a layer's computation, to recompute it in the backward pass for example. Default: `build(x)`. */
  aroundLayer?(layer: number, x: Value, build: (x: Value) => Value): Value;
}
