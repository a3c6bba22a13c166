import { bytesOf } from '@rlp/core';
import type { SparseVector } from './hashed-features.ts';

/** A logistic regression over named features, and over hashed ones where it has weights for them. */
export interface LinearModel {
  readonly bias: number;
  /** Weight of each dense feature, by name. */
  readonly dense: Readonly<Record<string, number>>;
  /** `2^bits` weights of hashed features. */
  readonly hashed?: { readonly bits: number; readonly weights: ArrayLike<number>; readonly scale: number };
}

/** What a model looks at. */
export interface ModelFeatures {
  readonly dense: Readonly<Record<string, number>>;
  readonly sparse?: SparseVector;
}

/** Probability of the model's positive class, `σ(bias + Σ w·x)`. */
export function probability({ bias, dense, hashed }: LinearModel, features: ModelFeatures): number {
  let sum = bias;
  for (const [name, weight] of Object.entries(dense)) sum += weight * (features.dense[name] ?? 0);
  if (hashed !== undefined) {
    for (const [bucket, value] of features.sparse ?? []) {
      sum += hashed.scale * hashed.weights[bucket]! * value;
    }
  }
  return 1 / (1 + Math.exp(-sum));
}

/** Signed bytes from base64, wherever JavaScript runs. */
export function bytesFromBase64(text: string): Int8Array {
  return new Int8Array(bytesOf(text).buffer);
}
