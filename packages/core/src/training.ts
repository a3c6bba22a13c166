import { requireFields } from './options/require-arguments.ts';
import type { PublicationForm, PublishOptions, SharedWeights, WeightPublication } from './publication.ts';
import type { TokenScores } from './sampler.ts';
import type { TensorOps } from './tensor-ops.ts';
import type { TokenId } from './trajectory.ts';

/**
 * The per-token inputs of a loss, each `[B, T]`. Index `t` belongs to the token at position `t`.
 *
 * `logprobs` and `entropies` come from the policy and carry the gradient. `mask` is 1 where a token counts, and
 * everything else is data that travelled with the batch.
 */
export interface LossInputs<T, Column extends string = string> {
  readonly logprobs: T;
  /** 1 where the token was sampled by the policy and is trained on, else 0. */
  readonly mask: T;
  /** Entropy of the policy's distribution at each position. Present exactly if the loss asked for it. */
  readonly entropies?: T | undefined;
  /** The critic's value of the state before each token. Present exactly if the loss asked for it. Carries the gradient. */
  readonly values?: T | undefined;
  /** The columns the loss named, such as `advantages`, `behaviorLogprobs`, `referenceLogprobs`. */
  readonly columns: Readonly<Record<Column, T>>;
}

/** What a loss computes. */
export interface LossOutput<T> {
  /** Loss of each token, `[B, T]`. The batch's loss is `Σ weights · tokenLosses`. Values where `mask` is 0 do not count. */
  readonly tokenLosses: T;
  /** Per-token diagnostics `[B, T]`, reported as their mean over tokens with `mask` 1. They carry no gradient. */
  readonly metrics?: Readonly<Record<string, T>> | undefined;
}

/**
 * A differentiable loss, written once over {@link TensorOps}.
 *
 * How tokens are averaged is in each sequence's `weights`, computed over the whole batch before
 * it is cut into micro-batches, so accumulation over micro-batches is exact for every aggregation mode.
 */
export interface Loss<Column extends string = string> {
  /** Identifies the computation, options included. Backends cache one graph per key. */
  readonly key: string;
  /** Columns that every sequence of the batch must carry. */
  readonly columns: readonly Column[];
  /** Whether it reads the policy's entropies, which cost a pass over the vocabulary. Default `'none'`. */
  readonly entropies?: 'none' | 'needed' | undefined;
  /**
   * Whether it reads the values of a critic. With `'only'` it reads nothing of the policy, so backends need not compute that. The
   * loss then sees logprobs of 0. Default `'none'`.
   */
  readonly values?: 'none' | 'needed' | 'only' | undefined;
  /**
   * Sequences of the batch that one row of the inputs holds, one after another, so that the loss can compare them: 2 for a chosen and a
   * rejected answer. Backends refuse more than 1 unless they have {@link TrainingBackend.tokensPerRow}. Default 1.
   */
  readonly sequencesPerRow?: number | undefined;
  compute<T>(ops: TensorOps<T>, inputs: LossInputs<T, Column>): LossOutput<T>;
}

/** Returns the loss as it is. Its `compute` knows the names in `columns`, so the compiler refuses a misspelt one. */
export function defineLoss<const Column extends string>(loss: Loss<Column>): Loss<Column> {
  return loss;
}

/** One sequence to train on. A prompt, what the policy sampled, possibly more turns. */
export interface TrainingSequence {
  /** Shape: `[T]`. */
  readonly tokens: readonly TokenId[];
  /** 1 for tokens whose logprob is trained, 0 for prompt and environment tokens. `mask[0]` must be 0. Shape: `[T]`. */
  readonly mask: ArrayLike<number>;
  /** Factor of each token's loss in the batch's sum. Ignored where `mask` is 0. Shape: `[T]`. */
  readonly weights: ArrayLike<number>;
  /** Data the loss reads, by name, aligned with `tokens`. Shape of each: `[T]`. */
  readonly columns: Readonly<Record<string, ArrayLike<number>>>;
  /** Temperature the logprobs are computed at. Default 1. All sequences of one batch must agree. */
  readonly temperature?: number | undefined;
}

/** Sequences whose gradients are summed. */
export interface TrainingBatch {
  readonly sequences: readonly TrainingSequence[];
}

/** A result that is being computed. Submit the next call before awaiting this one and they run back to back. */
export interface TrainFuture<T> extends PromiseLike<T> {
  /** Whether it has settled. */
  readonly settled: boolean;
}

