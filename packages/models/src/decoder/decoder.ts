import { requireFields } from '@rlp/core';
import type { Value } from '@rlp/onnx';
import { gelu, layerNorm, rmsNorm, silu, swiglu } from '@rlp/onnx/layers';
import {
  add,
  cast,
  div,
  mul,
  reshape,
  scatterElements,
  softmax,
  split,
  stopGradient,
  sub,
  sum,
  topK,
} from '@rlp/onnx/ops';

import type { Activation, ModelConfig } from '../config/model-config.ts';
import type { DecoderBlocks } from './blocks.ts';
import {
  type DecoderLayer,
  decoderLayout,
  type ExpertsLayer,
  type FeedForwardLayer,
  type NormLayer,
} from './layout.ts';

/**
 * The hidden states of a decoder-only transformer, after the final norm: `[tokens, hidden]`, or `[picked, hidden]` if the blocks pick rows.
 *
 *     x ← embed(tokens) (+ embed(positions))
 *     x ← x + output(attend(query, key, value of norm(x)))        for each layer
 *     x ← x + down(activation(gate(norm(x))) · up(norm(x)))
 *     norm(x)
 *
 * OLMo 2 normalizes the outputs of both halves instead of their inputs, Gemma 3 does both.
 *
 * Dropout is not applied, as in evaluation. For log-probabilities use `tokenLogprobs` or `getLogits` of `@rlp/onnx` with
 * the matrix named by `headParameter(config)`.
 *
 * @param tokens - int64 `[B, T]`.
 * @throws ArgumentError if the blocks give values of other shapes.
 */
export function decoderHidden(config: ModelConfig, tokens: Value, blocks: DecoderBlocks): Value {
  const layout = decoderLayout(config);
  requireFields('decoderHidden', { embedTokens: 'function', attend: 'function' }, blocks);
  let x = blocks.embedTokens(layout.embedding, tokens);
  if (config.embeddingScale !== undefined) x = mul(x, config.embeddingScale);
  if (layout.positionEmbedding !== undefined) x = add(x, blocks.embedPositions(layout.positionEmbedding));
  for (const [index, layer] of layout.layers.entries()) {
    const isLast = index === layout.layers.length - 1;
    const pick = (isLast && blocks.pick) || ((rows: Value) => rows);
    const build = (input: Value) => decoderLayer(config, blocks, { layer, index, pick }, input);
    x = blocks.aroundLayer ? blocks.aroundLayer(index, x, build) : build(x);
  }
  return normalize(config, { ...blocks, innerType: undefined }, layout.finalNorm, x);
}

/** A layer, and what picks the rows whose outputs are wanted. */
interface PlacedLayer {
  readonly layer: DecoderLayer;
  readonly index: number;
  readonly pick: (x: Value) => Value;
}

function decoderLayer(
  config: ModelConfig,
  blocks: DecoderBlocks,
  { layer, index, pick }: PlacedLayer,
  x: Value,
): Value {
  const normed = normalize(config, blocks, layer.attentionNorm, x);
  const [query, key, value] = attentionInputs(config, blocks, { layer, pick }, normed);
  const attended = blocks.attend(
    index,
    normalizeHeads(config, blocks, layer.queryNorm, query),
    normalizeHeads(config, blocks, layer.keyNorm, key),
    value,
  );
  const mixed = blocks.linear(attended, layer.attentionOutput);
  const y = joined(pick(x), normalize(config, blocks, layer.attentionOutputNorm, mixed));
  const given = normalize(config, blocks, layer.feedForwardNorm, y);
  const fed =
    'router' in layer.feedForward
      ? expertsSum(config, blocks, layer.feedForward, given)
      : feedForward(config, blocks, layer.feedForward, given);
  return joined(y, normalize(config, blocks, layer.feedForwardOutputNorm, fed));
}

/** A sum of the residual stream, in its element type. */
function joined(stream: Value, y: Value): Value {
  return add(stream, cast(y, stream.type));
}

