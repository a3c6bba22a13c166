import * as z from 'zod';
import { type Message, messageSchema, type ToolCall, toolCallSchema } from './message.ts';
import {
  type RecordedTrajectory,
  recordedTrajectorySchema,
  rewardFailureSchema,
} from './recorded-trajectory.ts';
import {
  type RewardFailure,
  type Step,
  stepSchema,
  type Trajectory,
  trajectorySchema,
} from './trajectory.ts';

/** What every {@link RolloutEvent} carries. */
export interface EpisodeEvent {
  /** Id of the trajectory. */
  readonly episode: string;
  /** Id of the task. */
  readonly task: string;
  /** Milliseconds of the rollout's clock. Absent without a clock. */
  readonly atMs?: number | undefined;
}

/** An episode begins, or goes on from what it was. */
export interface EpisodeStarted extends EpisodeEvent {
  readonly type: 'episode-started';
  /** Steps that it already has. Above 0 for an episode that is continued. */
  readonly steps: number;
}

/** The policy answered. */
export interface TurnSampled extends EpisodeEvent {
  readonly type: 'turn-sampled';
  /** Place of the step in the episode, from 0. */
  readonly index: number;
  /** What the policy saw and what it did. */
  readonly step: Step;
}

/** A tool was called and answered. */
export interface ToolCalled extends EpisodeEvent {
  readonly type: 'tool-called';
  /** Step of the call. */
  readonly index: number;
  readonly call: ToolCall;
  /** What the policy reads as the result. Absent if the environment shows none. */
  readonly result?: string | undefined;
}

/** The environment answered. */
export interface StateUpdated extends EpisodeEvent {
  readonly type: 'state-updated';
  /** Step that was answered. */
  readonly index: number;
  /** Messages that the environment added. */
  readonly messages: readonly Message[];
  /** Time that the environment took. Absent without a clock. */
  readonly environmentMs?: number | undefined;
}

/** An episode came to its end, or was stopped. */
export interface EpisodeEnded extends EpisodeEvent {
  readonly type: 'episode-ended';
  readonly trajectory: Trajectory;
}

/** A trajectory got its reward. */
export interface RewardGiven extends EpisodeEvent {
  readonly type: 'reward-given';
  /** The trajectory as it was scored, with the rewards of its steps. */
  readonly trajectory: Trajectory;
  /** `null` if it could not be scored. */
  readonly reward: number | null;
  /** Named parts of the reward before weighting. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Parts that failed. Absent if none did. */
  readonly failures?: readonly RewardFailure[] | undefined;
}

/** A trajectory is learned from. Nothing was updated yet. */
export interface TrajectoryLearned extends EpisodeEvent {
  readonly type: 'trajectory-learned';
  /** The scored trajectory, with what is known of its tokens. */
  readonly record: RecordedTrajectory;
}

/** What happens to episodes, in the order of each episode. */
export type RolloutEvent =
  | EpisodeStarted
  | TurnSampled
  | ToolCalled
  | StateUpdated
  | EpisodeEnded
  | RewardGiven
  | TrajectoryLearned;

/**
 * Takes the events of a rollout. It is called at once and never awaited. An error that it throws, or rejects with, is noted once and
 * changes nothing else.
 */
export type RolloutSink = (event: RolloutEvent) => unknown;

const shared = { episode: z.string(), task: z.string(), atMs: z.number().optional() };
const index = z.int().nonnegative();

/** Schema of {@link RolloutEvent}. */
export const rolloutEventSchema: z.ZodType<RolloutEvent> = z.discriminatedUnion('type', [
  z.strictObject({ ...shared, type: z.literal('episode-started'), steps: index }),
  z.strictObject({ ...shared, type: z.literal('turn-sampled'), index, step: stepSchema }),
  z.strictObject({
    ...shared,
    type: z.literal('tool-called'),
    index,
    call: toolCallSchema,
    result: z.string().optional(),
  }),
  z.strictObject({
    ...shared,
    type: z.literal('state-updated'),
    index,
    messages: z.array(messageSchema),
    environmentMs: z.number().optional(),
  }),
  z.strictObject({ ...shared, type: z.literal('episode-ended'), trajectory: trajectorySchema }),
  z.strictObject({
    ...shared,
    type: z.literal('reward-given'),
    trajectory: trajectorySchema,
    reward: z.number().nullable(),
    components: z.record(z.string(), z.number().nullable()),
    failures: z.array(rewardFailureSchema).optional(),
  }),
  z.strictObject({ ...shared, type: z.literal('trajectory-learned'), record: recordedTrajectorySchema }),
]);
