import { type OptimStepResult, TrainingError } from '@rlp/core';
import {
  type CallContext,
  type EngineHost,
  type ParameterStore,
  Tensor,
  type Tensors,
} from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { lossError } from '../batch/not-finite.ts';
import { TaskQueue } from '../future.ts';
import type { PolicyGraphs } from '../graphs/policy-graphs.ts';
import { LossScale } from '../optimizer/loss-scale.ts';
import { clipFactor } from '../optimizer/optimizer.ts';
import { scheduleFactor } from '../optimizer/schedule.ts';
import type {
  ComputeRequest,
  GradientResult,
  NamedTensor,
  Policy,
  ProgramState,
  RebaseRequest,
  ScoreResult,
  TrainingProgramOptions,
  UpdateSettings,
} from '../program-protocol.ts';
import type { MergePlan } from '../weights/merge-plan.ts';
import { valueHeadName } from '../weights/value-head.ts';
import { DropoutMasks } from './dropout-masks.ts';
import type { GradientAccumulator } from './gradient-accumulator.ts';
import { driversOf } from './parameter-drivers.ts';
import { type CompiledGraph, CompiledGraphs, feedsOf } from './program-graphs.ts';
import { QuantizedMerger } from './quantized-merger.ts';
import type { ParameterOptimizer } from './slot-optimizer.ts';
import { clearParameters, copyIn, copyOut, mixStores } from './store-copies.ts';
import { type Merger, WeightMerger } from './weight-merger.ts';

/** Training inside the engine's thread. Calls run one at a time, in order. */
export class TrainingProgram {
  readonly #host: EngineHost;
  readonly #options: TrainingProgramOptions;
  readonly #store: ParameterStore;
  readonly #graphs: CompiledGraphs;
  readonly #gradient: GradientAccumulator;
  readonly #optimizer: ParameterOptimizer;
  readonly #merger: Merger | undefined;
  readonly #dropout: DropoutMasks;
  readonly #lossScale: LossScale | undefined;
  readonly #tasks = new TaskQueue();
  #reference: ParameterStore | undefined;
  /** Weights at which gradients are taken, if these are not the parameters. */
  #point: { readonly store: ParameterStore; age: 'current' | 'old' } | undefined;
  #updates = 0;
  #weightVersion = 0;

