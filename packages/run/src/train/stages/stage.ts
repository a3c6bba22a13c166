import type { RlState, ScoredGroup, SftState } from '@rlp/algorithms';
import type { Evaluation, Finding, Metrics, TrainingBackend } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import type { RunBackendOptions } from '../../config/backend-schema.ts';
import type { Policy } from '../policy.ts';
import type { PreparedRun } from '../prepare.ts';
import type { LargestUpdate } from './largest-update.ts';

/** Where a stage stands. */
export type StageState = SftState | RlState;

/** One iteration of a stage, as every loop of `@rlp/algorithms` reports it. */
export interface StageReport {
  readonly iteration: number;
  readonly metrics: Metrics;
  readonly notes?: readonly string[];
  readonly findings?: readonly Finding[];
  readonly groups?: readonly ScoredGroup[];
  readonly state: StageState;
}

/** What a stage trains with. */
export interface StageContext {
  readonly prepared: PreparedRun;
  readonly policy: Policy;
  /** Model that the stage began with. */
  readonly model: LanguageModel;
  /** State of an earlier process. */
  readonly resume: StageState | undefined;
  /** Computes for the policy, and for other models of the stage. */
  readonly engine: Engine;
  readonly clock: () => number;
  readonly signal: AbortSignal;
  /** Called with the state of an iteration that was interrupted. */
  readonly onInterrupted: (state: StageState) => void;
}

/** A part of a run that changes the weights: what a file of this folder defines. `Data` is what its loop learns from, if that is made beforehand. */
export interface Stage<Data = unknown> {
  /** Begins the lines of the console. */
  readonly label: string;
  /** Kind of its checkpoints; see `saveRun`. */
  readonly kind: 'sft' | 'rl' | 'preference' | 'reward-model';
  /** What the saved model has besides weights. Default: nothing. */
  readonly saves?: 'value-head' | undefined;
  /** Learning rate if none is given. */
  readonly learningRate: number;
  /** Options of its section over those of the run. */
  backend(prepared: PreparedRun): RunBackendOptions | undefined;
  /** Loads nothing and changes nothing: how long it is, and a note for people. */
  plan(prepared: PreparedRun, model: LanguageModel): StagePlan<Data>;
  /** The loop. It ends after the last iteration, or at the signal. */
  reports(context: StageContext, plan: StagePlan<Data>): AsyncIterable<StageReport>;
  /** Whether `measure` evaluates this run. Default: if there is `measure`. */
  measuresPairs?(prepared: PreparedRun): boolean;
  /** Evaluates on held-out rows, for stages whose result does not write text. Default: responses are sampled and scored. */
  measure?(context: MeasureContext, options: MeasureLimits): Promise<Evaluation | undefined>;
}

/** What a stage is measured with. */
interface MeasureContext {
  readonly prepared: PreparedRun;
  readonly backend: TrainingBackend;
  readonly model: LanguageModel;
}

/** Name of an evaluation, the version of the weights, and the rows that count, from the first. */
interface MeasureLimits {
  readonly name: string;
  readonly policyVersion: number;
  readonly limit: number | undefined;
}

/** How long a stage is. */
export interface StagePlan<Data = unknown> {
  readonly iterations: number;
  /** Optimizer steps, for schedules. */
  readonly updates: number;
  readonly notes: readonly string[];
  /** The update that takes most memory, as far as that is known before. */
  readonly largest: () => LargestUpdate;
  /** Rows as tokens. `undefined` if the stage samples them. */
  readonly data: Data;
}
