import type { CriticBackend, Loss, TokenSequence, TrainingBackend } from '@rlp/core';
import { aggregationWeights } from '../loss/aggregation.ts';
import type { TokenRows } from '../statistics/token-rows.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { Scores } from './scores.ts';

/** The coefficients of an iteration. Those that nothing moves are as the options say. */
export interface Coefficients {
  /** Of the KL, in the loss or in the reward. */
  readonly kl: number;
  /** Whether it can be another one in the next iteration: the loss then reads it from a column. */
  readonly klForm: 'fixed' | 'moving';
  readonly entropy: number;
}

/** How tokens are averaged. */
type Aggregation = ResolvedRlOptions['aggregation'];

/** What updates need besides the experience. */
export interface UpdateContext {
  readonly backend: TrainingBackend;
  readonly critic?: CriticBackend | undefined;
  /** The policy's, instead of the one that the options describe. */
  readonly loss?: Loss | undefined;
  readonly options: ResolvedRlOptions;
  readonly coefficients: Coefficients;
  readonly iteration: number;
  /** Of sampling. The trainer computes its logprobs at the same. */
  readonly temperature: number;
}

/** Whether policy and critic are one model, so that one loss trains both. */
export function sharesModel({ backend, critic }: Pick<UpdateContext, 'backend' | 'critic'>): boolean {
  return (critic as TrainingBackend | undefined) === backend;
}

/** The sequences of an iteration with all that losses read. Shape of every `TokenRows`: `[N][T]`. */
export interface Experience {
  readonly sequences: readonly TokenSequence[];
  readonly advantages: TokenRows;
  readonly returns?: TokenRows | undefined;
  readonly scores: Scores;
  /** Weights of the sampler's correction, where they are taken over the whole iteration. */
  readonly correctionWeights?: TokenRows | undefined;
}

/** Weights of every token's loss, over all rows of an update, by `aggregation` or that of the options. Shape `[B][T]`. */
export function weightsOf(
  sequences: readonly TokenSequence[],
  rows: readonly number[],
  options: ResolvedRlOptions,
  aggregation: Aggregation = options.aggregation,
): Float64Array[] {
  const masks = rows.map((row) => sequences[row]!.mask);
  const given = typeof aggregation === 'string' ? { mode: aggregation } : aggregation;
  return aggregationWeights(masks, { constant: options.aggregationConstant, ...given });
}

/**
 * Factors of a part of the loss that has a separate aggregation: its weights divided by those of the whole.
 *
 * 0 where nothing is trained. Shape `[B][T]`. `undefined` if it has no separate aggregation.
 */
export function aggregationFactors(
  sequences: readonly TokenSequence[],
  rows: readonly number[],
  options: ResolvedRlOptions,
  aggregation: Aggregation | undefined,
): Float64Array[] | undefined {
  if (aggregation === undefined) return undefined;
  const whole = weightsOf(sequences, rows, options);
  return weightsOf(sequences, rows, options, aggregation).map((row, b) =>
    row.map((weight, t) => (weight === 0 ? 0 : weight / whole[b]![t]!)),
  );
}

/** What a value loss reads of a sequence. */
export function valueColumns(
  { returns, scores }: Pick<Experience, 'returns' | 'scores'>,
  row: number,
): Record<string, ArrayLike<number>> {
  const values = scores.values?.[row];
  return {
    returns: returns![row]!,
    ...(values && { oldValues: Array.prototype.slice.call(values, 0, -1) as number[] }),
  };
}
