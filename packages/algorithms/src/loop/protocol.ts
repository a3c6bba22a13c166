import {
  type CriticBackend,
  type Finding,
  type InferenceEngine,
  type Intervention,
  type Loss,
  type Metrics,
  type MetricsLogger,
  type Monitor,
  type RewardsFor,
  type RolloutEvent,
  type ScoredTrajectory,
  type StepTrace,
  type Task,
  type TaskSource,
  type TrainingBackend,
  type Trajectory,
  type TrajectoryGroup,
  trajectorySchema,
} from '@rlp/core';
import * as z from 'zod';
import type { PolicyColumn } from '../loss/policy-loss.ts';
import type { TokenRows } from '../statistics/token-rows.ts';

/** What collects groups of trajectories. A `RolloutManager` does, and `captureRollouts` of `@rlp/serve/capture`. */
export interface GroupCollector<Metadata = unknown, Outcome = unknown> {
  readonly options: {
    readonly sampling: { readonly temperature: number; readonly maxTokens?: number | undefined };
    /** Names its random streams, if it has any. */
    readonly seed?: string | undefined;
    /** Trajectories per group, if all groups have as many. */
    readonly groupSize?: number | undefined;
  };
  /**
   * Whether `collectGroups` calls `onEnded` and `onGroup` with the very objects that it yields, and goes on from `unfinished`. Rewards then
   * begin as episodes end, and an interrupted iteration keeps its episodes. Default `false`.
   */
  readonly tellsEarly?: boolean | undefined;
  /**
   * Yields one group per task. Equal iterations and rounds of equal weights give equal groups. Ends early, without
   * throwing, once `signal` fires.
   */
  collectGroups(
    tasks: readonly Task<Metadata>[],
    options: {
      readonly iteration: number;
      /** Which collection of the iteration it is, from 0: another round draws other samples of the same task. */
      readonly round?: number | undefined;
      readonly signal?: AbortSignal | undefined;
      /** Takes a sentence while the collection waits. */
      readonly onNote?: ((text: string) => void) | undefined;
      /** Called with each episode as it ends. */
      readonly onEnded?: ((trajectory: Trajectory<Metadata, Outcome>) => void) | undefined;
      /** Called with each group as it ends. */
      readonly onGroup?: ((group: TrajectoryGroup<Metadata, Outcome>) => void) | undefined;
      /** Episodes of an earlier collection. Groups whose names they have go on from them. */
      readonly unfinished?: readonly Trajectory<Metadata, Outcome>[] | undefined;
    },
  ): AsyncIterable<TrajectoryGroup<Metadata, Outcome>>;
  /** Error of the last episode that failed, dropped ones included. */
  readonly lastError?: unknown;
  /** The episodes of groups that were begun and not yet yielded, as they stand. */
  unfinished?(): readonly Trajectory<Metadata, Outcome>[];
  /** Takes events that others know of, such as rewards. */
  tell?(event: RolloutEvent): void;
  /** Whether anybody hears these events. Default `false`. */
  readonly isWatched?: boolean | undefined;
  /** Returns the notes that came up since the last call. The report of the iteration includes them. */
  takeNotes?(): readonly string[];
}

/** A group with one score per trajectory, in order. */
export interface ScoredGroup<Metadata = unknown> {
  readonly group: TrajectoryGroup<Metadata>;
  readonly scored: readonly ScoredTrajectory<Metadata>[];
}

/** Whether a group is worth learning from. `groupFilters` has some. */
export type GroupFilter = (group: ScoredGroup) => boolean;

/** Advantage of one trajectory: one number for all its tokens, or one per step. */
export type TrajectoryAdvantage = number | readonly number[];

/** Rewards to advantages, for all groups of an iteration. Shape `[P][G]`. Unscorable trajectories are not trained. */
export type GroupEstimator<Metadata = unknown> = (
  groups: readonly ScoredGroup<Metadata>[],
  watch?: EstimateWatch,
) => readonly (readonly TrajectoryAdvantage[])[];

/** Somebody who wants to know how an estimator came to its advantages. */
export interface EstimateWatch {
  /** Called for each trajectory that the estimator can say more of, with a trace of each step. */
  readonly onTrace?: ((scored: ScoredTrajectory, trace: readonly StepTrace[]) => void) | undefined;
}

/**
 * What an estimator can ask for besides rewards. Computed once, before the first update.
 *
 * `values` are the critic's, of the state before each token. `proximalLogprobs` and `entropies` are those of the trainer's policy,
 * and `referenceLogprobs` those of the frozen policy. `greedyRewards` are those of the greedy trajectory of every task.
 */
