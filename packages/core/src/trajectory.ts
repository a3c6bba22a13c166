import * as z from 'zod';
import {
  conversationText,
  type Message,
  messageSchema,
  promptMessages,
  type ToolCall,
  toolCallSchema,
} from './message.ts';
import { requireFields } from './options/require-arguments.ts';
import { type Task, taskSchema } from './task.ts';

/** Index into a tokenizer's vocabulary. */
export type TokenId = number;

/** Why sampling stopped. The policy chose to (`stop`), the token budget ran out (`length`), or a signal fired (`abort`). */
export type StopReason = 'stop' | 'length' | 'abort';

/**
 * How an episode ended.
 *
 * - `completed`: the environment reached a terminal state.
 * - `truncated`: a limit on turns or tokens cut it.
 * - `aborted`: a signal stopped it.
 * - `failed`: the environment or the sampler broke.
 * - `pending`: it is still running.
 */
export type TrajectoryStatus = 'pending' | 'completed' | 'truncated' | 'aborted' | 'failed';

/**
 * Why an episode ended.
 *
 * - `environment`: the environment reached a terminal state.
 * - `turns`, `tokens`: a limit cut it.
 * - `pattern`: the response matched the task's termination pattern.
 * - `terminate`: the policy chose to end it.
 * - `budget`: the budget of the environment was spent.
 * - `error`: something broke.
 * - `aborted`: a signal stopped it.
 */
export type TerminationReason =
  | 'environment'
  | 'turns'
  | 'tokens'
  | 'pattern'
  | 'terminate'
  | 'budget'
  | 'error'
  | 'aborted';

/** The end of an episode. */
export interface Termination {
  readonly reason: TerminationReason;
  /** One sentence or value for a person, such as the matched pattern, the error or the spent budget. */
  readonly detail?: string | undefined;
}

/** How long the parts of a step took, in milliseconds. */
export interface StepTiming {
  /** From the request to the completion. Members of a group share the request of their first turn. */
  readonly sampleMs: number;
  /** What the environment took to answer. Absent if it was never asked. */
  readonly environmentMs?: number | undefined;
}

/** One exchange with an environment. What the policy saw and what it did. */
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
  /** Version of the weights that sampled this step. Absent for steps that were not sampled by a rollout. */
  readonly policyVersion?: number | undefined;
  /** What was new to the policy at this step, as text or as the messages since its last answer. */
  readonly observation?: string | readonly Message[] | undefined;
  /** Tools that the policy called in this step. Absent if it called none. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** Present if the rollout has a clock. */
  readonly timing?: StepTiming | undefined;
  /** The critic's value of the state before acting, if there is a critic. */
  readonly value?: number | undefined;
  /** Equal for equal environment states. GiGPO groups steps by it. */
  readonly stateKey?: string | undefined;
  /** Reward for this step alone, where the reward computer gives one. */
  readonly reward?: number | undefined;
  /**
   * Number of the side conversation that the step belongs to, from 1, such as that of a sub-agent. Absent in the main one. The
   * messages of a trajectory are those of its main conversation.
   */
  readonly branch?: number | undefined;
}

/** A trajectory's failure, attributed to the boundary it crossed. */
export interface TrajectoryFailure {
  readonly boundary: 'environment' | 'sampler' | 'reward';
  readonly message: string;
}

/**
 * One episode of one policy on one task, as plain data.
 *
 * `Metadata` is what the task's grader needs, `Outcome` what the environment says about the result ({@link Environment.outcome}).
 */
export interface Trajectory<Metadata = unknown, Outcome = unknown> {
  /** Unique within a run. */
  readonly id: string;
  readonly task: Task<Metadata>;
  readonly steps: readonly Step[];
  /**
   * The whole conversation, from the prompt to the last message of the environment. Responses carry their tool calls. Of an unfinished
   * episode, what the last step was shown and its response, as the environment wrote them.
   */
  readonly messages: readonly Message[];
  /** Text of the last step, which single-turn graders read. */
  readonly response: string;
  readonly status: TrajectoryStatus;
  /** Why it ended. Absent while it is `pending`, and for conversations that another program recorded. */
  readonly termination?: Termination | undefined;
  /** What the environment says about the result. Absent if it says nothing, and for episodes that failed or were aborted. */
  readonly outcome?: Outcome | undefined;
  /** Numbers that the environment reports about the episode, such as calls of tools or budget spent. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  /**
   * Environment state that an unfinished episode can go on from: the one after its last step. A turn that the environment has not
   * answered is not part of it. JSON if the environment's states are.
   */
  readonly state?: unknown;
  /** `version` of the environment that made `state`. */
  readonly environmentVersion?: string | undefined;
  /** Version of the weights that sampled it. If they changed on the way, the oldest. */
  readonly policyVersion: number;
  /** The group it belongs to, and its place in it. */
  readonly group?: { readonly id: string; readonly member: number } | undefined;
  /** Present exactly if `status` is `failed`. */
  readonly failure?: TrajectoryFailure | undefined;
}

