import { computedLoss, declaredColumns, type Loss, type LossInputs } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import { decoderLogits } from './decoder.ts';
import type { Parameters } from './layers.ts';
import type { PaddedRows } from './padding.ts';
import { TfTensorOps } from './tensor-ops.ts';
import type { TensorFlow, TfTensor } from './tensorflow.ts';

/** Logprobs and entropies of one micro-batch's targets, `[rows, length]` each, row-major. */
export interface MicroBatchScores {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
}

/** Contribution of one micro-batch to a batch. */
export interface MicroBatchGradient {
  readonly loss: number;
  /** Sums over trained tokens. */
  readonly metrics: ReadonlyMap<string, number>;
  readonly logprobs: Float32Array;
  /** Gradients in the order of the parameters. */
  readonly gradients: readonly Float32Array[];
}

/** Results of a loss's forward pass, kept from TensorFlow.js scopes. */
interface Kept {
  logprobs: TfTensor | undefined;
  readonly metrics: Map<string, TfTensor>;
  /** Error thrown by the loss. It must not leave the differentiated function, which would keep its tape. */
  failure: { readonly error: unknown } | undefined;
}

/** A decoder as a policy. Scores tokens and differentiates losses, and leaves no tensors behind. */
export class TfPolicy {
  readonly #tf: TensorFlow;
  readonly #config: ModelConfig;

  constructor(tf: TensorFlow, config: ModelConfig) {
    this.#tf = tf;
    this.#config = config;
  }

  /** Logprobs and entropies of every target. */
  async score(parameters: Parameters, micro: PaddedRows, temperature: number): Promise<MicroBatchScores> {
    const [logprobs, entropies] = this.#tf.tidy(() => {
      const all = this.#logprobs(parameters, micro, temperature);
      return [this.#ofTargets(all, micro), this.#entropies(all, micro)];
    });
    return { logprobs: await this.#take(logprobs!), entropies: await this.#take(entropies!) };
  }

  /**
   * Loss and gradient of every parameter, by `tf.valueAndGrads`.
   *
   * The loss reads logprobs and entropies of 0 if the mask is 0, so masked positions cannot produce a NaN.
   */
  async differentiate(
    parameters: Parameters,
    micro: PaddedRows,
    temperature: number,
    loss: Loss,
  ): Promise<MicroBatchGradient> {
    const names = [...parameters.keys()];
    const kept: Kept = { logprobs: undefined, metrics: new Map(), failure: undefined };
    const forward = (...values: TfTensor[]): TfTensor => {
      const byName = new Map(names.map((name, i) => [name, values[i]!]));
      return this.#loss(this.#logprobs(byName, micro, temperature), micro, loss, kept);
    };
    const { value, grads } = this.#tf.valueAndGrads(forward)([...parameters.values()]);
    if (kept.failure) {
      this.#tf.dispose([value, kept.logprobs!, ...grads, ...kept.metrics.values()]);
      throw kept.failure.error;
    }
    const metrics = new Map<string, number>();
    for (const [name, metric] of kept.metrics) metrics.set(name, (await this.#take(metric))[0]!);
    return {
      loss: (await this.#take(value))[0]!,
      metrics,
      logprobs: await this.#take(kept.logprobs!),
      gradients: await Promise.all(grads.map((gradient) => this.#take(gradient))),
    };
  }

  #loss(all: TfTensor, micro: PaddedRows, loss: Loss, kept: Kept): TfTensor {
    const tf = this.#tf;
    const ops = new TfTensorOps(tf);
    const matrix = (values: Float32Array) => tf.tensor(values, [micro.rows, micro.length], 'float32');
    const [mask, zero] = [matrix(micro.mask), ops.constant(0)];
    const masked = (x: TfTensor) => ops.where(mask, x, zero);
    const logprobs = this.#ofTargets(all, micro);
    kept.logprobs = tf.keep(tf.clone(logprobs));
    // TensorFlow.js refuses a value that depends on no parameter. A loss may be constant.
    const nothing = tf.mul(tf.sum(masked(logprobs)), tf.scalar(0));
    const inputs: LossInputs<TfTensor> = {
      logprobs: masked(logprobs),
      mask,
      entropies: loss.entropies === 'needed' ? masked(this.#entropies(all, micro)) : undefined,
      columns: declaredColumns(loss, (name) => matrix(micro.columns[name]!)),
    };
    try {
      const { tokenLosses, metrics = {} } = computedLoss(loss, ops, inputs);
      const total = tf.sum(ops.mul(masked(tokenLosses), matrix(micro.weights)));
      for (const [name, metric] of Object.entries(metrics)) {
        kept.metrics.set(name, tf.keep(tf.sum(tf.mul(masked(metric), mask))));
      }
      return tf.add(total, nothing);
    } catch (error) {
      kept.failure = { error };
      return nothing;
    }
  }

  /** Log-probabilities of the whole vocabulary, `[rows · length, vocabulary]`. */
  #logprobs(parameters: Parameters, micro: PaddedRows, temperature: number): TfTensor {
    const logits = decoderLogits(this.#tf, this.#config, parameters, micro);
    return this.#tf.logSoftmax(this.#tf.div(logits, this.#tf.scalar(temperature)));
  }

  #ofTargets(all: TfTensor, { rows, length, targets }: PaddedRows): TfTensor {
    const tf = this.#tf;
    const indices = tf.tensor(targets, [rows * length], 'int32');
    const chosen = tf.cast(tf.oneHot(indices, this.#config.vocabularySize), 'float32');
    return tf.reshape(tf.sum(tf.mul(all, chosen), 1), [rows, length]);
  }

  #entropies(all: TfTensor, { rows, length }: PaddedRows): TfTensor {
    const tf = this.#tf;
    return tf.reshape(tf.neg(tf.sum(tf.mul(tf.exp(all), all), 1)), [rows, length]);
  }

  /** Copies a tensor's values and disposes it. */
  async #take(tensor: TfTensor): Promise<Float32Array> {
    try {
      return Float32Array.from(await tensor.data());
    } finally {
      tensor.dispose();
    }
  }
}