export type EstimatorNeed =
  | 'values'
  | 'proximalLogprobs'
  | 'referenceLogprobs'
  | 'entropies'
  | 'greedyRewards';

/** Whose tokens a row of {@link TokenBatch} holds. */
export interface TokenOwner<Metadata = unknown> {
  /** Index of the group. */
  readonly group: number;
  /** Place in the group. */
  readonly member: number;
  readonly scored: ScoredTrajectory<Metadata>;
}

/**
 * What token-level estimators see: one row per trajectory to be trained, with its tokens in the order of time.
 *
 * A row joins the answered parts of the trajectory's sequences. Each part runs from the first token that the policy chose to
 * the last. Tokens of the environment in between have mask 0. An estimator that runs along a row therefore crosses turns, and
 * sequences that a rewritten history cut. Shape of every `TokenRows`: `[B][T]`.
 */
export interface TokenBatch<Metadata = unknown> {
  readonly groups: readonly ScoredGroup<Metadata>[];
  /** Shape `[B]`. */
  readonly owners: readonly TokenOwner<Metadata>[];
  readonly tokens: TokenRows;
  /** 1 where the policy chose the token and it is trained. */
  readonly masks: TokenRows;
  /** Index of the step that chose the token, −1 where the environment did. */
  readonly steps: TokenRows;
  /** A step's reward stands on its last token, and the trajectory's is added on the last of all, less `penalties`. */
  readonly rewards: TokenRows;
  /** What the KL in the reward took off `rewards`, where it is on. */
  readonly penalties?: TokenRows | undefined;
  readonly behaviorLogprobs: TokenRows;
  /** The critic's value of the state before each token, if asked for. */
  readonly values?: TokenRows | undefined;
  /** Its value of the state after each row's last token. Shape `[B]`. */
  readonly finalValues?: Float64Array | undefined;
  readonly proximalLogprobs?: TokenRows | undefined;
  readonly entropies?: TokenRows | undefined;
  readonly referenceLogprobs?: TokenRows | undefined;
  /** `null` where the greedy trajectory could not be scored. Shape `[P]`. */
  readonly greedyRewards?: readonly (number | null)[] | undefined;
}

/** Advantages of tokens, and the critic's targets where it learns. Each `[B][T]`. Ignored where the mask is 0. */
export interface TokenEstimate {
  readonly advantages: TokenRows;
  readonly returns?: TokenRows | undefined;
}

/** Rewards to advantages, with what the policy and its critic think of every token. */
export interface TokenEstimator<Metadata = unknown> {
  /** What `estimate` reads. Defaults to rewards only. */
  readonly needs?: readonly EstimatorNeed[] | undefined;
  estimate(batch: TokenBatch<Metadata>): TokenEstimate;
}

/** A function of scored groups, or an estimator that sees tokens. `estimators` has those of the field. */
export type AdvantageEstimator<Metadata = unknown> = GroupEstimator<Metadata> | TokenEstimator<Metadata>;

/** Interventions that need more than the loop has. Without a handler they are noted and not done. */
export interface InterventionHandlers {
  /** Resolves once the run may go on. Rejects with the signal's reason. */
  readonly pause?:
    | ((intervention: Intervention, signal: AbortSignal | undefined) => Promise<void>)
    | undefined;
  /**
   * Loads the last good checkpoint into the backend (and the critic), such as with `loadRun`. The monitor is notified when it
   * resolves. It rejects if no checkpoint is found, which ends the run. Called at most once per batch.
   */
  readonly rollBack?: ((intervention: Intervention) => Promise<void>) | undefined;
}

/**
 * What `runRlTraining` works with. It creates nothing and closes nothing. `Metadata` is that of the tasks, and `Known` what the
 * environment reads of it.
 */
