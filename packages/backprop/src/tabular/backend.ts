import {
  ArgumentError,
  type BackendGroup,
  type ForwardBackwardResult,
  type FullBackend,
  type HostTensor,
  type Loss,
  type OptimStepResult,
  type PublishOptions,
  parseOptions,
  type ReferenceUpdate,
  type SharedWeights,
  type TokenId,
  type TokenScores,
  type TrainFuture,
  type TrainingBatch,
  TrainingError,
  type WeightPublication,
  type Weights,
  withForeignNames,
} from '@rlp/core';
import * as z from 'zod';
import { countTokens } from '../batch/count-tokens.ts';
import { checkValueHead } from '../batch/value-losses.ts';
import { Future, TaskQueue } from '../future.ts';
import { backendNames } from '../optimizer/foreign-names.ts';
import { clipFactor, globalNorm, movingAverage, referenceDecay } from '../optimizer/optimizer.ts';
import { maxGradientNormSchema } from '../optimizer/options.ts';
import { type Schedule, scheduleFactor, scheduleSchema } from '../optimizer/schedule.ts';
import { accumulateLogits, evaluateBatch, scoreBatch, tokenLogprobs } from './batch.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { OptimizerState } from './optimizer-state.ts';
import { LogitsTable, type TabularShape, tabularShapeSchema } from './table.ts';
import { checkSavedHead, ValueTable } from './value-table.ts';

const optionsSchema = withForeignNames(tabularShapeSchema, backendNames).extend({
  /** Adam with β 0.9, 0.999 and ε 1e-8, or plain gradient descent. Default `'adam'`. */
  optimizer: z.enum(['adam', 'sgd']).default('adam'),
  /** Learning rate before the schedule. Default 0.1. */
  learningRate: z.number().positive().default(0.1),
  /** How the learning rate changes over updates. `points` take any shape. Default constant. */
  schedule: scheduleSchema.prefault({ kind: 'constant' }),
  /** Global L2 norm that gradients are clipped to, or `'off'`. Default `'off'`. */
  maxGradientNorm: maxGradientNormSchema.prefault('off'),
  /** `'linear'` adds a critic with one value per context, which starts at 0. Default `'none'`. */
  valueHead: z.enum(['none', 'linear']).default('none'),
});

/** Options of {@link TabularBackend}. */
export interface TabularOptions extends z.input<typeof optionsSchema> {}

let stores = 0;

/**
 * A softmax policy over a table of logits, with exact gradients. The smallest policy that learns.
 *
 * Computes synchronously in float64 and implements all of {@link FullBackend}. Use it to test loops and
 * losses in milliseconds. Its only weight is `logits`, `[(V + 1)^n, V]`. Values of the critic are stored
 * separately.
 */
export class TabularBackend implements FullBackend {
  readonly table: LogitsTable;
  /** Name of the tables that {@link TabularBackend.publish} returns. */
  readonly store = `tabular-${stores++}`;
  readonly #training: Omit<z.output<typeof optionsSchema>, keyof TabularShape>;
  readonly #calls = new TaskQueue();
  #reference: Float32Array;
  #published: { readonly version: number; readonly logits: Float32Array };
  readonly #state: OptimizerState;
  readonly #critic: ValueTable | undefined;
  #updates = 0;
  #version = 0;
  #phase: 'open' | 'closed' = 'open';

  /** @throws OptionsError for invalid options. */
  constructor(options: TabularOptions) {
    const resolved = parseOptions('TabularBackend', optionsSchema, options, 'TabularOptions');
    const { vocabularySize, contextTokens, initialScale, seed, ...training } = resolved;
    this.#training = training;
    this.table = new LogitsTable({ vocabularySize, contextTokens, initialScale, seed });
    this.#reference = this.table.logits.slice();
    this.#published = { version: 0, logits: this.table.logits.slice() };
    this.#state = new OptimizerState(this.table.logits.length);
    this.#critic = this.#training.valueHead === 'none' ? undefined : new ValueTable(this.table);
  }

  readonly publishes = ['shared'] as const;

  get shares(): SharedWeights {
    return { engine: this, store: this.store };
  }

  get vocabularySize(): number {
    return this.table.vocabularySize;
  }

  get lacks(): readonly BackendGroup[] {
    return this.#critic ? [] : ['values'];
  }

  get weightVersion(): number {
    return this.#version;
  }

  /** Weights of the last publication, for a sampler. */
  get published(): { readonly version: number; readonly logits: Float32Array } {
    return this.#published;
  }

  forwardBackward(batch: TrainingBatch, loss: Loss): TrainFuture<ForwardBackwardResult> {
    return this.#call(() => {
      const scored = scoreBatch(this.table, batch, loss);
      try {
        const evaluation = evaluateBatch(scored, loss, this.#critic);
        if (loss.values !== 'only') accumulateLogits(scored, evaluation, this.#state.gradient);
        this.#critic?.accumulate(scored, evaluation);
        return {
          loss: evaluation.value,
          metrics: evaluation.metrics,
          logprobs: loss.values === 'only' ? [] : tokenLogprobs(scored),
          tokens: countTokens(batch),
        };
      } catch (error) {
        for (const { gradient } of this.#states()) gradient.fill(0);
        throw error;
      }
    });
  }

  optimStep(): TrainFuture<OptimStepResult> {
    return this.#call(() => {
      const { learningRate: base, schedule, maxGradientNorm } = this.#training;
      const gradientNorm = globalNorm(this.#states().map(({ gradient }) => gradient));
      const scale = clipFactor(gradientNorm, maxGradientNorm);
      const learningRate = base * scheduleFactor(schedule as Schedule, this.#updates);
      this.#updates += 1;
      const step = { optimizer: this.#training.optimizer, learningRate, scale, update: this.#updates };
      this.#state.update(this.table.logits, step);
      this.#critic?.state.update(this.#critic.values, step);
      return { gradientNorm, learningRate, updates: this.#updates };
    });
  }

  #states(): OptimizerState[] {
    return this.#critic ? [this.#state, this.#critic.state] : [this.#state];
  }

  logprobs(
    sequences: readonly (readonly TokenId[])[],
    options: {
      readonly policy?: 'current' | 'reference';
      readonly temperature?: number;
      readonly signal?: AbortSignal;
    } = {},
  ): TrainFuture<readonly TokenScores[]> {
    return this.#call(() => {
      options.signal?.throwIfAborted();
      const logits = options.policy === 'reference' ? this.#reference : this.table.logits;
      return sequences.map((tokens) => scoreTokens(this.table, logits, tokens, options.temperature ?? 1));
    });
  }