function attentionInputs(
  config: ModelConfig,
  blocks: DecoderBlocks,
  { layer, pick }: Pick<PlacedLayer, 'layer' | 'pick'>,
  x: Value,
): readonly [Value, Value, Value] {
  const [first, second, third] = layer.attentionInputs;
  if (second && third) {
    return [blocks.linear(pick(x), first), blocks.linear(x, second), blocks.linear(x, third)];
  }
  const keys = config.keyValueHeads * config.headDimension;
  const sizes = [config.heads * config.headDimension, keys, keys];
  const [query, key, value] = split(blocks.linear(x, first), sizes, 1);
  return [pick(query!), key!, value!];
}

/**
 * `Σ w_e · expert_e(x)` with `w = softmax(router(x))`, 0 but for the largest `perToken`. Of equal ones the first count.
 *
 * Every expert is computed for every token, because which ones count is known only at run time. Scores of the router are not rounded to
 * float16, in which many are equal.
 */
function expertsSum(config: ModelConfig, blocks: DecoderBlocks, layer: ExpertsLayer, x: Value): Value {
  const { perToken, normalization, count } = config.experts!;
  const shares = softmax(blocks.linear(x, layer.router, 'float32'));
  const { values, indices } = topK(shares, perToken);
  const others = scatterElements(shares, indices, stopGradient(mul(values, 0)), { axis: 1 });
  const chosen = sub(shares, others);
  const weights =
    normalization === 'chosen' ? div(chosen, sum(chosen, { axes: -1, keepAxes: 'yes' })) : chosen;
  const columns = split(cast(weights, x.type), new Array<number>(count).fill(1), 1);
  const parts = layer.experts.map((expert, index) =>
    mul(feedForward(config, blocks, expert, x), columns[index]!),
  );
  return parts.reduce((total, part) => add(total, part));
}

function feedForward(config: ModelConfig, blocks: DecoderBlocks, layer: FeedForwardLayer, x: Value): Value {
  const { type, activation } = config.feedForward;
  const [first, second] = layer.inputs;
  if (type === 'plain')
    return blocks.linear(activate(activation, blocks.linear(x, first), blocks), layer.down);
  const [gate, up] = second
    ? [blocks.linear(x, first), blocks.linear(x, second)]
    : split(blocks.linear(x, first), [first.outputs / 2, first.outputs / 2], 1);
  const gated =
    activation === 'silu'
      ? swiglu(gate!, up!, { ops: blocks.ops })
      : mul(activate(activation, gate!, blocks), up!);
  return blocks.linear(gated, layer.down);
}

function activate(activation: Activation, x: Value, { ops, innerType }: DecoderBlocks): Value {
  if (activation === 'silu') return silu(x, { ops });
  // Squares of its inputs exceed float16.
  const wide = innerType ? cast(x, 'float32') : x;
  return cast(gelu(wide, { ops, approximate: activation === 'gelu-tanh' ? 'tanh' : 'none' }), x.type);
}

/** The norm of `x` in the inner type, computed in that of the weight. Without a norm, `x` itself. */
function normalize(config: ModelConfig, blocks: DecoderBlocks, norm: NormLayer | undefined, x: Value): Value {
  if (norm === undefined) return x;
  const { epsilon, offset } = config.norm;
  const options = { epsilon, ops: blocks.ops };
  const weight = blocks.parameter(norm.weight);
  const wide = cast(x, weight.type);
  const y =
    norm.bias === undefined
      ? rmsNorm(wide, offset ? add(weight, offset) : weight, options)
      : layerNorm(wide, weight, blocks.parameter(norm.bias), options);
  return cast(y, blocks.innerType ?? x.type);
}

/** RMS norm of each head on its own, or of all together if the norm is as wide as they are. */
function normalizeHeads(
  config: ModelConfig,
  blocks: DecoderBlocks,
  norm: NormLayer | undefined,
  x: Value,
): Value {
  if (norm === undefined) return x;
  const [rows, width] = x.shape as readonly [number | string, number];
  const heads = reshape(x, [rows, width / norm.size, norm.size]);
  return reshape(normalize(config, blocks, norm, heads), [rows, width]);
}
