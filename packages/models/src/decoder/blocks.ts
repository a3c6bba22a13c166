import type { DataType, Value } from '@rlp/onnx';
import type { OperatorSet } from '@rlp/onnx/layers';

import type { LinearLayer } from './layout.ts';

/**
 * The parts of a decoder that differ between training and generation.
 *
 * They are the source of its weights, its linear layers (plain, adapted, packed) and the memory of its attention.
 * `decoderHidden` is the same for all.
 */
export interface DecoderBlocks {
  /** Operators that composites are built from. */
  readonly ops: OperatorSet;
  /** Element type between the norms and the sums of the residual stream. Default: that of the stream. */
  readonly innerType?: DataType | undefined;
  /** A parameter's value, by its Hugging Face name. Called several times for a name, also while recomputing. */
  parameter(name: string): Value;
  /** Rows of the token table at `tokens`, `[tokens, hidden]`. `tokens` may be a matrix. */
  embedTokens(table: string, tokens: Value): Value;
  /** Rows of the position table for every token: `[tokens, hidden]`. Called for models with learned positions only. */
  embedPositions(table: string): Value;
  /** A linear layer applied to `x` `[tokens, inputs]`: `[tokens, outputs]`. `type` is what training computes it in. Default: the inner type. */
  linear(x: Value, layer: LinearLayer, type?: DataType): Value;
  /**
   * Causal self-attention of layer `layer`. This method also applies rotary positions, because fused decoding
   * kernels rotate themselves. Queries and keys are already normalised.
   *
   * @param query - `[tokens, heads · headDimension]`
   * @param key - `[tokens, keyValueHeads · headDimension]`
   * @param value - as `key`
   * @returns `[tokens, heads · headDimension]`, or `[picked, …]` if `query` has the picked rows only
   */
  attend(layer: number, query: Value, key: Value, value: Value): Value;
  /**
   * Picks the rows `[picked, width]` of `x` `[tokens, width]` whose hidden states are wanted. The last layer then computes only keys and
   * values of the others. Default: all rows.
   */
  pick?(x: Value): Value;
  /** Wraps a layer's computation, to recompute it in the backward pass for example. Default: `build(x)`. */
  aroundLayer?(layer: number, x: Value, build: (x: Value) => Value): Value;
}
