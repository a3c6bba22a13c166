import {
  ArgumentError,
  type ForwardBackwardResult,
  type Loss,
  type TokenId,
  type TrainingBatch,
  TrainingError,
} from '@rlp/core';
import { type Evaluation, evaluate, matrixFromRows } from '@rlp/tensor';
import { countTokens } from '../batch/count-tokens.ts';
import { configOf, type NativeLoss } from './native-loss.ts';
import { modelInput } from './wire.ts';

/**
 * How a server turns the losses of tokens into a gradient.
 *
 * - `sum`: the sum over tokens, as Tinker documents it.
 * - `means`: the mean over sequences of means over tokens, as SkyRL's JAX engine computes it.
 */
export type Reduction = 'sum' | 'means';

/** Numbers of every token, by sequence. Entry 0 belongs to the first token. */
export type TokenRows = readonly ArrayLike<number>[];

/** A loss, evaluated here on logprobs that the server computed. */
export interface LocalEvaluation {
  readonly evaluation: Evaluation;
  /** Derivative of the loss by each logprob. Shape: `[B][T]`. */
  readonly gradients: readonly Float64Array[];
}

/**
 * Evaluates a loss with its gradient by logprobs.
 *
 * @throws TrainingError if the loss or a gradient is not finite.
 */
export function evaluateLocally(
  { sequences }: TrainingBatch,
  loss: Loss,
  logprobs: TokenRows,
): LocalEvaluation {
  if (loss.entropies === 'needed' || (loss.values !== undefined && loss.values !== 'none')) {
    throw new ArgumentError(
      `forwardBackward: the loss "${loss.key.replace(/ .*/s, '')}" reads entropies or values, which Tinker's protocol does not give; turn them off or train on another backend`,
    );
  }
  const evaluation = evaluate(loss, {
    logprobs: matrixFromRows(logprobs),
    mask: matrixFromRows(sequences.map(({ mask }) => mask)),
    weights: matrixFromRows(sequences.map(({ mask, weights }) => masked(mask, weights))),
    columns: Object.fromEntries(
      loss.columns.map((name) => [
        name,
        matrixFromRows(sequences.map(({ mask, columns }) => masked(mask, columns[name]!))),
      ]),
    ),
  });
  const { data, columns } = evaluation.gradients.logprobs;
  const gradients = sequences.map(({ tokens }, b) => data.slice(b * columns, b * columns + tokens.length));
  if (Number.isFinite(evaluation.value) && gradients.every((row) => row.every(Number.isFinite))) {
    return { evaluation, gradients };
  }
  const what = Number.isFinite(evaluation.value) ? 'its gradient' : `it (${evaluation.value})`;
  throw new TrainingError(
    `forwardBackward: the loss "${loss.key}" or ${what} is not finite; the accumulated gradient was dropped and the weights are unchanged; lower the learning rate or check the batch`,
  );
}

/** Numbers where the mask is 1, else 0, so that what stands elsewhere does not matter. */
export function masked(mask: ArrayLike<number>, values: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: mask.length }, (_, t) => (mask[t] === 0 ? 0 : values[t]!));
}

/** Result of a call, from a loss that was evaluated here. */
export function resultOf(
  batch: TrainingBatch,
  { evaluation }: LocalEvaluation,
  logprobs: readonly Float32Array[],
): ForwardBackwardResult {
  const { value: loss, metrics } = evaluation;
  return { loss, metrics, logprobs, tokens: countTokens(batch) };
}

/** What one sequence adds to a gradient: `Σ_t slope(t) · ∂logprob[t]`. */
export interface Contribution {
  readonly tokens: readonly TokenId[];
  /** Logprobs that ratios are taken to. Read by losses with a ratio. */
  readonly anchors: ArrayLike<number>;
  /** Derivatives at these logprobs, by token. */
  readonly slopes: Float64Array;
}

/** The server's loss that takes derivatives as they are, if its ratios are 1. */
export function plainLoss(reduction: Reduction): NativeLoss {
  const name = reduction === 'sum' ? 'cross_entropy' : 'importance_sampling';
  return { name, anchor: undefined, low: 0, high: 1 };
}

/**
 * The input of `forward_backward` whose gradient is the sum of the contributions.
 *
 * Cross-entropies take derivatives as weights, other losses as advantages. A server of means divides by the length, so they are multiplied by it.
 */
export function gradientInput(
  contributions: readonly Contribution[],
  native: NativeLoss,
  reduction: Reduction,
): object {
  const data = contributions.map(({ tokens, anchors, slopes }) => {
    const targets = tokens.slice(1);
    const scale = reduction === 'sum' ? -1 : -targets.length;
    const factors = floats(targets.map((_, t) => scale * slopes[t + 1]!));
    const target_tokens = { data: targets, dtype: 'int64', shape: [targets.length] };
    const loss_fn_inputs =
      native.name === 'cross_entropy'
        ? { target_tokens, weights: factors }
        : {
            ...{ target_tokens, advantages: factors },
            logprobs: floats(targets.map((_, t) => anchors[t + 1]!)),
          };
    return { model_input: modelInput(tokens.slice(0, -1)), loss_fn_inputs };
  });
  const config = configOf(native);
  const loss_fn_config = Object.keys(config).length > 0 ? { loss_fn_config: config } : {};
  return { data, loss_fn: native.name, ...loss_fn_config };
}

/** The input of `forward` that scores sequences. */
export function scoringInput(sequences: readonly (readonly TokenId[])[]): object {
  const data = sequences.map((tokens) => {
    const targets = tokens.slice(1);
    return {
      model_input: modelInput(tokens.slice(0, -1)),
      loss_fn_inputs: {
        target_tokens: { data: targets, dtype: 'int64', shape: [targets.length] },
        weights: floats(targets.map(() => 0)),
      },
    };
  });
  return { data, loss_fn: 'cross_entropy' };
}

function floats(data: readonly number[]): object {
  return { data, dtype: 'float32', shape: [data.length] };
}
