import {
  ArgumentError,
  type BackendGroup,
  type CheckpointBackend,
  type ForwardBackwardResult,
  type Loss,
  type OptimStepResult,
  orAborted,
  type PublicationForm,
  type PublishOptions,
  type SharedWeights,
  type TokenId,
  type TokenScores,
  type TrainFuture,
  type TrainingBatch,
  TrainingError,
  type VersionedBackend,
  type WeightPublication,
} from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import { failureSentence, RequestError } from '@rlp/http/client';
import * as z from 'zod';
import { requireSeparateRows, validateBatch, validateTokens } from '../batch/packing-validation.ts';
import { Future, TaskQueue } from '../future.ts';
import { fs } from '../node-files.ts';
import { type Schedule, scheduleFactor } from '../optimizer/schedule.ts';
import { openCheckpoint, readRecord } from '../weights/checkpoint.ts';
import { requirePublishable } from '../weights/publication-files.ts';
import { evaluateLocally, masked, plainLoss, type Reduction, resultOf } from './gradients.ts';
import { type NativeLoss, nativeLossOf } from './native-loss.ts';
import { normIn, probeLoss } from './probe.ts';
import { contributionsOf, ServedGradient } from './served-gradient.ts';
import { alignedWith, ServedModel } from './served-model.ts';
import { type Submitted, type TinkerSession, tinkerWords } from './session.ts';
import { anySchema, optimSchema, savedSchema } from './wire.ts';

/** What a backend on a Tinker server is made of. */
export interface TinkerModel {
  readonly id: string;
  readonly baseModel: string;
  readonly rank: number;
  readonly vocabularySize: number;
  readonly contextLength: number;
  readonly reduction: Reduction;
  readonly nativeLosses: 'probe' | 'off';
  readonly learningRate: number;
  readonly schedule: Schedule;
  /** Sent with each update, under Tinker's names. */
  readonly adam: Readonly<Record<string, number>>;
  readonly sequencesPerRequest: number;
  readonly bytesPerRequest: number;
  readonly closeMs: number;
  /** Makes another model like this one. */
  readonly create: () => Promise<string>;
}

const fileName = 'tinker.json';
const checkpointSchema = z.strictObject({
  format: z.literal('rlp-tinker-1'),
  path: z.string(),
  baseModel: z.string(),
  rank: z.int(),
  updates: z.int().nonnegative(),
  weightVersion: z.int().nonnegative(),
});

/**
 * A policy that a Tinker server trains. The server computes logprobs, gradients and updates. Losses are computed here, from the logprobs,
 * and their derivatives become the weights of the server's own losses. So any loss trains that reads logprobs and columns.
 *
 * Temperature is 1. Entropies are unknown (NaN), because the protocol does not give them.
 */
export class TinkerBackend implements CheckpointBackend, VersionedBackend {
  readonly publishes: readonly PublicationForm[] = ['shared'];
  readonly lacks: readonly BackendGroup[] = ['entropies'];
  readonly session: TinkerSession;
  readonly #options: TinkerModel;
  readonly #calls = new TaskQueue();
  #last: Promise<unknown> = Promise.resolve();
  #model: ServedModel;
  #gradient: ServedGradient;
  /** Updates that were made, and those whose result is waited for. */
  #updates = 0;
  #sentUpdates = 0;
  #version = 0;
  #saved = 0;
  #published: string | undefined;
  #closing: Promise<void> | undefined;
  /** Losses of the server by the keys of ours. */
  readonly #natives = new Map<string, Promise<NativeLoss | undefined>>();

  constructor(session: TinkerSession, options: TinkerModel) {
    this.session = session;
    this.#options = options;
    this.#model = new ServedModel(session, options.id);
    this.#gradient = new ServedGradient(this.#model, options);
  }

  get vocabularySize(): number {
    return this.#options.vocabularySize;
  }

  get shares(): SharedWeights {
    return { engine: this.session, store: 'tinker' };
  }

