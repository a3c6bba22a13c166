import * as z from 'zod';
import { openRecord } from './field-names.ts';
import { type Message, messageSchema } from './message.ts';
import { requireArguments, requireFields } from './options/require-arguments.ts';
import type { ScoredTrajectory, Step, Termination, TokenId, Trajectory } from './trajectory.ts';

/** What the policy decided to do in one step. */
export type Action =
  | { readonly type: 'text'; readonly content: string }
  | { readonly type: 'tool_call'; readonly name: string; readonly arguments: string }
  | { readonly type: 'terminate' };

/** One step of one episode as the step-level pipeline sees it: a view of `Trajectory.steps[k]`. Further fields are kept. */
export interface StepData {
  /** Place in the episode, from 0. */
  readonly systemStepIndex: number;
  /** What the policy saw: the prompt's tokens, and what was new in it. */
  readonly observationData: unknown;
  /** What it did. If it called several tools this is the first. All of them are in the messages. */
  readonly actionTaken: Action;
  /** Its words, as sampled. */
  readonly rawPolicyOutput?: string | undefined;
  /** The conversation after the step and the environment's answer to it. */
  readonly resultingMessagesHistory: readonly Message[];
  /** The sampled tokens and their logprobs under the behaviour policy. */
  readonly policyLogprobs?:
    | { readonly tokens: readonly TokenId[]; readonly logprobs: readonly number[] }
    | undefined;
  /** The critic's value of the state before acting. */
  readonly policyValueEstimate?: number | undefined;
  /** Whether the episode was over after this step. */
  readonly isDone: boolean;
  /** `assistantTurnIndex` counts the conversation's assistant messages from 0: step outputs refer to it. */
  readonly stepInfo: Readonly<Record<string, unknown>>;
  readonly baseReward?: number | undefined;
  readonly advantage?: number | undefined;
  readonly returnToGo?: number | undefined;
}

/** A user's judgement of one step. Further fields are kept. */
export interface StepOutput {
  /** Which assistant message of the conversation, counted from 0. */
  readonly stepIndex: number | string;
  readonly baseReward: number;
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly reason?: string | undefined;
}

/** One named part of a judgement. Further fields are kept. */
export interface MetricResult {
  readonly isScoreValid: boolean;
  /** In 0..1. */
  readonly score: number;
  readonly reason?: string | undefined;
}

/** A user's judgement of one episode, and optionally of its steps. Further fields are kept. */
export interface EvaluateResult {
  readonly score: number;
  /** `false`: the episode could not be scored. */
  readonly isScoreValid: boolean;
  readonly reason?: string | undefined;
  readonly metrics: Readonly<Record<string, MetricResult>>;
  readonly stepOutputs?: readonly StepOutput[] | undefined;
  readonly error?: string | undefined;
}

/** Schema of {@link Action}. Tool arguments given as an object (`args` or `arguments`) become JSON text. */
export const actionSchema: z.ZodType<Action> = z.preprocess(
  (value) => {
    if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'tool_call')
      return value;
    const { args, ...rest } = value as Record<string, unknown>;
    const given = rest.arguments ?? args ?? {};
    return { ...rest, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
  },
  z.discriminatedUnion('type', [
    openRecord({ type: z.literal('text'), content: z.string() }),
    openRecord({ type: z.literal('tool_call'), name: z.string(), arguments: z.string() }),
    openRecord({ type: z.literal('terminate') }),
  ]),
);

/** Schema of {@link StepData}; JSON leaves out an observation that is undefined. */
export const stepDataSchema = openRecord({
  systemStepIndex: z.int().nonnegative(),
  observationData: z.unknown().optional(),
  actionTaken: actionSchema,
  rawPolicyOutput: z.string().optional(),
  resultingMessagesHistory: z.array(messageSchema),
  policyLogprobs: openRecord({
    tokens: z.array(z.int().nonnegative()),
    logprobs: z.array(z.number().max(0)),
  }).optional(),
  policyValueEstimate: z.number().optional(),
  isDone: z.boolean().default(false),
  stepInfo: z.record(z.string(), z.unknown()).default({}),
  baseReward: z.number().optional(),
  advantage: z.number().optional(),
  returnToGo: z.number().optional(),
}) as unknown as z.ZodType<StepData>;

/** Schema of {@link StepOutput}. */
export const stepOutputSchema: z.ZodType<StepOutput> = openRecord({
  stepIndex: z.union([z.int().nonnegative(), z.string()]),
  baseReward: z.number(),
  metrics: z.record(z.string(), z.unknown()).default({}),
  reason: z.string().optional(),
});

/** Schema of {@link EvaluateResult}. `{ score }` alone is a full judgement. */
export const evaluateResultSchema: z.ZodType<EvaluateResult> = openRecord({
  score: z.number(),
  isScoreValid: z.boolean().default(true),
  reason: z.string().optional(),
  metrics: z
    .record(
      z.string(),
      openRecord({
        isScoreValid: z.boolean().default(true),
        score: z.number().min(0).max(1),
        reason: z.string().optional(),
      }),
    )
    .default({}),
  stepOutputs: z.array(stepOutputSchema).optional(),
  error: z.string().optional(),
});

/** Assistant message that each step wrote: the last ones of the conversation, in order. Side conversations have none. */
function stepMessages({
  messages,
  steps,
}: Trajectory): ({ readonly place: number; readonly turn: number } | undefined)[] {
  const turns = messages
    .map((message, place) => ({ message, place }))
    .filter(({ message }) => message.role === 'assistant')
    .map(({ place }, turn) => ({ place, turn }));
  const own = steps.filter(({ branch }) => branch === undefined).length;
  let next = Math.max(0, turns.length - own);
  return steps.map(({ branch }) => (branch === undefined ? turns[next++] : undefined));
}

