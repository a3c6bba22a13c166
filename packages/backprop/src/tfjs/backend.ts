import {
  ArgumentError,
  type BackendGroup,
  type CheckpointBackend,
  type ForwardBackwardResult,
  type HostWeightsBackend,
  type Loss,
  type OptimStepResult,
  type PublishOptions,
  type ReferenceBackend,
  type ReferenceUpdate,
  type TokenId,
  type TokenScores,
  type TrainFuture,
  type TrainingBatch,
  TrainingError,
  type VersionedBackend,
  type WeightPublication,
  type Weights,
} from '@rlp/core';
import { parameterSpecs } from '@rlp/models/decoder';
import { countTokens } from '../batch/count-tokens.ts';
import { lossError } from '../batch/not-finite.ts';
import { readsValues } from '../batch/value-losses.ts';
import { Future, TaskQueue } from '../future.ts';
import { referenceDecay } from '../optimizer/optimizer.ts';
import { ModelFiles, savingWith } from '../weights/model-files.ts';
import { publishFiles, requirePublishable } from '../weights/publication-files.ts';
import {
  type CheckpointParts,
  readTrainingCheckpoint,
  writeTrainingCheckpoint,
} from '../weights/training-checkpoint.ts';
import type { Parameters } from './layers.ts';
import { type ResolvedTfjsBackendOptions, resolveTfjsOptions, type TfjsBackendOptions } from './options.ts';
import { type PaddedBatch, type PaddingOptions, padBatch, padSequences, unpad } from './padding.ts';
import { type MicroBatchGradient, TfPolicy } from './policy.ts';
import type { TensorFlow, TfTensor } from './tensorflow.ts';
import { copyWeights, momentSpecs, TrainingState } from './training-state.ts';

/**
 * Trains a decoder on TensorFlow.js. AdamW runs on the host.
 *
 * Weights live in host memory and are passed to TensorFlow.js for each call. Between calls the backend holds
 * no tensors.
 */
