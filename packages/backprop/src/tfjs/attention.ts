import type { ModelConfig } from '@rlp/models';
import { ropeTables, windowOf } from '@rlp/models/decoder';
import type { TensorFlow, TfTensor } from './tensorflow.ts';

/**
 * Queries, keys and values of whole sequences: `[rows · length, heads · headDimension]`.
 *
 * Keys and values may have fewer heads.
 */
export interface AttentionInputs {
  readonly query: TfTensor;
  readonly key: TfTensor;
  readonly value: TfTensor;
}

/** Added to the score of a position that must not be seen. */
const unseen = -1e9;

/**
 * Causal self-attention over right-padded sequences: `softmax(q kᵀ / √d + mask) v` for each head.
 *
 * Each group of `heads / keyValueHeads` neighbouring query heads shares one head of keys and values.
 */
export class Attention {
  readonly #tf: TensorFlow;
  readonly #config: ModelConfig;
  readonly #rows: number;
  readonly #length: number;

  constructor(tf: TensorFlow, config: ModelConfig, rows: number, length: number) {
    this.#tf = tf;
    this.#config = config;
    this.#rows = rows;
    this.#length = length;
  }

  /** Returns `[rows · length, heads · headDimension]`. */
  attend({ query, key, value }: AttentionInputs): TfTensor {
    const tf = this.#tf;
    const { keyValueHeads, heads, headDimension } = this.#config;
    const [rows, length, group] = [this.#rows, this.#length, heads / keyValueHeads];
    const batch = rows * keyValueHeads;
    const byGroup = tf.reshape(query, [rows, length, keyValueHeads, group, headDimension]);
    const queries = tf.reshape(tf.transpose(byGroup, [0, 2, 3, 1, 4]), [
      batch,
      group * length,
      headDimension,
    ]);
    const scores = tf.div(
      tf.matMul(queries, this.#split(key), false, true),
      tf.scalar(Math.sqrt(headDimension)),
    );
    const masked = tf.add(tf.reshape(scores, [batch * group, length, length]), this.#mask());
    const weights = tf.reshape(tf.softmax(masked), [batch, group * length, length]);
    const mixed = tf.reshape(tf.matMul(weights, this.#split(value)), [
      rows,
      keyValueHeads,
      group,
      length,
      headDimension,
    ]);
    return tf.reshape(tf.transpose(mixed, [0, 3, 1, 2, 4]), [rows * length, heads * headDimension]);
  }

  /**
   * Rotates pairs (i, i + d/2) of each head by the angle of their position. `x [rows · length, heads · d]`
   * keeps its shape.
   */
  rotate(x: TfTensor): TfTensor {
    const tf = this.#tf;
    const [rows, length] = [this.#rows, this.#length];
    const dimension = this.#config.headDimension;
    const half = dimension / 2;
    const heads = x.shape[1]! / dimension;
    const tables = ropeTables(this.#config, length);
    const cos = tf.tensor(tables.cos, [1, length, 1, half], 'float32');
    const sin = tf.tensor(tables.sin, [1, length, 1, half], 'float32');
    const split = tf.reshape(x, [rows, length, heads, dimension]);
    const first = tf.slice(split, [0, 0, 0, 0], [rows, length, heads, half]);
    const second = tf.slice(split, [0, 0, 0, half], [rows, length, heads, half]);
    const turned = tf.concat(
      [tf.sub(tf.mul(first, cos), tf.mul(second, sin)), tf.add(tf.mul(second, cos), tf.mul(first, sin))],
      3,
    );
    return tf.reshape(turned, [rows * length, heads * dimension]);
  }

  /** Keys or values as `[rows · keyValueHeads, length, headDimension]`. */
  #split(x: TfTensor): TfTensor {
    const { keyValueHeads, headDimension } = this.#config;
    const split = this.#tf.reshape(x, [this.#rows, this.#length, keyValueHeads, headDimension]);
    const shape = [this.#rows * keyValueHeads, this.#length, headDimension];
    return this.#tf.reshape(this.#tf.transpose(split, [0, 2, 1, 3]), shape);
  }

  #mask(): TfTensor {
    const length = this.#length;
    const window = windowOf(this.#config, 0) ?? length;
    const mask = Float32Array.from({ length: length * length }, (_, index) => {
      const [query, key] = [Math.floor(index / length), index % length];
      return key <= query && key > query - window ? 0 : unseen;
    });
    return this.#tf.tensor(mask, [length, length], 'float32');
  }
}
