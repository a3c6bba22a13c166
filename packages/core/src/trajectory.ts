import * as z from 'zod';
import { type Message, messageSchema } from './message.ts';
import { type Task, taskSchema } from './task.ts';

/** Index into a tokenizer's vocabulary. */
export type TokenId = number;

/** Why sampling stopped: the policy chose to (`stop`), the token budget forced it (`length`), or a signal did (`abort`). */
export type StopReason = 'stop' | 'length' | 'abort';

/**
 * How an episode ended.
 *
 * `completed`: the environment reached a terminal state. `truncated`: a limit on turns or tokens cut it.
 * `aborted`: a signal stopped it. `failed`: the environment or the sampler broke. `pending`: still running.
 */
export type TrajectoryStatus = 'pending' | 'completed' | 'truncated' | 'aborted' | 'failed';

/** One exchange with an environment: what the policy saw and what it did. */
export interface Step {
  /** The whole context the policy was conditioned on, exactly as sampled from. Shape: `[P]`. */
  readonly promptTokens: readonly TokenId[];
  /** What the policy sampled, its stop token included. Never re-tokenised. Shape: `[T]`. */
  readonly tokens: readonly TokenId[];
  /**
   * `ln π_b(tokens[t] | promptTokens, tokens[<t])` of the behaviour policy at the temperature it sampled with.
   * Natural log, never positive. Shape: `[T]`.
   */
  readonly behaviorLogprobs: readonly number[];
  /** `tokens` as text, without the stop token or stop string. */
  readonly text: string;
  readonly stopReason: StopReason;
  /** The critic's value of the state before acting, where there is a critic. */
  readonly value?: number | undefined;
  /** Equal for equal environment states: anchors the step groups of GiGPO. */
  readonly stateKey?: string | undefined;
  /** Reward for this step alone, where the reward computer gives one. */
  readonly reward?: number | undefined;
}

/** A trajectory's failure, attributed to the boundary it crossed. */
export interface TrajectoryFailure {
  readonly boundary: 'environment' | 'sampler' | 'reward';
  readonly message: string;
}

/** One episode of one policy on one task: data, never behaviour. */
export interface Trajectory<Metadata = unknown> {
  /** Unique within a run. */
  readonly id: string;
  readonly task: Task<Metadata>;
  readonly steps: readonly Step[];
  /** The conversation as text, prompt included. */
  readonly messages: readonly Message[];
  /** Text of the last step: what single-turn graders read. */
  readonly response: string;
  readonly status: TrajectoryStatus;
  /** Version of the weights that sampled it; the oldest one if they changed on the way. */
  readonly policyVersion: number;
  /** The group it belongs to, and its place in it. */
  readonly group?: { readonly id: string; readonly member: number } | undefined;
  /** Present exactly if `status` is `failed`. */
  readonly failure?: TrajectoryFailure | undefined;
}

/** A trajectory with its score. */
export interface ScoredTrajectory<Metadata = unknown> {
  readonly trajectory: Trajectory<Metadata>;
  /** `null`: unscorable, left out of group statistics. */
  readonly reward: number | null;
  /** Named parts of the reward before weighting, for metrics and monitors. */
  readonly components: Readonly<Record<string, number | null>>;
}

/** G trajectories of one task. */
export interface TrajectoryGroup<Metadata = unknown> {
  readonly id: string;
  readonly task: Task<Metadata>;
  readonly trajectories: readonly Trajectory<Metadata>[];
}

/** Schema of {@link Step}. */
export const stepSchema: z.ZodType<Step> = z
  .object({
    promptTokens: z.array(z.int().nonnegative()),
    tokens: z.array(z.int().nonnegative()),
    behaviorLogprobs: z.array(z.number().max(0)),
    text: z.string(),
    stopReason: z.enum(['stop', 'length', 'abort']),
    value: z.number().optional(),
    stateKey: z.string().optional(),
    reward: z.number().optional(),
  })
  .refine((step) => step.tokens.length === step.behaviorLogprobs.length, {
    path: ['behaviorLogprobs'],
    message: 'must hold one logprob per token',
  });

/** Schema of {@link Trajectory} with task metadata left as it is. */
export const trajectorySchema: z.ZodType<Trajectory> = z.object({
  id: z.string(),
  task: taskSchema,
  steps: z.array(stepSchema),
  messages: z.array(messageSchema),
  response: z.string(),
  status: z.enum(['pending', 'completed', 'truncated', 'aborted', 'failed']),
  policyVersion: z.int().nonnegative(),
  group: z.object({ id: z.string(), member: z.int().nonnegative() }).optional(),
  failure: z
    .object({ boundary: z.enum(['environment', 'sampler', 'reward']), message: z.string() })
    .optional(),
});

/** Schema of {@link TrajectoryGroup}. */
export const trajectoryGroupSchema: z.ZodType<TrajectoryGroup> = z.object({
  id: z.string(),
  task: taskSchema,
  trajectories: z.array(trajectorySchema),
});