  /** @param graphs - Builds the requested graphs. */
  constructor(host: EngineHost, options: TrainingProgramOptions, graphs: PolicyGraphs) {
    this.#host = host;
    this.#options = options;
    this.#store = host.store(options.trainable);
    this.#graphs = new CompiledGraphs(host, graphs);
    const { gradient, optimizer } = driversOf(host, this.#store, options);
    this.#gradient = gradient;
    this.#optimizer = optimizer;
    this.#dropout = new DropoutMasks(options.dropout);
    this.#lossScale = options.precision === 'mixed' ? new LossScale() : undefined;
    this.#merger = options.merge && mergerOf(host, options.merge);
  }

  readonly forwardBackward = (request: ComputeRequest, call: CallContext): Promise<GradientResult> =>
    this.#tasks.run(async () => {
      try {
        return await this.#accumulate(request, call);
      } catch (error) {
        this.#discardGradient();
        throw error;
      }
    });

  readonly discardGradient = (): Promise<void> => this.#tasks.run(() => this.#discardGradient());

  readonly optimStep = (given: UpdateSettings): Promise<OptimStepResult> =>
    this.#tasks.run(async () => {
      try {
        return await this.#update(given);
      } finally {
        this.#discardGradient();
      }
    });

  readonly score = (
    { policy, ...request }: ComputeRequest & { readonly policy: Policy },
    call: CallContext,
  ): Promise<ScoreResult> =>
    this.#tasks.run(async () => {
      const graph = await this.#graphs.open(request);
      const scores = new Scores(graph.plan);
      for (const batch of request.microBatches) {
        call.signal.throwIfAborted();
        const into = scores.next(batch);
        const feeds = feedsOf(graph, batch, request, await this.#stores(policy));
        await graph.session.run(feeds, { into, fetch: Object.keys(into) });
        await this.#host.yield();
      }
      return scores.result;
    });

  readonly readParameters = (_: undefined, call: CallContext): Promise<readonly NamedTensor[]> =>
    this.#tasks.run(() => copyOut(this.#store, undefined, call));

  readonly writeParameters = (tensors: readonly NamedTensor[]): Promise<void> =>
    this.#tasks.run(async () => {
      await this.#freezeReference();
      await copyIn(this.#store, undefined, tensors);
      this.#forgetPoint();
    });

  /**
   * Writes weights to every store that holds them and resets the correction, including the
   * reference's.
   */
  readonly rebase = ({ tensors, zero }: RebaseRequest): Promise<void> =>
    this.#tasks.run(async () => {
      const trained = this.#reference ? [this.#store, this.#reference] : [this.#store];
      const frozen = this.#options.frozen.map((name) => this.#host.store(name));
      for (const store of [...frozen, ...trained]) {
        const held = new Set(store.parameters.map(({ name }) => name));
        await copyIn(
          store,
          undefined,
          tensors.filter(({ name }) => held.has(name)),
        );
      }
      const cleared = new Set(zero);
      for (const store of trained) {
        const parameters = store.parameters.filter(({ name }) => cleared.has(name));
        await clearParameters(store, parameters);
      }
      this.#forgetPoint();
    });

  /** reference ← decay · reference + (1 − decay) · current. */
  readonly updateReference = ({ decay }: { readonly decay: number }): Promise<void> =>
    this.#tasks.run(async () => {
      await mixStores(await this.#requireReference('updateReference'), decay, this.#store);
    });

  /** Writes the current policy to the published store. Returns the new version. */
  readonly publish = (): Promise<number> =>
    this.#tasks.run(async () => {
      await this.#merger?.mergeInto(await this.#stores('current'));
      this.#weightVersion += 1;
      return this.#weightVersion;
    });

  /** Copies of the merged weights that {@link TrainingProgram.publish} would publish. */
  readonly readMerged = (_: undefined, call: CallContext): Promise<readonly NamedTensor[]> =>
    this.#tasks.run(async () => {
      const merged = (await this.#merger?.merge(await this.#stores('current'))) ?? [];
      call.transfer(...merged.map(({ data }) => data.buffer as ArrayBuffer));
      return merged;
    });

  readonly save = (_: undefined, call: CallContext): Promise<ProgramState> =>
    this.#tasks.run(async () => ({
      updates: this.#updates,
      weightVersion: this.#weightVersion,
      parameters: await copyOut(this.#store, undefined, call),
      optimizer: await this.#optimizer.save(call),
      reference: this.#reference && (await copyOut(this.#reference, undefined, call)),
      lossScale: this.#lossScale?.state,
    }));

  readonly restore = (state: ProgramState): Promise<void> =>
    this.#tasks.run(async () => {
      // Without a reference, the checkpoint was saved before anything changed. Its reference is its
      // parameters.
      if (!state.reference) this.#dropReference();
      else if (this.#options.reference) {
        await copyIn(this.#createReference(this.#options.reference), undefined, state.reference);
      }
      await copyIn(this.#store, undefined, state.parameters);
      await this.#optimizer.restore(state.optimizer);
      this.#forgetPoint();
      this.#discardGradient();
      this.#updates = state.updates;
      this.#lossScale?.restore(state.lossScale);
      this.#weightVersion = state.weightVersion;
    });

  readonly close = (): Promise<void> =>
    this.#tasks.run(async () => {
      await this.#graphs.close();
      await this.#merger?.close();
      await this.#gradient.release();
      await this.#optimizer.release();
      if (this.#point) this.#host.deleteStore(this.#point.store.name);
      this.#point = undefined;
      this.#dropReference();
    });

  async #update(given: UpdateSettings): Promise<OptimStepResult> {
    await this.#freezeReference();
    const { learningRate: base, schedule, optimizer, maxGradientNorm } = this.#options;
    const { learningRate = base * scheduleFactor(schedule, this.#updates) } = given;
    await this.#gradient.settle();
    const lossScale = this.#lossScale?.factor ?? 1;
    const gradientNorm = (await this.#gradient.norm()) / lossScale;
    const overflows = !Number.isFinite(gradientNorm);
    this.#lossScale?.adapt(overflows ? 'overflow' : 'finite');
    if (overflows) return { gradientNorm, learningRate, updates: this.#updates, skipped: 'overflow' };
    await this.#optimizer.update({
      ...{ learningRate, update: this.#updates + 1 },
      options: given.optimizer ?? optimizer,
      factor: clipFactor(gradientNorm, given.maxGradientNorm ?? maxGradientNorm) / lossScale,
    });
    this.#updates += 1;
    this.#forgetPoint();
    return { gradientNorm, learningRate, updates: this.#updates };
  }

  #discardGradient(): void {
    this.#gradient.clear();
    this.#dropout.reset();
  }

  async #accumulate(request: ComputeRequest, call: CallContext): Promise<GradientResult> {
    let loss = 0;
    const graph = await this.#graphs.open(request, this.#gradient.sumsOf(request.microBatches.length));
    const names = Object.keys(graph.plan.metrics);
    const metricSums: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
    const scores = new Scores(graph.plan);
    const masks = this.#dropout.next(this.#updates);
    const lossScale = this.#lossScale?.factor ?? 1;
    for (const batch of request.microBatches) {
      call.signal.throwIfAborted();
      const feeds = feedsOf(graph, batch, { ...request, lossScale }, await this.#stores('point'));
      const dropped = { ...feeds, ...masks(graph.plan.dropouts, batch) };
      const result = await this.#runBackward(graph, batch, dropped, scores.next(batch));
      const part = scalar(result.loss!);
      if (!Number.isFinite(part)) throw lossError(part, this.#options.precision);
      loss += part;
      for (const [metric, output] of Object.entries(graph.plan.metrics)) {
        metricSums[metric]! += scalar(result[output]!);
      }
      await this.#gradient.add(graph, batch);
      await this.#host.yield();
    }
    // A smaller factor may help against an overflow. The update then finds it.
    if (lossScale === 1) await this.#gradient.check();
    return { loss, metricSums, scores: scores.result };
  }

  async #runBackward(
    graph: CompiledGraph,
    batch: MicroBatch,
    feeds: Tensors,
    scores: Tensors,
  ): Promise<Tensors> {
    const { plan, session } = graph;
    const gradient = await this.#gradient.tensors(graph, batch);
    const into = { ...scores, ...gradient.into };
    const fetch = ['loss', ...Object.values(plan.metrics), ...Object.values(plan.gradients)];
    return { ...(await session.run({ ...feeds, ...gradient.feeds }, { into, fetch })), ...into };
  }

  /** @param policy - `'point'` is where gradients are taken. */
  async #stores(policy: Policy | 'point'): Promise<ParameterStore[]> {
    const frozen = this.#options.frozen.map((name) => this.#host.store(name));
    if (policy === 'current') return [this.#store, ...frozen];
    if (policy === 'point') return [await this.#requirePoint(), ...frozen];
    return [await this.#requireReference('logprobs'), ...frozen];
  }

  async #requirePoint(): Promise<ParameterStore> {
    const write = this.#optimizer.writePoint;
    if (write === undefined) return this.#store;
    const { parameters } = this.#store;
    this.#point ??= { store: this.#host.createStore({ name: this.#options.point, parameters }), age: 'old' };
    if (this.#point.age === 'old') await write(this.#point.store);
    this.#point.age = 'current';
    return this.#point.store;
  }

  /** Call after parameters or the optimizer's state change. */
  #forgetPoint(): void {
    if (this.#point) this.#point.age = 'old';
  }

  async #requireReference(owner: string): Promise<ParameterStore> {
    const reference = await this.#freezeReference();
    if (reference) return reference;
    throw new TrainingError(
      `${owner}: there is no reference policy; create the backend with reference: 'initial'`,
    );
  }

  /** Reference policy. If it does not exist, copies the current parameters. Call before parameters change. */
  async #freezeReference(): Promise<ParameterStore | undefined> {
    if (this.#reference || this.#options.reference === undefined) return this.#reference;
    const reference = this.#createReference(this.#options.reference);
    await mixStores(reference, 0, this.#store);
    return reference;
  }

  #dropReference(): void {
    if (this.#reference) this.#host.deleteStore(this.#reference.name);
    this.#reference = undefined;
  }

  #createReference(name: string): ParameterStore {
    const parameters = this.#store.parameters.filter((parameter) => parameter.name !== valueHeadName);
    this.#reference ??= this.#host.createStore({ name, parameters });
    return this.#reference;
  }
}

function mergerOf(host: EngineHost, plan: MergePlan): Merger {
  return plan.kind === 'graph' ? new WeightMerger(host, plan) : new QuantizedMerger(host, plan);
}

/** Collects scores over micro-batches. */
class Scores {
  readonly result: Readonly<Record<string, Float32Array[]>>;

  constructor({ perPosition }: CompiledGraph['plan']) {
    this.result = Object.fromEntries(perPosition.map((output) => [output, []]));
  }

  /** Tensors that the next run writes to. */
  next({ scored }: MicroBatch): Tensors {
    const tensors = Object.entries(this.result).map(([output, collected]) => {
      const data = new Float32Array(scored.length);
      collected.push(data);
      return [output, new Tensor('float32', data, [data.length])] as const;
    });
    return Object.fromEntries(tensors);
  }
}

function scalar(tensor: Tensor): number {
  return (tensor.data as Float32Array)[0]!;
}