/** The steps of a trajectory as {@link StepData}, in order. */
export function stepDataFromTrajectory(trajectory: Trajectory): StepData[] {
  requireFields('stepDataFromTrajectory', { steps: 'objects', messages: 'objects' }, trajectory);
  const written = stepMessages(trajectory);
  const last = trajectory.steps.length - 1;
  return trajectory.steps.map((step, index): StepData => {
    const turn = written[index];
    const message = turn && trajectory.messages[turn.place];
    const next = written.find((after, place) => place > index && after !== undefined);
    return {
      systemStepIndex: index,
      observationData: {
        promptTokens: step.promptTokens,
        ...(step.observation !== undefined && { observation: step.observation }),
      },
      actionTaken: actionOf(step, message, index === last ? trajectory.termination : undefined),
      rawPolicyOutput: step.text,
      resultingMessagesHistory: step.branch === undefined ? trajectory.messages.slice(0, next?.place) : [],
      policyLogprobs: { tokens: step.tokens, logprobs: step.behaviorLogprobs },
      ...(step.value !== undefined && { policyValueEstimate: step.value }),
      isDone: index === last && trajectory.status !== 'pending',
      stepInfo: {
        assistantTurnIndex: turnOf(step, turn, index),
        ...(step.branch !== undefined && { branch: step.branch }),
        stopReason: step.stopReason,
        ...(step.stateKey !== undefined && { stateKey: step.stateKey }),
      },
      ...(step.reward !== undefined && { baseReward: step.reward }),
    };
  });
}

/** Name of a step in judgements: the place of its message among the assistant's, from 0. */
function turnOf(
  { branch }: Step,
  written: { readonly turn: number } | undefined,
  index: number,
): number | string {
  return branch === undefined ? (written?.turn ?? index) : `branch ${branch}, step ${index}`;
}

function actionOf(
  { text, toolCalls }: Step,
  message: Message | undefined,
  termination: Termination | undefined,
): Action {
  if (termination?.reason === 'terminate') return { type: 'terminate' };
  const call = (toolCalls ?? message?.tool_calls)?.[0]?.function ?? message?.function_call;
  if (call !== undefined) return { type: 'tool_call', name: call.name, arguments: call.arguments };
  return { type: 'text', content: text };
}

/**
 * Which steps a judgement rewards.
 *
 * @param turns - Place of each step's answer among the assistant messages, from 0.
 * @returns Rewards by step, and one sentence per output that names no step or one already judged. Those are left out.
 */
export function rewardsOfTurns(
  turns: readonly (number | string)[],
  outputs: readonly StepOutput[] = [],
): { readonly rewards: ReadonlyMap<number, number>; readonly problems: readonly string[] } {
  requireArguments('rewardsOfTurns', { turns: 'list', outputs: 'objects?' }, turns, outputs);
  const stepOfTurn = new Map(turns.map((turn, step) => [String(turn), step]));
  const rewards = new Map<number, number>();
  const problems: string[] = [];
  for (const { stepIndex, baseReward } of outputs) {
    const step = stepOfTurn.get(String(stepIndex));
    if (step === undefined) {
      const known = [...stepOfTurn.keys()].join(', ');
      problems.push(`no step wrote assistant message ${stepIndex}, expected one of: ${known}`);
    } else if (rewards.has(step)) {
      problems.push(`assistant message ${stepIndex} is judged twice; the first judgement counts`);
    } else rewards.set(step, baseReward);
  }
  return { rewards, problems };
}

/**
 * Scores a trajectory with a user's judgement. The score becomes its reward (`null` when invalid), the metrics its
 * components, and each step output the reward of the step that wrote that assistant message.
 *
 * @returns The scored trajectory, and one sentence per step output that names no step or one already judged; those are left
 * out, and their steps keep the reward they had.
 */
export function scoreFromEvaluateResult<Metadata, Outcome>(
  trajectory: Trajectory<Metadata, Outcome>,
  result: EvaluateResult,
): {
  readonly scored: ScoredTrajectory<Metadata, Outcome>;
  /** Rewards of the steps that were judged, by their place among the steps. */
  readonly stepRewards: ReadonlyMap<number, number>;
  readonly problems: readonly string[];
} {
  requireFields('scoreFromEvaluateResult', { steps: 'objects', messages: 'objects' }, trajectory);
  requireFields('scoreFromEvaluateResult', { score: 'number' }, result);
  const written = stepMessages(trajectory);
  const turns = trajectory.steps.map((step, index) => turnOf(step, written[index], index));
  const { rewards, problems: found } = rewardsOfTurns(turns, result.stepOutputs);
  const problems = found.map((problem) => `${trajectory.id}: ${problem}`);
  const steps = trajectory.steps.map((step, index) =>
    rewards.has(index) ? { ...step, reward: rewards.get(index) } : step,
  );
  const components = Object.entries(result.metrics).map(
    ([name, metric]) => [name, metric.isScoreValid ? metric.score : null] as const,
  );
  const reward = result.isScoreValid && result.error === undefined ? result.score : null;
  return {
    scored: { trajectory: { ...trajectory, steps }, reward, components: Object.fromEntries(components) },
    stepRewards: rewards,
    problems,
  };
}
