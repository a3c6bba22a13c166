import { RandomStream } from '@rlp/core';
import type { LinearModel, ModelFeatures } from '@rlp/rewards/verification/features';

/** One labelled text. */
export interface Example {
  readonly features: ModelFeatures;
  readonly positive: boolean;
  /** How much it counts. Default 1. */
  readonly weight?: number;
}

/** How a model is fitted. */
export interface FitOptions {
  /** Buckets of the hashed features, as a power of two; without, only dense features count. */
  readonly bits?: number;
  readonly l2: number;
  readonly epochs: number;
  readonly seed: string;
  /** The weights are the mean of those after each epoch of the second half (Polyak). Else the last ones. */
  readonly averaged?: boolean;
}

/** Logistic regression by AdaGrad, deterministic in `seed`. */
export function fit(
  examples: readonly Example[],
  { bits, l2, epochs, seed, averaged }: FitOptions,
): LinearModel {
  const names = Object.keys(examples[0]!.features.dense);
  const size = bits === undefined ? 0 : 2 ** bits;
  // Hashed weights, then dense ones, then the bias.
  const weights = new Float64Array(size + names.length + 1);
  const squares = new Float64Array(weights.length).fill(1e-8);
  const mean = new Float64Array(weights.length);
  const random = RandomStream.named('fit', seed);
  const step = (at: number, gradient: number, rate: number) => {
    squares[at]! += gradient * gradient;
    weights[at]! -= (rate * gradient) / Math.sqrt(squares[at]!);
  };
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = examples.map((_, index) => index);
    for (let at = order.length - 1; at > 0; at--) {
      const other = random.integer(at + 1);
      [order[at], order[other]] = [order[other]!, order[at]!];
    }
    for (const index of order) {
      const { features, positive, weight = 1 } = examples[index]!;
      const sparse = size === 0 ? [] : (features.sparse ?? []);
      const dense = names.map((name) => features.dense[name]!);
      let sum = weights.at(-1)!;
      for (const [bucket, value] of sparse) sum += weights[bucket]! * value;
      for (const [k, value] of dense.entries()) sum += weights[size + k]! * value;
      const error = (1 / (1 + Math.exp(-sum)) - (positive ? 1 : 0)) * weight;
      for (const [bucket, value] of sparse) step(bucket, error * value + l2 * weights[bucket]!, 0.5);
      for (const [k, value] of dense.entries()) {
        step(size + k, error * value + l2 * weights[size + k]!, 0.2);
      }
      step(weights.length - 1, error, 0.2);
    }
    const counted = Math.max(1, epoch + 1 - Math.floor(epochs / 2));
    for (const [at, weight] of weights.entries()) mean[at]! += (weight - mean[at]!) / counted;
  }
  const last = averaged ? mean : weights;
  const dense = Object.fromEntries(names.map((name, k) => [name, last[size + k]!]));
  const bias = last.at(-1)!;
  if (bits === undefined) return { bias, dense };
  return { bias, dense, hashed: { bits, weights: last.slice(0, size), scale: 1 } };
}

/**
 * The model with its log-odds stretched and moved, so that its probabilities fit what `scores` came out as (Platt). A score counts by the variance
 * of the verdict at an expected share of positives. So those near the verdict count most.
 */
export function calibrated(
  model: LinearModel,
  scores: readonly { readonly probability: number; readonly positive: boolean }[],
  share: number,
): LinearModel {
  const prior = Math.log(share / (1 - share));
  let [slope, shift] = [1, 0];
  for (let iteration = 0; iteration < 20_000; iteration++) {
    let [bySlope, byShift, total] = [0, 0, 0];
    for (const { probability, positive } of scores) {
      const odds = Math.log(probability / (1 - probability));
      const failing = 1 / (1 + Math.exp(-(slope * odds + shift + prior)));
      const weight = failing * (1 - failing);
      const error = weight * (1 / (1 + Math.exp(-(slope * odds + shift))) - (positive ? 1 : 0));
      bySlope += error * odds;
      byShift += error;
      total += weight;
    }
    slope -= (0.5 * bySlope) / total;
    shift -= (0.5 * byShift) / total;
  }
  const stretch = (weights: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name, weight * slope]));
  return {
    bias: model.bias * slope + shift,
    dense: stretch(model.dense),
    ...(model.hashed && { hashed: { ...model.hashed, scale: model.hashed.scale * slope } }),
  };
}

/** Scores of every example by a model that has not seen it, in `folds` parts. */
export function crossValidated<One extends { readonly positive: boolean }>(
  examples: readonly One[],
  folds: number,
  fitting: (examples: readonly One[]) => (example: One) => number,
): { readonly probability: number; readonly positive: boolean }[] {
  return Array.from({ length: folds }, (_, fold) => {
    const score = fitting(examples.filter((_, index) => index % folds !== fold));
    return examples
      .filter((_, index) => index % folds === fold)
      .map((example) => ({ probability: score(example), positive: example.positive }));
  }).flat();
}

/** Weights as signed bytes in base64 and the factor that undoes it. */
export function quantized(weights: ArrayLike<number>): { readonly base64: string; readonly scale: number } {
  const largest = Array.from(weights).reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  const bytes = Int8Array.from(Array.from(weights), (weight) => Math.round((weight / largest) * 127));
  return { base64: Buffer.from(bytes.buffer).toString('base64'), scale: largest / 127 };
}