export class TfjsTrainingBackend
  implements CheckpointBackend, HostWeightsBackend, ReferenceBackend, VersionedBackend
{
  readonly #tf: TensorFlow;
  readonly #policy: TfPolicy;
  readonly #packing: PaddingOptions;
  readonly publishes = ['checkpoint'] as const;
  readonly #files: ModelFiles;
  readonly #reference: 'initial' | 'none';
  readonly #state: TrainingState;
  readonly #calls = new TaskQueue();
  #closing: Promise<void> | undefined;

  /** Use {@link createTfjsBackend}. */
  constructor(options: ResolvedTfjsBackendOptions) {
    const { config, weights } = options.model;
    this.#tf = options.tf;
    this.#policy = new TfPolicy(options.tf, config);
    this.#packing = {
      vocabularySize: config.vocabularySize,
      contextLength: config.contextLength,
      tokensPerMicroBatch: options.tokensPerMicroBatch,
    };
    this.#reference = options.reference;
    this.#files = new ModelFiles(parameterSpecs(options.model.config), savingWith(options.model));
    this.#files.check('createTfjsBackend', weights);
    this.#state = new TrainingState(this.#files.specs, weights, options);
  }

  get vocabularySize(): number {
    return this.#packing.vocabularySize;
  }

  get contextLength(): number {
    return this.#packing.contextLength;
  }

  get lacks(): readonly BackendGroup[] {
    return this.#reference === 'none' ? ['reference'] : [];
  }

  get weightVersion(): number {
    return this.#state.weightVersion;
  }

  forwardBackward(batch: TrainingBatch, loss: Loss): TrainFuture<ForwardBackwardResult> {
    return this.#submit(async () => {
      if (readsValues(loss)) {
        throw new ArgumentError(
          `forwardBackward: the loss "${loss.key}" reads the values of a critic, which this backend does not have; ` +
            `use createOnnxBackend with valueHead: 'linear'`,
        );
      }
      const padded = padBatch(batch, loss, this.#packing);
      const tokens = countTokens(batch);
      try {
        return { ...(await this.#accumulate(padded, loss, tokens.trained)), tokens };
      } catch (error) {
        this.#state.clearGradient();
        throw error;
      }
    });
  }

  optimStep(): TrainFuture<OptimStepResult> {
    return this.#submit(() => this.#state.update());
  }

  logprobs(
    sequences: readonly (readonly TokenId[])[],
    {
      policy = 'current',
      temperature = 1,
      signal,
    }: {
      readonly policy?: 'current' | 'reference';
      readonly temperature?: number;
      readonly signal?: AbortSignal;
    } = {},
  ): TrainFuture<readonly TokenScores[]> {
    return this.#submit(async () => {
      signal?.throwIfAborted();
      const padded = padSequences(sequences, temperature, this.#packing);
      const weights = policy === 'current' ? this.#state.weights : this.#state.reference('logprobs');
      const scores = await this.#perMicroBatch(padded, weights, signal, (parameters, micro) =>
        this.#policy.score(parameters, micro, temperature),
      );
      const entropies = unpad(
        padded,
        scores.map((score) => score.entropies),
      );
      return unpad(
        padded,
        scores.map((score) => score.logprobs),
      ).map((logprobs, i) => ({ logprobs, entropies: entropies[i]! }));
    });
  }

  getWeights(): TrainFuture<Weights> {
    return this.#submit(() => copyWeights(this.#state.weights));
  }

  /** Returns a copy of the accumulated gradient by parameter name. Zeros if nothing was accumulated. */
  getGradients(): TrainFuture<Weights> {
    return this.#submit(() => this.#state.gradient());
  }

  loadWeights(weights: Weights): TrainFuture<void> {
    return this.#submit(() => {
      this.#files.check('loadWeights', weights);
      this.#state.replaceWeights(weights);
    });
  }

  updateReference(update: ReferenceUpdate): TrainFuture<void> {
    return this.#submit(() => this.#state.updateReference(referenceDecay(update)));
  }

  /**
   * Writes the weights as a model folder, named by the version, into `directory` and raises the version.
   *
   * The last two folders are kept.
   */
  publish(options: PublishOptions): TrainFuture<WeightPublication> {
    return this.#submit(async () => {
      requirePublishable(options, this.publishes);
      const { weightVersion, weights } = this.#state;
      const path = await publishFiles(options.directory!, weightVersion + 1, (directory) =>
        this.#files.write(directory, weights),
      );
      return { kind: 'checkpoint', version: this.#state.raiseVersion(), path } as const;
    });
  }

  /** Writes the same files as full fine-tuning with `createOnnxBackend`. Either backend can load them. */
  saveCheckpoint(directory: string): TrainFuture<void> {
    return this.#submit(() => writeTrainingCheckpoint(directory, this.#state.save(), this.#saved));
  }

  loadCheckpoint(directory: string): TrainFuture<void> {
    return this.#submit(async () => {
      this.#state.restore(await readTrainingCheckpoint(directory, this.#saved));
    });
  }

  get #saved(): CheckpointParts {
    const state = momentSpecs(this.#files.specs);
    return { weights: this.#files, optimizer: { kind: 'adamw', state } };
  }

  close(): Promise<void> {
    this.#closing ??= this.#calls.idle();
    return this.#closing;
  }

  #submit<T>(work: () => T | Promise<T>): Future<T> {
    const closed = () =>
      Promise.reject(new TrainingError('this training backend is closed; create another one'));
    return new Future(this.#closing ? closed() : this.#calls.run(work));
  }

  async #accumulate(
    padded: PaddedBatch,
    loss: Loss,
    trained: number,
  ): Promise<Omit<ForwardBackwardResult, 'tokens'>> {
    const parts = await this.#perMicroBatch(
      padded,
      this.#state.weights,
      undefined,
      async (parameters, micro) => {
        const part = await this.#policy.differentiate(parameters, micro, padded.temperature, loss);
        if (!Number.isFinite(part.loss)) throw lossError(part.loss);
        this.#state.accumulate(part.gradients);
        return { ...part, gradients: [] };
      },
    );
    return {
      loss: parts.reduce((sum, part) => sum + part.loss, 0),
      metrics: meanMetrics(parts, trained),
      logprobs: unpad(
        padded,
        parts.map(({ logprobs }) => logprobs),
      ),
    };
  }

  /** Runs micro-batches one after another on the given weights. The event loop runs in between. */
  async #perMicroBatch<Result>(
    padded: PaddedBatch,
    weights: Weights,
    signal: AbortSignal | undefined,
    run: (parameters: Parameters, micro: PaddedBatch['microBatches'][number]) => Promise<Result>,
  ): Promise<Result[]> {
    const parameters = new Map<string, TfTensor>();
    for (const [name, { shape, data }] of weights) {
      parameters.set(name, this.#tf.tensor(data, [...shape], 'float32'));
    }
    try {
      const results: Result[] = [];
      for (const micro of padded.microBatches) {
        signal?.throwIfAborted();
        results.push(await run(parameters, micro));
        await this.#tf.nextFrame();
      }
      return results;
    } finally {
      this.#tf.dispose([...parameters.values()]);
    }
  }
}

/**
 * Starts training a model on TensorFlow.js: the same policy as `createOnnxBackend`, computed by another
 * library.
 *
 * @example
 * import * as tf from '@tensorflow/tfjs-node';
 * const backend = createTfjsBackend({ tf, model, learningRate: 1e-4 });
 *
 * @throws OptionsError naming every invalid option.
 * @throws ArgumentError if the model's weights do not fit its config.
 */
export function createTfjsBackend<T extends TfTensor>(options: TfjsBackendOptions<T>): TfjsTrainingBackend {
  return new TfjsTrainingBackend(resolveTfjsOptions(options));
}

function meanMetrics(parts: readonly MicroBatchGradient[], trained: number): Record<string, number> {
  const sums = new Map<string, number>();
  for (const { metrics } of parts) {
    for (const [name, sum] of metrics) sums.set(name, (sums.get(name) ?? 0) + sum);
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, trained === 0 ? 0 : sum / trained]));
}