/** Why a part of a reward gave no number. It threw, took too long or returned no finite number, or the episode was unreadable. */
export type RewardFailureCause = 'threw' | 'timed-out' | 'not-finite' | 'unreadable';

/** A part of a reward that gave no number. */
export interface RewardFailure {
  /** Name of the part. `'episode'` if the trajectory could not be read. */
  readonly source: string;
  readonly cause: RewardFailureCause;
  /** What was expected and what came. */
  readonly message: string;
}

/** A trajectory with its score. */
export interface ScoredTrajectory<Metadata = unknown, Outcome = unknown, Name extends string = string> {
  readonly trajectory: Trajectory<Metadata, Outcome>;
  /** `null` if it could not be scored. Left out of group statistics. */
  readonly reward: number | null;
  /** Named parts of the reward before weighting, for metrics and monitors. */
  readonly components: Readonly<Record<Name, number | null>>;
  /** Parts that failed. Absent if none did. */
  readonly failures?: readonly RewardFailure[] | undefined;
}

/** G trajectories of one task. */
export interface TrajectoryGroup<Metadata = unknown, Outcome = unknown> {
  readonly id: string;
  readonly task: Task<Metadata>;
  readonly trajectories: readonly Trajectory<Metadata, Outcome>[];
}

/** Schema of {@link Step}. */
export const stepSchema: z.ZodType<Step> = z
  .strictObject({
    promptTokens: z.array(z.int().nonnegative()),
    tokens: z.array(z.int().nonnegative()),
    behaviorLogprobs: z.array(z.number().max(0)),
    text: z.string(),
    stopReason: z.enum(['stop', 'length', 'abort']),
    policyVersion: z.int().nonnegative().optional(),
    observation: z.union([z.string(), z.array(messageSchema)]).optional(),
    toolCalls: z.array(toolCallSchema).optional(),
    timing: z.strictObject({ sampleMs: z.number(), environmentMs: z.number().optional() }).optional(),
    value: z.number().optional(),
    stateKey: z.string().optional(),
    reward: z.number().optional(),
    branch: z.int().positive().optional(),
  })
  .refine((step) => step.tokens.length === step.behaviorLogprobs.length, {
    path: ['behaviorLogprobs'],
    message: 'must hold one logprob per token',
  });

/** Schema of {@link Termination}. */
export const terminationSchema: z.ZodType<Termination> = z.strictObject({
  reason: z.enum(['environment', 'turns', 'tokens', 'pattern', 'terminate', 'budget', 'error', 'aborted']),
  detail: z.string().optional(),
});

/** Schema of {@link Trajectory} with task metadata, outcome and state left as they are. */
export const trajectorySchema: z.ZodType<Trajectory> = z.strictObject({
  id: z.string(),
  task: taskSchema,
  steps: z.array(stepSchema),
  messages: z.array(messageSchema),
  response: z.string(),
  status: z.enum(['pending', 'completed', 'truncated', 'aborted', 'failed']),
  termination: terminationSchema.optional(),
  outcome: z.unknown().optional(),
  metrics: z.record(z.string(), z.number()).optional(),
  state: z.unknown().optional(),
  environmentVersion: z.string().optional(),
  policyVersion: z.int().nonnegative(),
  group: z.strictObject({ id: z.string(), member: z.int().nonnegative() }).optional(),
  failure: z
    .strictObject({ boundary: z.enum(['environment', 'sampler', 'reward']), message: z.string() })
    .optional(),
});

/** Schema of {@link TrajectoryGroup}. */
export const trajectoryGroupSchema: z.ZodType<TrajectoryGroup> = z.strictObject({
  id: z.string(),
  task: taskSchema,
  trajectories: z.array(trajectorySchema),
});

/** What the policy did, as text: its response, or with several turns or tool calls the conversation from its first turn on. */
export function workText(trajectory: Pick<Trajectory, 'task' | 'messages' | 'response'>): string {
  const kinds = { task: 'object', messages: 'objects', response: 'text' } as const;
  const { task, messages, response } = requireFields('workText', kinds, trajectory);
  const prompt = promptMessages(task.prompt);
  // Something may stand before the prompt, such as a system message.
  const begin = messages.findIndex((_, at) =>
    prompt.every(
      ({ role, content }, k) => messages[at + k]?.role === role && messages[at + k]?.content === content,
    ),
  );
  const after = messages.slice(begin < 0 ? 0 : begin + prompt.length);
  const first = after.findIndex(({ role }) => role === 'assistant');
  const work = first < 0 ? [] : after.slice(first);
  const isOneTurn = work.length < 2 && !work[0]?.tool_calls?.length;
  return isOneTurn ? response : conversationText(work);
}
