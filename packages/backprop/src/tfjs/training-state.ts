import { type HostTensor, type OptimStepResult, TrainingError, type Weights } from '@rlp/core';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import { adamw, clipFactor, globalNorm, movingAverage } from '../optimizer/optimizer.ts';
import { weightDecayOf } from '../optimizer/options.ts';
import { scheduleFactor } from '../optimizer/schedule.ts';
import type { ProgramState } from '../program-protocol.ts';
import { toTensors, toWeights, zeros } from '../weights/policy-weights.ts';
import type { ResolvedTfjsBackendOptions } from './options.ts';

/** Options of a backend that {@link TrainingState} uses. */
export type TrainingStateOptions = Pick<
  ResolvedTfjsBackendOptions,
  'learningRate' | 'schedule' | 'optimizer' | 'maxGradientNorm' | 'reference'
>;

/** Tensors of AdamW's state. */
export function momentSpecs(specs: readonly ParameterSpec[]): ParameterSpec[] {
  return ['moment1', 'moment2'].flatMap((slot) =>
    specs.map(({ name, shape }) => ({ name: `${slot}.${name}`, shape })),
  );
}

/** All state that training changes, in host memory: weights, gradient, moments, reference policy and counters. */
export class TrainingState {
  readonly #options: TrainingStateOptions;
  readonly #specs: readonly ParameterSpec[];
  #weights: Weights;
  #reference: Weights | undefined;
  /** AdamW's moments, named `moment1.weight` and `moment2.weight`. */
  #moments: Weights;
  #gradient: Weights | undefined;
  #updates = 0;
  #weightVersion = 0;

  constructor(specs: readonly ParameterSpec[], weights: Weights, options: TrainingStateOptions) {
    this.#options = options;
    this.#specs = specs;
    this.#weights = ordered(specs, weights);
    this.#moments = toWeights(zeros(momentSpecs(specs)));
  }

  /** The current weights, not a copy. The next update changes them. */
  get weights(): Weights {
    return this.#weights;
  }

  get weightVersion(): number {
    return this.#weightVersion;
  }

  /** Weights of the reference policy. Before the first update, these are the current weights. */
  reference(owner: string): Weights {
    if (this.#options.reference === 'initial') return this.#reference ?? this.#weights;
    throw new TrainingError(
      `${owner}: there is no reference policy; create the backend with reference: 'initial'`,
    );
  }

  /** reference ← decay · reference + (1 − decay) · current. */
  updateReference(decay: number): void {
    this.reference('updateReference');
    this.#freezeReference();
    for (const [name, { data }] of this.#reference!)
      movingAverage(data, this.#weights.get(name)!.data, decay);
  }

  replaceWeights(weights: Weights): void {
    this.#freezeReference();
    this.#weights = ordered(this.#specs, weights);
  }

  raiseVersion(): number {
    this.#weightVersion += 1;
    return this.#weightVersion;
  }

  /**
   * Adds gradients, in the order of the parameters, to the accumulated gradient.
   *
   * @throws TrainingError naming the first tensor that is not finite.
   */
  accumulate(gradients: readonly Float32Array[]): void {
    this.#gradient ??= toWeights(zeros(this.#specs));
    for (const [index, { name }] of this.#specs.entries()) {
      const { data } = this.#gradient.get(name)!;
      const addend = gradients[index]!;
      for (let i = 0; i < data.length; i++) data[i] = data[i]! + addend[i]!;
    }
    if (Number.isFinite(this.#norm())) return;
    for (const [name, { data }] of this.#gradient) checkGradient(name, data);
    throw overflowError();
  }

  /** Copy of the accumulated gradient. Zeros if none was accumulated. */
  gradient(): Weights {
    return this.#gradient ? copyWeights(this.#gradient) : toWeights(zeros(this.#specs));
  }

  clearGradient(): void {
    this.#gradient = undefined;
  }

  /** Clips the gradient, makes one AdamW update and clears the gradient. */
  update(): OptimStepResult {
    this.#freezeReference();
    const { schedule, maxGradientNorm, learningRate: base } = this.#options;
    const gradientNorm = this.#norm();
    const factor = clipFactor(gradientNorm, maxGradientNorm);
    const learningRate = base * scheduleFactor(schedule, this.#updates);
    this.#updates += 1;
    const gradient = this.#gradient ?? toWeights(zeros(this.#specs));
    for (const { name, shape } of this.#specs) {
      const { data } = gradient.get(name)!;
      if (factor < 1) for (let i = 0; i < data.length; i++) data[i] = data[i]! * factor;
      this.#updateParameter(name, data, learningRate, weightDecayOf(this.#options.optimizer, shape));
    }
    this.clearGradient();
    return { gradientNorm, learningRate, updates: this.#updates };
  }

  /** Copies of all state for a checkpoint. */
  save(): ProgramState {
    const copies = (weights: Weights) => toTensors(copyWeights(weights));
    return {
      updates: this.#updates,
      weightVersion: this.#weightVersion,
      parameters: copies(this.#weights),
      optimizer: copies(this.#moments),
      reference: this.#options.reference === 'none' ? undefined : copies(this.#reference ?? this.#weights),
    };
  }

  /**
   * Restores the state of a checkpoint and drops the accumulated gradient.
   *
   * If the checkpoint has no reference, its weights become the reference when they first change.
   */
  restore(state: ProgramState): void {
    const taken = (tensors: ProgramState['parameters'], specs = this.#specs) =>
      ordered(specs, toWeights(tensors));
    this.#reference =
      this.#options.reference === 'initial' ? state.reference && taken(state.reference) : undefined;
    this.#weights = taken(state.parameters);
    this.#moments = taken(state.optimizer, momentSpecs(this.#specs));
    this.#updates = state.updates;
    this.#weightVersion = state.weightVersion;
    this.clearGradient();
  }

  #updateParameter(name: string, gradient: Float32Array, learningRate: number, weightDecay: number): void {
    const { beta1, beta2, epsilon } = this.#options.optimizer;
    const moment = (slot: string) => this.#moments.get(`${slot}.${name}`)!.data;
    const state = { moment1: moment('moment1'), moment2: moment('moment2') };
    adamw(this.#weights.get(name)!.data, gradient, state, {
      learningRate,
      beta1,
      beta2,
      epsilon,
      weightDecay,
      update: this.#updates,
    });
  }

  #norm(): number {
    return globalNorm([...(this.#gradient?.values() ?? [])].map(({ data }) => data));
  }

  /** Keeps the current weights as the reference policy, unless there is one. Call before weights change. */
  #freezeReference(): void {
    if (this.#options.reference === 'initial') this.#reference ??= copyWeights(this.#weights);
  }
}

/** Copies weights in the order of the parameters. */
function ordered(specs: readonly ParameterSpec[], weights: Weights): Weights {
  return copyWeights(new Map(specs.map(({ name }) => [name, weights.get(name)!] as const)));
}

/** A deep copy of weights. */
export function copyWeights(weights: Weights): Map<string, HostTensor> {
  return new Map([...weights].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}
