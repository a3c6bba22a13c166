import { ArgumentError, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { expectValues, widthOf } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { add, mul, sub } from '../ops/arithmetic.ts';
import { reciprocal, sqrt } from '../ops/elementwise.ts';
import { gemm } from '../ops/matrix.ts';
import { mean } from '../ops/reduction.ts';
import { reshape, sum } from '../ops/shape.ts';
import type { OperatorSet } from './variant.ts';

/** Options of {@link rmsNorm} and {@link layerNorm}. */
export interface NormalizationOptions {
  /** Added to the mean square or variance. Required. */
  readonly epsilon: number;
  /** Operators to build from. Default `'fused'`. */
  readonly ops?: OperatorSet;
}

const simplifiedLayerNormalizationOp = defineOp({ type: 'SimplifiedLayerNormalization' });
const layerNormalizationOp = defineOp({ type: 'LayerNormalization' });

/** `x` as a matrix with one row per position of the last axis, as wide as the weight. */
function asRows(operation: string, x: Value, weight: Value): { rows: Value; width: number } {
  const width = widthOf(operation, x);
  expectValues(operation, { weight });
  if (weight.shape.length === 1 && weight.shape[0] === width) return { rows: reshape(x, [-1, width]), width };
  throw new ArgumentError(
    `${operation}: the weight must be [${width}] for x of ${formatShape(x.shape)}, got ${formatShape(weight.shape)}`,
  );
}

/**
 * Root-mean-square normalisation over the last axis.
 *
 *     y = w ⊙ x / √(mean(x²) + ε)
 *
 * @param x - `[…, d]`
 * @param weight - `[d]`
 * @see Zhang & Sennrich 2019, https://arxiv.org/abs/1910.07467
 */
export function rmsNorm(x: Value, weight: Value, options: NormalizationOptions): Value {
  const { epsilon, ops = 'fused' } = requireFields('rmsNorm: options', {}, options);
  const { rows, width } = asRows('rmsNorm', x, weight);
  let scaleOf: () => Value;
  const [y] = customGradient(
    [rows, weight],
    () => {
      const forward = (ops === 'standard' ? standardRms : fusedRms)(rows, weight, { epsilon, ops });
      scaleOf = forward.scale;
      return [forward.y];
    },
    ([upstream], [needsX, needsWeight]) => {
      const weighted = mul(upstream!, rows);
      const scale = scaleOf();
      // ∂x = w ⊙ g / rms − x · Σ(g ⊙ w ⊙ x) / (d · rms³)
      const gradientOfX = () => {
        const projection = mul(gemm(weighted, reshape(weight, [width, 1])), 1 / width);
        const shared = mul(projection, mul(mul(scale, scale), scale));
        return sub(mul(mul(upstream!, weight), scale), mul(rows, shared));
      };
      const gradientOfWeight = () => reshape(gemm(weighted, scale, { transposeA: 'yes' }), [width]);
      return [needsX ? gradientOfX() : undefined, needsWeight ? gradientOfWeight() : undefined];
    },
  );
  if (ops !== 'standard') y.graph.rebuild(y, () => mul(mul(rows, scaleOf()), weight));
  return reshape(y, x.shape);
}

interface RmsParts {
  readonly y: Value;
  /** `1 / √(mean(x²) + ε)`, `[rows, 1]`. */
  readonly scale: () => Value;
}

type ResolvedOptions = Required<NormalizationOptions>;

/** WebGPU's kernel gives `y` only, so another set than `'fused'` computes the scale again, if it is asked for. */
function fusedRms(rows: Value, weight: Value, { epsilon, ops }: ResolvedOptions): RmsParts {
  const attributes = { axis: -1, epsilon: { float: epsilon }, stash_type: 1 };
  const { type, shape } = rows;
  const outputs = [
    { type, shape },
    { type, shape: [shape[0]!, 1] },
  ];
  const [y, scale] = rows.graph.apply(
    simplifiedLayerNormalizationOp,
    [rows, weight],
    attributes,
    ops === 'fused' ? outputs : outputs.slice(0, 1),
  );
  return { y: y!, scale: once(() => scale ?? rmsScale(rows, epsilon)) };
}

function standardRms(rows: Value, weight: Value, { epsilon }: ResolvedOptions): RmsParts {
  const scale = rmsScale(rows, epsilon);
  return { y: mul(mul(rows, scale), weight), scale: () => scale };
}

function rmsScale(rows: Value, epsilon: number): Value {
  return reciprocal(sqrt(add(mean(mul(rows, rows), { axes: 1, keepAxes: 'yes' }), epsilon)));
}

function once<Result>(compute: () => Result): () => Result {
  let known: { readonly result: Result } | undefined;
  return () => {
    known ??= { result: compute() };
    return known.result;
  };
}

/**
 * Layer normalisation over the last axis.
 *
 *     y = w ⊙ (x − mean(x)) / √(var(x) + ε) + b
 *
 * @param x - `[…, d]`
 * @param weight - `[d]`
 * @param bias - `[d]`
 * @see Ba et al. 2016, https://arxiv.org/abs/1607.06450
 */
export function layerNorm(x: Value, weight: Value, bias: Value, options: NormalizationOptions): Value {
  const { epsilon, ops = 'fused' } = requireFields('layerNorm: options', {}, options);
  const { rows, width } = asRows('layerNorm', x, weight);
  asRows('layerNorm', x, bias);
  let partsOf: () => LayerNormParts;
  const [y] = customGradient(
    [rows, weight, bias],
    () => {
      const forward = (ops === 'standard' ? standardLayerNorm : fusedLayerNorm)(rows, weight, bias, {
        epsilon,
        ops,
      });
      partsOf = forward.parts;
      return [forward.y];
    },
    ([upstream], [needsX, needsWeight, needsBias]) => {
      const parts = partsOf();
      const normalized = mul(sub(rows, parts.center), parts.scale);
      const weighted = mul(upstream!, normalized);
      // ∂x = (w ⊙ g − mean(w ⊙ g) − x̂ · mean(w ⊙ g ⊙ x̂)) / σ
      const gradientOfX = () => {
        const column = reshape(mul(weight, 1 / width), [width, 1]);
        const centered = sub(mul(upstream!, weight), gemm(upstream!, column));
        return mul(sub(centered, mul(normalized, gemm(weighted, column))), parts.scale);
      };
      return [
        needsX ? gradientOfX() : undefined,
        needsWeight ? sum(weighted, { axes: 0 }) : undefined,
        needsBias ? sum(upstream!, { axes: 0 }) : undefined,
      ];
    },
  );
  return reshape(y, x.shape);
}

interface LayerNormParts {
  readonly center: Value;
  readonly scale: Value;
}

interface LayerNormForward {
  readonly y: Value;
  readonly parts: () => LayerNormParts;
}

function fusedLayerNorm(
  rows: Value,
  weight: Value,
  bias: Value,
  { epsilon, ops }: ResolvedOptions,
): LayerNormForward {
  const attributes = { axis: -1, epsilon: { float: epsilon }, stash_type: 1 };
  const { type, shape } = rows;
  const column = { type, shape: [shape[0]!, 1] };
  const outputs = [{ type, shape }, column, column];
  const [y, center, scale] = rows.graph.apply(
    layerNormalizationOp,
    [rows, weight, bias],
    attributes,
    ops === 'fused' ? outputs : outputs.slice(0, 1),
  );
  const parts = once(() => (center && scale ? { center, scale } : layerNormParts(rows, epsilon)));
  return { y: y!, parts };
}

function standardLayerNorm(
  rows: Value,
  weight: Value,
  bias: Value,
  { epsilon }: ResolvedOptions,
): LayerNormForward {
  const parts = layerNormParts(rows, epsilon);
  const normalized = mul(sub(rows, parts.center), parts.scale);
  return { y: add(mul(normalized, weight), bias), parts: () => parts };
}

function layerNormParts(rows: Value, epsilon: number): LayerNormParts {
  const center = mean(rows, { axes: 1, keepAxes: 'yes' });
  const offset = sub(rows, center);
  const scale = reciprocal(sqrt(add(mean(mul(offset, offset), { axes: 1, keepAxes: 'yes' }), epsilon)));
  return { center, scale };
}