export interface RlDependencies<Metadata = unknown, Outcome = unknown, Known = Metadata> {
  /** Collects groups of trajectories, such as a `RolloutManager`. */
  readonly rollouts: GroupCollector<Known, Outcome>;
  /** Source of the tasks. */
  readonly tasks: TaskSource<Metadata>;
  /** Scores trajectories. */
  readonly rewards: RewardsFor<NoInfer<Metadata>, NoInfer<Outcome>>;
  /** Trains the policy. */
  readonly backend: TrainingBackend;
  /**
   * Learns values. If it is the same object as `backend`, policy and critic share their trunk and learn from one loss.
   * Otherwise it is updated separately, before the policy.
   */
  readonly critic?: CriticBackend | undefined;
  /** The sampler that `rollouts` draws from: takes over the weights. */
  readonly inference: InferenceEngine;
  /** Directory for published weights. Needed if trainer and sampler do not share a store. Both must be able to read it. */
  readonly publications?: string | undefined;
  /** Default `estimators.groupRelative` with the options' `advantage`. */
  readonly advantages?: AdvantageEstimator<NoInfer<Metadata>> | undefined;
  /**
   * Your own loss of the policy. It may read the columns `advantages`, `behaviorLogprobs`, `proximalLogprobs` (computed before
   * the iteration's first update) and `referenceLogprobs`. The options' `loss` is then ignored. Default `policyLoss` with the
   * options' `loss`.
   */
  readonly loss?: Loss<PolicyColumn> | undefined;
  /** Groups that it turns down are replaced by groups of further tasks, in at most `collectionRounds` rounds. */
  readonly groupFilter?: GroupFilter | undefined;
  /** Collects the greedy trajectory of a task, in groups of one at temperature 0, for estimators that ask for `greedyRewards`. */
  readonly greedyRollouts?: GroupCollector<NoInfer<Known>, NoInfer<Outcome>> | undefined;
  /** Sees every batch before it is learned from. What it asks for is done, and noted in the report. */
  readonly monitor?: Monitor<NoInfer<Metadata>> | undefined;
  /** Does what a monitor can ask for and the loop cannot do by itself. */
  readonly interventions?: InterventionHandlers | undefined;
  /** Gets the metrics, notes, findings and `loggedSamples` samples of every iteration, before its report is yielded. */
  readonly logger?: MetricsLogger | undefined;
  /** Milliseconds from any origin, such as `performance.now`. Without it, times are not reported. */
  readonly clock?: (() => number) | undefined;
  /** Waits between the tries of a lost iteration. Rejects with the signal's reason. Defaults to a timer. */
  readonly sleep?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
  /**
   * Ends the run: at once and without a report before the iteration's first update, else after its updates. A call of the backend
   * that hangs is abandoned with a `TrainingError`.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called if the signal interrupts an iteration before its first update, with the state of the last report and the episodes that were
   * under way. A run that resumes from it goes on with them. By default they are lost, and their tasks are taken again.
   */
  readonly onInterrupted?: ((state: RlState) => void) | undefined;
}

/** Schema of {@link RlState}. */
export const rlStateSchema = z.strictObject({
  iteration: z.int().nonnegative(),
  taskCursor: z.int().nonnegative(),
  klCoefficient: z.number().optional(),
  entropyCoefficient: z.number().optional(),
  weightFactors: z.record(z.string(), z.number()).optional(),
  monitor: z.unknown().optional(),
  referenceKl: z.number().optional(),
  unfinished: z.array(trajectorySchema).readonly().optional(),
});

/** Where an RL run stands: with the backend's checkpoint (and the critic's), all that is needed to continue it. */
export interface RlState {
  /** Iterations made. */
  readonly iteration: number;
  /** Tasks taken, those that replaced others included. */
  readonly taskCursor: number;
  /** Of the next iteration, where `klControl` or a monitor moves it. */
  readonly klCoefficient?: number | undefined;
  /** Of the next iteration, where `entropyControl` moves it. */
  readonly entropyCoefficient?: number | undefined;
  /** What a monitor had components' weights multiplied by. */
  readonly weightFactors?: Readonly<Record<string, number>> | undefined;
  /** What the monitor remembers. */
  readonly monitor?: unknown;
  /** The KL to the reference policy that was measured last, which the monitor is told with the next batch. */
  readonly referenceKl?: number | undefined;
  /**
   * Episodes that were sampled, or begun, and not learned from: those of an interrupted iteration, and with `lookAhead` those of the
   * next ones. A resumed run goes on with them. Absent if there are none.
   */
  readonly unfinished?: readonly Trajectory[] | undefined;
}

/** One iteration that was collected, learned and published. */
export interface RlReport<Metadata = unknown> {
  /** Counts from 0. */
  readonly iteration: number;
  /** See `docs/metrics.md`. */
  readonly metrics: Metrics;
  /** What a person should know, such as "6 of 8 groups had no reward variance". */
  readonly notes: readonly string[];
  /** As they were learned from: without the rewards of trajectories that a monitor had left out. */
  readonly groups: readonly ScoredGroup<Metadata>[];
  /** What the monitor found. Empty without one. */
  readonly findings: readonly Finding[];
  /** Continue after this iteration with it. */
  readonly state: RlState;
}
