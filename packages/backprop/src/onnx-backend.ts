import {
  ArgumentError,
  type BackendGroup,
  type ForwardBackwardResult,
  type FullBackend,
  type Loss,
  type MemoryForecast,
  type OptimStepResult,
  type PublicationForm,
  type PublishOptions,
  type ReferenceUpdate,
  type SharedWeights,
  type TokenId,
  type TokenScores,
  type TrainFuture,
  type TrainingBatch,
  TrainingError,
  type WeightPublication,
  type Weights,
} from '@rlp/core';
import type { RunningProgram } from '@rlp/onnx/runtime';
import { type OptimStepOptions, resolveOptimStep } from './backend-options.ts';
import { attentionForm } from './batch/attention-blocks.ts';
import { countTokens } from './batch/count-tokens.ts';
import type { AttentionForm } from './batch/layout-costs.ts';
import {
  type PackedBatch,
  type PackingOptions,
  packBatch,
  packSequences,
  packStates,
  unpack,
} from './batch/packing.ts';
import { type TracedLoss, traceLoss } from './batch/traced-loss.ts';
import { checkLossValues, checkValueHead, type ValueHead } from './batch/value-losses.ts';
import { Future } from './future.ts';
import { GraphLibrary } from './graphs/graph-library.ts';
import type { ForecastMemory } from './memory/forecast.ts';
import { referenceDecay } from './optimizer/optimizer.ts';
import { kindOf } from './optimizer/options.ts';
import type { ComputeRequest, GraphSource, Policy } from './program-protocol.ts';
import type { TrainingMethods } from './train.program.ts';
import type { PolicyWeights } from './weights/policy-weights.ts';
import { publishFiles, requirePublishable } from './weights/publication-files.ts';
import {
  type CheckpointOptimizer,
  readTrainingCheckpoint,
  writeTrainingCheckpoint,
} from './weights/training-checkpoint.ts';

/** Parts of an {@link OnnxTrainingBackend}. Use {@link createOnnxBackend}. */
export interface OnnxBackendParts {
  readonly program: RunningProgram<TrainingMethods>;
  readonly weights: PolicyWeights;
  readonly optimizer: CheckpointOptimizer;
  readonly packing: PackingOptions;
  /** Weights that samplers of the same engine read. */
  readonly shares: SharedWeights;
  /** Whether the backend keeps a reference policy. */
  readonly reference: 'initial' | 'none';
  readonly forecastMemory: ForecastMemory;
}

/** Options of {@link OnnxTrainingBackend.logprobs}. */
export interface LogprobsOptions {
  /** Weights to score with. Default `'current'`. */
  readonly policy?: Policy;
  /** Temperature that divides the logits. Default 1. */
  readonly temperature?: number;
  /** 1 for tokens whose scores are wanted. Others get 0 and cost nothing. Default: all but the first of each sequence. */
  readonly masks?: readonly ArrayLike<number>[];
  /**
   * Lays the sequences out as `forwardBackward` does for a loss with so many in a row. Equal weights then give equal scores to the last
   * bit. Default: the layout that costs least.
   */
  readonly sequencesPerRow?: number;
  /** Aborts the call. Default: no signal. */
  readonly signal?: AbortSignal;
}

/**
 * Trains a decoder on ONNX Runtime.
 *
 * One graph computes forward pass, loss and gradients. Kernels in the engine update the weights in place.
 * Calls are validated and sent at once. The engine runs them in order, so you need not await one before the
 * next.
 */
export class OnnxTrainingBackend implements FullBackend {
  readonly #parts: OnnxBackendParts;
  readonly #library = new GraphLibrary();
  #weightVersion = 0;
  #closing: Promise<void> | undefined;
  /** Settles when calls may be sent again. Files are read before the engine can order the calls. */
  #barrier: Promise<void> | undefined;

  constructor(parts: OnnxBackendParts) {
    this.#parts = parts;
  }