/** Result of {@link TrainingBackend.forwardBackward}. */
export interface ForwardBackwardResult {
  /** `Σ weights · tokenLosses` over the batch. */
  readonly loss: number;
  /** The loss's own metrics, means over trained tokens. */
  readonly metrics: Readonly<Record<string, number>>;
  /**
   * Policy logprobs of every sequence, before the update, aligned with its tokens. Shape: `[B][T]`. Tokens with mask 0 may have
   * 0, because nothing needs their logprobs. Empty when the loss reads values only, so that the policy was not computed.
   */
  readonly logprobs: readonly Float32Array[];
  /** Entropies, aligned as `logprobs`. Absent if the loss reads none, or the backend does not report them. */
  readonly entropies?: readonly Float32Array[] | undefined;
  /** The critic's values, aligned as `logprobs`. Absent if the loss reads none, or the backend does not report them. */
  readonly values?: readonly Float32Array[] | undefined;
  /** Tokens with mask 1, and all tokens computed, padding not counted. */
  readonly tokens: { readonly trained: number; readonly total: number };
}

/** Result of {@link TrainingBackend.optimStep}. */
export interface OptimStepResult {
  /** Global L2 norm of the accumulated gradient, before clipping. Not finite if the update was left out. */
  readonly gradientNorm: number;
  readonly learningRate: number;
  /** Updates made so far, this one included. */
  readonly updates: number;
  /** Why the weights did not change. `'overflow'`: the gradient exceeds the numbers that mixed precision has. Absent otherwise. */
  readonly skipped?: 'overflow' | undefined;
}

/** A named tensor in host memory. */
export interface HostTensor {
  readonly shape: readonly number[];
  /** Its numbers. Those of a large model stay in its file until they are asked for, and are kept from then on. */
  readonly data: Float32Array;
  /** Fills `target` with the numbers from `first` on, and keeps nothing. Absent where they are in memory anyway. */
  copyTo?(target: Float32Array, first: number): void;
}

/** Numbers of a tensor, to be read once: what is in a file is not kept. @param into - Long enough for them. Default: a new array. */
export function numbersOf(tensor: HostTensor, into?: Float32Array): Float32Array {
  requireFields('numbersOf', { shape: 'numbers', copyTo: 'function?' }, tensor);
  if (tensor.copyTo === undefined) return tensor.data;
  const length = tensor.shape.reduce((product, size) => product * size, 1);
  const numbers = into?.subarray(0, length) ?? new Float32Array(length);
  tensor.copyTo(numbers, 0);
  return numbers;
}

/** Weights by their Hugging Face names. */
export type Weights = ReadonlyMap<string, HostTensor>;

/** How a reference policy moves, to the current weights (`copy`), or towards them, `ref ← decay·ref + (1 − decay)·policy` (`ema`). */
export type ReferenceUpdate =
  | { readonly method: 'copy' }
  | { readonly method: 'ema'; readonly decay: number };

/** Memory that training takes at its peak, and what the machine has. */
export interface MemoryForecast {
  /** Bytes at the peak of an update, by purpose, such as `optimizer`. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Bytes that the process holds now. */
  readonly held: number;
  /** Bytes that the machine or the process's container has left. */
  readonly available: number;
  /** What to do if that is too much, with the names of the backend's options. */
  readonly remedy: string;
}

/**
 * A policy that learns. Calls run in the order they are made, whether or not their futures are awaited.
 *
 * These five members are all that a backend needs. The rest are optional groups ({@link BackendGroups}), which a loop asks for
 * by name before it starts, with {@link requireGroups}.
 */
export interface TrainingBackend {
  /** Forms that {@link TrainingBackend.publish} can take, the cheapest first. Default `['checkpoint']`. */
  readonly publishes?: readonly PublicationForm[] | undefined;
  /** The store that it publishes as `shared`. */
  readonly shares?: SharedWeights | undefined;
  /** Tokens that the policy knows. */
  readonly vocabularySize?: number | undefined;
  /** Tokens of the longest sequence that the policy takes. `undefined` if there is no limit, which is the default. */
  readonly contextLength?: number | undefined;
  /** Groups whose methods it has and whose data it was created without, such as `values` without a value head. */
  readonly lacks?: readonly BackendGroup[] | undefined;
  /**
   * Most tokens of a row of a loss with {@link Loss.sequencesPerRow} above 1: the sequences times the longest of them. It then also reports
   * the entropies and values that the loss reads. `undefined` if it takes no such loss, which is the default.
   */
  readonly tokensPerRow?: number | undefined;
  /** Memory that an update with these sequences takes. `undefined` if it is unknown, which is the default. */
  forecastMemory?(
    sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[],
    loss?: Pick<Loss, 'sequencesPerRow' | 'values'>,
  ): MemoryForecast | undefined;

  /**
   * Adds the gradient of the batch's loss to the accumulated gradient. Weights do not change.
   *
   * Rejects with an `ArgumentError` for mismatched lengths or missing columns, before it computes anything. Rejects with a
   * `TrainingError` that names the first bad tensor if the loss or a gradient is not finite. The accumulated gradient is then discarded,
   * as it is after any other failure.
   */
  forwardBackward(batch: TrainingBatch, loss: Loss): TrainFuture<ForwardBackwardResult>;

