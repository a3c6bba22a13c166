import { TrainingError } from '@rlp/core';
import type { Activation } from '@rlp/models';
import type { TensorFlow, TfTensor } from './tensorflow.ts';

/** Parameters on the device, by their Hugging Face names. */
export type Parameters = ReadonlyMap<string, TfTensor>;

/**
 * Layers of decoders with TensorFlow.js operations, over rows `[N, size]`. Parameters are found by module
 * name.
 */
export class Layers {
  readonly tf: TensorFlow;
  readonly #parameters: Parameters;

  constructor(tf: TensorFlow, parameters: Parameters) {
    this.tf = tf;
    this.#parameters = parameters;
  }

  /** Returns a parameter. Throws a TrainingError if it does not exist. */
  parameter(name: string): TfTensor {
    const parameter = this.#parameters.get(name);
    if (parameter) return parameter;
    throw new TrainingError(
      `decoder: the model has no parameter "${name}"; load a model of this architecture`,
    );
  }

  /** `x Wᵀ + b` with W `[outputs, inputs]`. The bias is optional. */
  linear(x: TfTensor, name: string): TfTensor {
    return this.#biased(this.tf.matMul(x, this.parameter(`${name}.weight`), false, true), name);
  }

  /** `x W + b` with W `[inputs, outputs]`, as GPT-2's `Conv1D` stores it. */
  convolution(x: TfTensor, name: string): TfTensor {
    return this.#biased(this.tf.matMul(x, this.parameter(`${name}.weight`)), name);
  }

  /** `w · x / √(mean x² + ε)` over the last axis. */
  rmsNorm(x: TfTensor, name: string, epsilon: number): TfTensor {
    const { tf } = this;
    const power = tf.mean(tf.square(x), -1, true);
    const scale = tf.rsqrt(tf.add(power, tf.scalar(epsilon)));
    return tf.mul(tf.mul(x, scale), this.parameter(`${name}.weight`));
  }

  /** `w · (x − mean x) / √(var x + ε) + b` over the last axis, with the biased variance. */
  layerNorm(x: TfTensor, name: string, epsilon: number): TfTensor {
    const { tf } = this;
    const centered = tf.sub(x, tf.mean(x, -1, true));
    const variance = tf.mean(tf.square(centered), -1, true);
    const scale = tf.rsqrt(tf.add(variance, tf.scalar(epsilon)));
    const scaled = tf.mul(tf.mul(centered, scale), this.parameter(`${name}.weight`));
    return tf.add(scaled, this.parameter(`${name}.bias`));
  }

  /**
   * Activation function.
   *
   * - `silu`: x·σ(x)
   * - `gelu`: x·Φ(x). TensorFlow.js approximates its erf to 1.5e-7.
   * - `gelu-tanh`: ½x(1 + tanh(√(2/π)·(x + 0.044715x³)))
   */
  activate(kind: Activation, x: TfTensor): TfTensor {
    const { tf } = this;
    if (kind === 'silu') return tf.mul(x, tf.sigmoid(x));
    const half = tf.mul(x, tf.scalar(0.5));
    if (kind === 'gelu') {
      return tf.mul(half, tf.add(tf.erf(tf.mul(x, tf.scalar(Math.SQRT1_2))), tf.scalar(1)));
    }
    const cube = tf.mul(tf.square(x), x);
    const inner = tf.mul(tf.add(x, tf.mul(cube, tf.scalar(0.044715))), tf.scalar(Math.sqrt(2 / Math.PI)));
    return tf.mul(half, tf.add(tf.tanh(inner), tf.scalar(1)));
  }

  #biased(y: TfTensor, name: string): TfTensor {
    const bias = this.#parameters.get(`${name}.bias`);
    return bias ? this.tf.add(y, bias) : y;
  }
}