  get #valueHead(): ValueHead {
    return this.#parts.weights.valueHead ? 'linear' : 'none';
  }

  get publishes(): readonly PublicationForm[] {
    return this.#parts.weights.publishes;
  }

  get shares(): SharedWeights {
    return this.#parts.shares;
  }

  get vocabularySize(): number {
    return this.#parts.packing.vocabularySize;
  }

  get contextLength(): number {
    return this.#parts.packing.contextLength;
  }

  get tokensPerRow(): number {
    return this.#parts.packing.tokensPerMicroBatch;
  }

  get lacks(): readonly BackendGroup[] {
    const { weights, reference } = this.#parts;
    return [
      ...(reference === 'none' ? (['reference'] as const) : []),
      ...(weights.isFixed ? (['weights'] as const) : []),
      ...(weights.valueHead ? [] : (['values'] as const)),
    ];
  }

  forecastMemory(...update: Parameters<ForecastMemory>): MemoryForecast | undefined {
    return this.#parts.forecastMemory(...update);
  }

  get weightVersion(): number {
    return this.#weightVersion;
  }

  forwardBackward(batch: TrainingBatch, loss: Loss): TrainFuture<ForwardBackwardResult> {
    return this.#submit(async () => {
      checkLossValues(loss, this.#valueHead);
      const packed = packBatch(batch, loss, this.#parts.packing);
      const tokens = countTokens(batch);
      const result = await this.#compute(
        packed,
        `train: ${loss.key}`,
        (attention) => ({ kind: 'training', attention, loss: this.#traced(loss) }),
        (request) => this.#parts.program.call('forwardBackward', request),
      );
      const { logprobs = [], ...others } = Object.fromEntries(
        Object.entries(result.scores).map(([name, scores]) => [name, unpack(packed, scores)]),
      );
      const sums = Object.entries(result.metricSums);
      return {
        loss: result.loss,
        metrics: Object.fromEntries(
          sums.map(([name, sum]) => [name, tokens.trained === 0 ? 0 : sum / tokens.trained]),
        ),
        logprobs,
        ...others,
        tokens,
      };
    });
  }

  /** A loss that cannot be traced drops the gradient, as one that fails in the engine does. */
  #traced(loss: Loss): TracedLoss {
    try {
      return traceLoss(loss);
    } catch (error) {
      // An engine that has ended holds no gradient.
      this.#parts.program.call('discardGradient', undefined).catch(() => undefined);
      throw error;
    }
  }

  /** @param options - Replaces options of the backend in this update, for learning rates that the caller decides. */
  optimStep(options: OptimStepOptions = {}): TrainFuture<OptimStepResult> {
    return this.#submit(async () => {
      const settings = resolveOptimStep(options);
      const { kind } = this.#parts.optimizer;
      if (settings.optimizer && kindOf(settings.optimizer) !== kind) {
        throw new ArgumentError(
          `optimStep: expected an optimizer of kind '${kind}', as the backend was created with, ` +
            `got '${kindOf(settings.optimizer)}': another one cannot use its state`,
        );
      }
      return this.#parts.program.call('optimStep', settings);
    });
  }

  logprobs(
    sequences: readonly (readonly TokenId[])[],
    { policy = 'current', temperature = 1, masks, sequencesPerRow, signal }: LogprobsOptions = {},
  ): TrainFuture<readonly TokenScores[]> {
    return this.#submit(async () => {
      signal?.throwIfAborted();
      if (policy !== 'current' && policy !== 'reference') {
        throw new ArgumentError(`logprobs: policy must be 'current' or 'reference', got ${String(policy)}`);
      }
      const packed = packSequences(sequences, this.#parts.packing, { temperature, masks, sequencesPerRow });
      const result = await this.#compute(
        packed,
        'score',
        (attention) => ({ kind: 'scoring', attention }),
        (request) => this.#parts.program.call('score', { ...request, policy }, { signal }),
      );
      const entropies = unpack(packed, result.entropies!);
      return unpack(packed, result.logprobs!).map((logprobs, i) => ({ logprobs, entropies: entropies[i]! }));
    });
  }

  values(
    sequences: readonly (readonly TokenId[])[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): TrainFuture<readonly Float32Array[]> {
    return this.#submit(async () => {
      signal?.throwIfAborted();
      checkValueHead(this.#valueHead);
      const packed = packStates(sequences, this.#parts.packing);
      const result = await this.#compute(
        packed,
        'values',
        (attention) => ({ kind: 'values', attention }),
        (request) => this.#parts.program.call('score', { ...request, policy: 'current' }, { signal }),
      );
      return unpack(packed, result.values!);
    });
  }

  getWeights(): TrainFuture<Weights> {
    return this.#submit(() => this.#parts.weights.read());
  }

  loadWeights(weights: Weights): TrainFuture<void> {
    return this.#submit(() => this.#parts.weights.load(weights));
  }

  updateReference(update: ReferenceUpdate): TrainFuture<void> {
    return this.#submit(async () => {
      await this.#parts.program.call('updateReference', { decay: referenceDecay(update) });
    });
  }

  publish(options: PublishOptions): TrainFuture<WeightPublication> {
    return this.#submit(async () => {
      requirePublishable(options, this.publishes);
      const { as, directory } = options;
      const { program, weights, shares } = this.#parts;
      // Sent together, so that the files hold the published weights.
      const [version, published] = await Promise.all([
        program.call('publish', undefined),
        as === 'shared' ? undefined : weights.published(as),
      ]);
      this.#weightVersion = version;
      if (as === 'shared') return { kind: as, version, ...shares };
      const path = await publishFiles(directory!, version, published!);
      return { kind: as, version, path };
    });
  }

  saveCheckpoint(directory: string): TrainFuture<void> {
    return this.#submit(async () => {
      const state = await this.#parts.program.call('save', undefined);
      await writeTrainingCheckpoint(directory, state, this.#parts);
    });
  }

  /** @param optimizer - `'fresh'` leaves out the optimizer's state and the number of updates. Default `'restored'`. */
  loadCheckpoint(
    directory: string,
    { optimizer = 'restored' }: { readonly optimizer?: 'restored' | 'fresh' } = {},
  ): TrainFuture<void> {
    const restored = this.#submit(async () => {
      const state = await readTrainingCheckpoint(directory, this.#parts, optimizer);
      const tensors = [state.parameters, state.optimizer, state.reference ?? []].flat();
      // Tensors of one file share buffers.
      const transfer = new Set(tensors.map(({ data }) => data.buffer as ArrayBuffer));
      await this.#parts.program.call('restore', state, { transfer: [...transfer] });
      this.#weightVersion = state.weightVersion;
    });
    this.#barrier = restored.then(
      () => undefined,
      () => undefined,
    );
    return restored;
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.program.stop().then(() => this.#parts.weights.dispose());
    return this.#closing;
  }

  #submit<T>(work: () => Promise<T>): Future<T> {
    if (this.#closing)
      return new Future(
        Promise.reject(new TrainingError('this training backend is closed; create another one')),
      );
    return new Future(this.#barrier ? this.#barrier.then(work) : work());
  }

  async #compute<Result>(
    packed: PackedBatch,
    key: string,
    source: (attention: AttentionForm) => GraphSource,
    call: (request: ComputeRequest) => Promise<Result>,
  ): Promise<Result> {
    const { temperature, microBatches } = packed;
    const attention = attentionForm(microBatches, this.#parts.packing);
    const graph = this.#library.request(`${key} (${attention})`, () => source(attention));
    try {
      return await call({ ...graph, temperature, microBatches });
    } catch (error) {
      // A TrainingError comes from running the graph, so the graph exists.
      if (!(error instanceof TrainingError)) this.#library.forget(graph);
      throw error;
    }
  }
}