  /** Clips the accumulated gradient, makes one optimizer update, clears the gradient. The gradient is also cleared if that fails. */
  optimStep(): TrainFuture<OptimStepResult>;

  /**
   * Logprobs and entropies of every token of the given sequences (0 at position 0), under the current policy. Backends of the
   * group `reference` also take `policy: 'reference'`.
   *
   * `masks` is 1 for tokens whose scores are wanted, shape `[N][T]`. Others may have 0. Default: all tokens.
   *
   * `sequencesPerRow` asks for the layout of {@link TrainingBackend.forwardBackward} with such a loss, so that equal weights give equal
   * logprobs to the last bit. Backends without layouts ignore it. Default: the layout that costs least.
   */
  logprobs(
    sequences: readonly (readonly TokenId[])[],
    options?: {
      readonly policy?: 'current' | 'reference';
      readonly temperature?: number;
      readonly masks?: readonly ArrayLike<number>[];
      readonly sequencesPerRow?: number;
      readonly signal?: AbortSignal;
    },
  ): TrainFuture<readonly TokenScores[]>;

  /**
   * Gives the current weights another version, and says how samplers can take them over. Versions grow by 1.
   *
   * Rejects with an `ArgumentError` for a form that it does not publish or a directory that is missing.
   */
  publish(options: PublishOptions): TrainFuture<WeightPublication>;

  /** Releases the backend's memory. Later calls reject. */
  close(): Promise<void>;
}

/** A backend that saves and restores its state (group `checkpoints`). */
export interface CheckpointBackend extends TrainingBackend {
  /**
   * Writes weights, optimizer state, schedule position and versions, atomically: the directory is complete or absent. Replaces
   * an earlier checkpoint. Rejects with an `ArgumentError` if anything else is there, which would be lost.
   */
  saveCheckpoint(directory: string): TrainFuture<void>;
  /** Restores what {@link CheckpointBackend.saveCheckpoint} wrote. A continued run is equal bit for bit. */
  loadCheckpoint(directory: string): TrainFuture<void>;
}

/** A backend whose weights fit into host memory (group `weights`). */
export interface HostWeightsBackend extends TrainingBackend {
  /** A copy of the weights. */
  getWeights(): TrainFuture<Weights>;
  /** Replaces the weights. Names and shapes must match. The optimizer's state is kept. */
  loadWeights(weights: Weights): TrainFuture<void>;
}

/** A backend with a frozen reference policy, which `logprobs` can also ask (group `reference`). */
export interface ReferenceBackend extends TrainingBackend {
  /** Moves the reference policy. Rejects with an `ArgumentError` for a decay outside 0 … 1. */
  updateReference(update: ReferenceUpdate): TrainFuture<void>;
}

/** A backend that knows which version of its weights was published last (group `version`). */
export interface VersionedBackend extends TrainingBackend {
  readonly weightVersion: number;
}

/**
 * A backend whose model has a value head (group `values`). Policy and critic share a trunk, or the critic is a separate model.
 *
 * Its losses may read `values`. The head's weights are trained, saved and restored with the others.
 */
export interface CriticBackend extends TrainingBackend {
  /**
   * The critic's values of the states of each sequence. Entry `t` is the value before token `t`. The last entry is the value
   * after all tokens. Entry 0 is 0, because nothing was seen yet. Shape: `[B][T + 1]`.
   *
   * Rejects with an `ArgumentError` when the backend was created without a value head.
   */
  values(
    sequences: readonly (readonly TokenId[])[],
    options?: { readonly signal?: AbortSignal },
  ): TrainFuture<readonly Float32Array[]>;
}

/** A backend of every group. */
export interface FullBackend
  extends CheckpointBackend,
    HostWeightsBackend,
    ReferenceBackend,
    VersionedBackend,
    CriticBackend {}

/** Optional groups of methods of a training backend, by name. */
export interface BackendGroups {
  /** `saveCheckpoint`, `loadCheckpoint`. */
  readonly checkpoints: CheckpointBackend;
  /** `getWeights`, `loadWeights`. */
  readonly weights: HostWeightsBackend;
  /** `updateReference`, and `logprobs` with `policy: 'reference'`. */
  readonly reference: ReferenceBackend;
  /** `values`, and losses that read them. */
  readonly values: CriticBackend;
  /** `weightVersion`. */
  readonly version: VersionedBackend;
  /** Losses that read entropies. All backends compute them but those that say that they lack it. */
  readonly entropies: TrainingBackend;
}

/** Name of a group of {@link BackendGroups}. */
export type BackendGroup = keyof BackendGroups;