  values(
    sequences: readonly (readonly TokenId[])[],
    options: { readonly signal?: AbortSignal } = {},
  ): TrainFuture<readonly Float32Array[]> {
    return this.#call(() => {
      options.signal?.throwIfAborted();
      checkValueHead(this.#training.valueHead);
      return sequences.map((tokens) => this.#critic!.ofSequence(tokens));
    });
  }

  getWeights(): TrainFuture<Weights> {
    return this.#call(() => new Map([['logits', this.#tensor()]]));
  }

  loadWeights(weights: Weights): TrainFuture<void> {
    return this.#call(() => {
      const given = weights.get('logits');
      const { shape, data } = this.#tensor();
      const fits =
        weights.size === 1 && given?.shape.join() === shape.join() && given.data.length === data.length;
      if (!fits) {
        const names = [...weights].map(([name, tensor]) => `${name} [${tensor.shape.join(', ')}]`);
        throw new ArgumentError(
          `loadWeights: expected exactly logits [${shape.join(', ')}], got ${names.join(', ') || 'nothing'}`,
        );
      }
      this.table.logits = given.data.slice();
    });
  }

  #tensor(): HostTensor {
    const { vocabularySize, contextTokens, logits } = this.table;
    return { shape: [(vocabularySize + 1) ** contextTokens, vocabularySize], data: logits.slice() };
  }

  updateReference(update: ReferenceUpdate): TrainFuture<void> {
    return this.#call(() => movingAverage(this.#reference, this.table.logits, referenceDecay(update)));
  }

  publish({ as }: PublishOptions): TrainFuture<WeightPublication> {
    return this.#call(() => {
      if (as !== 'shared') {
        throw new ArgumentError(
          `publish: a table is published as 'shared' only, got ${String(as)}; use { as: 'shared' }`,
        );
      }
      this.#version += 1;
      this.#published = { version: this.#version, logits: this.table.logits.slice() };
      return { kind: 'shared', version: this.#version, ...this.shares };
    });
  }

  saveCheckpoint(directory: string): TrainFuture<void> {
    return this.#call(() =>
      writeCheckpoint(directory, {
        format: 'rlp-tabular-1',
        vocabularySize: this.table.vocabularySize,
        contextTokens: this.table.contextTokens,
        logits: [...this.table.logits],
        reference: [...this.#reference],
        moment1: [...this.#state.moment1],
        moment2: [...this.#state.moment2],
        updates: this.#updates,
        weightVersion: this.#version,
        valueHead: this.#critic?.save(),
      }),
    );
  }

  loadCheckpoint(directory: string): TrainFuture<void> {
    return this.#call(async () => {
      const checkpoint = await readCheckpoint(directory);
      const { vocabularySize, contextTokens, logits } = this.table;
      if (checkpoint.vocabularySize !== vocabularySize || checkpoint.logits.length !== logits.length) {
        throw new ArgumentError(
          `loadCheckpoint: ${directory} holds a policy of vocabulary ${checkpoint.vocabularySize} and ` +
            `${checkpoint.contextTokens} context tokens, this one has ${vocabularySize} and ${contextTokens}`,
        );
      }
      checkSavedHead(directory, checkpoint, this.#critic);
      this.table.logits = Float32Array.from(checkpoint.logits);
      this.#reference = Float32Array.from(checkpoint.reference);
      this.#state.restore(checkpoint);
      if (checkpoint.valueHead) this.#critic?.restore(checkpoint.valueHead);
      this.#updates = checkpoint.updates;
      this.#version = checkpoint.weightVersion;
      this.#published = { version: this.#version, logits: this.table.logits.slice() };
    });
  }

  async close(): Promise<void> {
    await this.#calls.idle();
    this.#phase = 'closed';
  }

  #call<Result>(work: () => Result | Promise<Result>): TrainFuture<Result> {
    return new Future(
      this.#calls.run(() => {
        if (this.#phase === 'closed') {
          throw new TrainingError('TabularBackend: it was closed; create another one');
        }
        return work();
      }),
    );
  }
}

/** Logprobs and entropies of every token of a sequence, 0 at position 0. */
export function scoreTokens(
  table: LogitsTable,
  logits: Float32Array,
  tokens: readonly TokenId[],
  temperature: number,
): TokenScores {
  table.checkTokens('logprobs', tokens);
  const scores = {
    logprobs: new Float32Array(tokens.length),
    entropies: new Float32Array(tokens.length),
  };
  for (let t = 1; t < tokens.length; t++) {
    const { logprobs, entropy } = table.distribution(table.rowOf(tokens, t), temperature, logits);
    scores.logprobs[t] = logprobs[tokens[t]!]!;
    scores.entropies[t] = entropy;
  }
  return scores;
}