  get weightVersion(): number {
    return this.#version;
  }

  /** How the server adds up the losses of tokens. */
  get reduction(): Reduction {
    return this.#options.reduction;
  }

  /** Name of the model on the server, before any training. */
  get baseModel(): string {
    return this.#options.baseModel;
  }

  /** Path of the weights that were published last, for a sampler of the same session. `undefined` before that, and after `loadCheckpoint`. */
  get publishedPath(): string | undefined {
    return this.#published;
  }

  forwardBackward(batch: TrainingBatch, loss: Loss): TrainFuture<ForwardBackwardResult> {
    return this.#call('forwardBackward', async (before) => {
      requireSeparateRows(loss);
      validateBatch(batch, loss, this.#options);
      requireTemperature('forwardBackward', batch.sequences[0]!.temperature ?? 1);
      await this.#dropDoubtful(before);
      const guarded = this.#gradient.begin();
      const receive = await guarded(async () => {
        const native = await this.#nativeOf(loss);
        return native === undefined ? this.#translated(batch, loss) : this.#native(batch, loss, native);
      });
      return () => guarded(receive, before);
    });
  }

  #nativeOf(loss: Loss): Promise<NativeLoss | undefined> {
    let native = this.#natives.get(loss.key);
    if (native === undefined) {
      native = this.#findNative(loss);
      this.#natives.set(loss.key, native);
      native.catch(() => this.#natives.delete(loss.key));
    }
    return native;
  }

  async #findNative(loss: Loss): Promise<NativeLoss | undefined> {
    const { reduction, nativeLosses, create } = this.#options;
    const native = nativeLossOf(loss);
    if (native?.name === 'cross_entropy') return reduction === 'sum' ? native : undefined;
    if (native === undefined || nativeLosses === 'off') return undefined;
    return (await probeLoss(this.session, create, native, reduction)) ? native : undefined;
  }

  /** One pass: the server's own loss has our derivatives. Its result is waited for after the next call was sent. */
  async #native(batch: TrainingBatch, loss: Loss, native: NativeLoss) {
    const { sequences } = batch;
    const anchors = sequences.map(({ tokens, mask, columns }) =>
      native.anchor === undefined ? new Float64Array(tokens.length) : masked(mask, columns[native.anchor]!),
    );
    const { gradients } = evaluateLocally(batch, loss, anchors);
    const sent = contributionsOf(sequences, anchors, gradients, 'all');
    const submitted = await this.#gradient.add(sent.contributions, native);
    return async () => {
      const rows = await this.#model.passed(submitted);
      const logprobs = alignedWith(tokensOf(sequences), sent.members, rows);
      return resultOf(batch, evaluateLocally(batch, loss, logprobs), logprobs);
    };
  }

  /** Two passes: logprobs, then their derivatives as weights. */
  async #translated(batch: TrainingBatch, loss: Loss) {
    const { sequences } = batch;
    const scored = this.#model.score(tokensOf(sequences), this.#options);
    const logprobs = await scored.catch(rethrown('forwardBackward'));
    const local = evaluateLocally(batch, loss, logprobs);
    const { contributions } = contributionsOf(sequences, logprobs, local.gradients, 'trained');
    const submitted = await this.#gradient.add(contributions, plainLoss(this.#options.reduction));
    return async () => {
      await this.#model.passed(submitted);
      return resultOf(batch, local, logprobs);
    };
  }

  /**
   * An update whose answer was lost may be made all the same. It counts if the server took the request and did not report that it failed.
   */
  optimStep(): TrainFuture<OptimStepResult> {
    return this.#call('optimStep', async (before) => {
      await this.#dropDoubtful(before);
      const { adam, learningRate: base, schedule, reduction } = this.#options;
      const learningRate = base * scheduleFactor(schedule, this.#updates + this.#sentUpdates);
      const gradient = this.#gradient;
      const sent = gradient.isEmpty
        ? undefined
        : await gradient.update({ ...adam, learning_rate: learningRate });
      this.#gradient = new ServedGradient(this.#model, this.#options);
      this.#sentUpdates += 1;
      return async () => {
        const norm = sent === undefined ? 0 : await this.#updated(sent.submitted, before);
        await before;
        this.#sentUpdates -= 1;
        this.#updates += 1;
        if (sent !== undefined) gradient.requireWhole();
        const gradientNorm = reduction === 'sum' ? norm : norm * (sent?.sequences ?? 1);
        return { gradientNorm, learningRate, updates: this.#updates };
      };
    });
  }

  /** The norm of the gradient of an update. */
  async #updated(submitted: Submitted, before: Promise<unknown>): Promise<number> {
    try {
      const { metrics } = await this.session.result(submitted, optimSchema);
      return normIn(metrics ?? {}) ?? Number.NaN;
    } catch (error) {
      this.#gradient.inherit(error);
      await before;
      this.#sentUpdates -= 1;
      if (!(error instanceof TrainingError)) this.#updates += 1;
      throw error;
    }
  }

  logprobs(
    sequences: readonly (readonly TokenId[])[],
    options: Parameters<CheckpointBackend['logprobs']>[1] = {},
  ): TrainFuture<readonly TokenScores[]> {
    const { temperature = 1, policy = 'current', signal } = options;
    return this.#call('logprobs', async () => {
      signal?.throwIfAborted();
      if (policy === 'reference') {
        throw new ArgumentError('logprobs: a Tinker backend has no reference policy; train without KL terms');
      }
      validateTokens('logprobs', sequences, this.#options, { temperature });
      requireTemperature('logprobs', temperature);
      const rows = await this.#model.score(sequences, this.#options, signal);
      return async () => rows.map((logprobs) => ({ logprobs, entropies: unknownEntropies(logprobs.length) }));
    });
  }

  publish(options: PublishOptions): TrainFuture<WeightPublication> {
    return this.#call('publish', async () => {
      requirePublishable(options, this.publishes);
      const version = this.#version + 1;
      const path = `rlp-${version}-${this.#saved++}`;
      const body = { path, type: 'save_weights_for_sampler' };
      this.#published = (await this.#model.call('/save_weights_for_sampler', body, savedSchema)).path;
      this.#version = version;
      return async () => ({ kind: 'shared', version, ...this.shares });
    });
  }

  /** Saves weights and optimizer on the server, and where they are in `directory`. */
  saveCheckpoint(directory: string): TrainFuture<void> {
    return this.#call('saveCheckpoint', async (before) => {
      const path = await this.#save();
      await before;
      const { baseModel, rank } = this.#options;
      const state = { format: 'rlp-tinker-1', path, baseModel, rank, updates: this.#updates };
      const text = JSON.stringify({ ...state, weightVersion: this.#version }, null, 2);
      await writeDirectory(directory, (temporary) => fs().writeFile(`${temporary}/${fileName}`, `${text}\n`));
      return async () => undefined;
    });
  }

  /** Saves weights and optimizer on the server. Returns their path. */
  async #save(): Promise<string> {
    const name = `rlp-state-${this.#updates + this.#sentUpdates}-${this.#saved++}`;
    return (await this.#model.call('/save_weights', { path: name, type: 'save_weights' }, savedSchema)).path;
  }

  /** Continues from a checkpoint of `saveCheckpoint`, which the server must still have. */
  loadCheckpoint(directory: string): TrainFuture<void> {
    return this.#call('loadCheckpoint', async (before) => {
      await openCheckpoint(directory);
      const state = await readRecord(`${directory}/${fileName}`, checkpointSchema);
      const { baseModel, rank } = this.#options;
      if (state.baseModel !== baseModel || state.rank !== rank) {
        throw new ArgumentError(
          `loadCheckpoint: ${directory} is of ${state.baseModel} with rank ${state.rank}, this backend trains ${baseModel} with rank ${rank}; create it with the same baseModel and rank`,
        );
      }
      await before;
      await this.#load(state.path);
      this.#updates = state.updates;
      this.#version = state.weightVersion;
      this.#published = undefined;
      return async () => undefined;
    });
  }

  /** Drops a gradient of which it is unknown what the server holds: a model with the same weights and optimizer takes over. */
  async #dropDoubtful(before: Promise<unknown>): Promise<void> {
    if (!this.#gradient.isInDoubt) return;
    await before;
    if (this.#gradient.isEmpty) this.#gradient = new ServedGradient(this.#model, this.#options);
    else await this.#load(await this.#save());
  }

  /** Loads weights and optimizer: into this model if they are its first request, else into another, which takes its place. */
  async #load(path: string): Promise<void> {
    const old = this.#model;
    const model = old.isFresh ? old : new ServedModel(this.session, await this.#options.create());
    try {
      await model.call('/load_weights', { path, optimizer: true, type: 'load_weights' }, anySchema);
    } catch (error) {
      if (model !== old) await model.unload();
      throw error;
    }
    const gradient = this.#gradient;
    this.#model = model;
    this.#gradient = new ServedGradient(model, this.#options);
    if (model !== old) await this.#leave(old, gradient, AbortSignal.timeout(this.#options.closeMs));
  }

  /** Unloads a model without its gradient. */
  async #leave(model: ServedModel, gradient: ServedGradient, signal: AbortSignal): Promise<void> {
    await gradient.settle(this.#options.adam, signal);
    await model.unload(signal);
  }

  /** Waits for calls under way and unloads the model. After `closeMs` it ends whatever still waits for the server. */
  close(): Promise<void> {
    this.#closing ??= this.#close(AbortSignal.timeout(this.#options.closeMs));
    return this.#closing;
  }

  async #close(late: AbortSignal): Promise<void> {
    try {
      await orAborted(
        this.#calls.idle().then(() => this.#last),
        late,
      );
      await this.#leave(this.#model, this.#gradient, late);
    } catch {
      // The server is too late. It unloads the model when it misses the signs of life.
    } finally {
      this.session.close();
    }
  }

  /**
   * Calls are sent in order. The next one is sent as soon as `send` resolves. Results come in order too.
   *
   * @param send - Gets what settles with the calls before it.
   */
  #call<Result>(
    owner: string,
    send: (before: Promise<unknown>) => Promise<() => Promise<Result>>,
  ): TrainFuture<Result> {
    if (this.#closing !== undefined) {
      const closed = new TrainingError(`${owner}: the Tinker backend was closed; create another one`);
      return new Future(Promise.reject(closed));
    }
    const before = this.#last;
    const result = this.#calls
      .run(() => send(before))
      .then(async (receive) => {
        const [received] = await Promise.all([receive(), before]);
        return received;
      });
    // Without the results, which would be kept one in another.
    this.#last = Promise.allSettled([result, before]).then(() => undefined);
    return new Future(result.catch(rethrown(owner)));
  }
}

function tokensOf(sequences: TrainingBatch['sequences']): (readonly TokenId[])[] {
  return sequences.map(({ tokens }) => tokens);
}

/** NaN for every token but the first, whose entropy is 0 by definition. */
function unknownEntropies(length: number): Float32Array {
  return new Float32Array(length).fill(Number.NaN, 1);
}

function requireTemperature(owner: string, temperature: number): void {
  if (temperature === 1) return;
  throw new ArgumentError(
    `${owner}: Tinker's protocol computes logprobs at temperature 1, got ${temperature}; sample and train at 1`,
  );
}

/** Puts a failed request in the words of a training backend. */
function rethrown(owner: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof RequestError)) throw error;
    throw new TrainingError(`${owner}: ${failureSentence(error, tinkerWords)}`, { cause: error });
  };
}
