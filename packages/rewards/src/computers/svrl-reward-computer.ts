import {
  ArgumentError,
  callback,
  parseOptions,
  type RewardComputer,
  type RewardFunction,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import { groupComputer, groupMethodSchema, methodSchema } from './group-method.ts';

const scoreSchema = z.strictObject({
  /** Cost of the whole budget of verification. Default 0.1. */
  verificationWeight: z.number().nonnegative().default(0.1),
  /** Reward of saving all steps. Default 0.05. */
  efficiencyWeight: z.number().nonnegative().default(0.05),
  /** Cost of spending anything on a budget of 0. Default `'full-cost'`. */
  emptyBudget: z.enum(['full-cost', 'free']).default('full-cost'),
});
const schema = groupMethodSchema.extend({
  ...scoreSchema.shape,
  /** Rewards by the score, its standardised rank in the group, or the Pareto front. Default `'absolute'`. */
  method: methodSchema.default('absolute'),
  /** Steps that an episode may take. Default 50. */
  maxTurns: z.int().positive().default(50),
  /** Tool calls that an episode may make. Used by the default `verificationCost`. Default 10. */
  toolBudget: z.number().nonnegative().default(10),
});

const computerSchema = schema.extend({
  taskEvaluator: callback<RewardFunction<never>>('a function of a trajectory that returns a number'),
  verificationCost: callback().optional(),
} satisfies Partial<Record<keyof SVRLRewardComputerOptions<unknown>, z.ZodType>>);

/** What verification cost an episode, and what it was allowed to, in the same unit. */
export interface VerificationCost {
  readonly spent: number;
  readonly budget: number;
}

/** What {@link svrlScore} weighs. */
export interface SvrlScoreInput extends VerificationCost {
  /** Quality of the result, usually in 0..1. */
  readonly taskScore: number;
  readonly steps: number;
  readonly maxTurns: number;
}

/** Options of {@link svrlScore}. */
export interface SvrlScoreOptions extends z.input<typeof scoreSchema> {}

/**
 * Quality against the cost of getting it checked:
 *
 *     score = task − w_v · spent/budget + w_e · max(0, (maxTurns − steps)/maxTurns)
 *
 * Spending over the budget costs more than all of it. With a budget of 0, having spent anything costs as much as having
 * spent it all (`emptyBudget: 'full-cost'`), or nothing, as rl_primitives has it (`'free'`).
 *
 * @throws OptionsError for options that are wrong. ArgumentError for costs that are negative or no numbers, a task score or a
 * number of steps that is none, and a `maxTurns` that is not positive.
 */
export function svrlScore(input: SvrlScoreInput, options: SvrlScoreOptions = {}): number {
  const weights = parseOptions('svrlScore', scoreSchema, options);
  const { taskScore, steps, maxTurns } = input;
  if (!(Number.isFinite(taskScore) && steps >= 0 && maxTurns > 0)) {
    throw new ArgumentError(
      `svrlScore: expected a finite taskScore, steps of at least 0 and maxTurns above 0, got ${taskScore}, ${steps} and ${maxTurns}`,
    );
  }
  const cost = weights.verificationWeight * spentShare(input, weights.emptyBudget);
  return taskScore - cost + weights.efficiencyWeight * stepsSaved(input);
}

/** Options of {@link SVRLRewardComputer}. */
export interface SVRLRewardComputerOptions<Metadata> extends z.input<typeof schema> {
  /** Quality of the result, usually in 0..1. */
  readonly taskEvaluator: RewardFunction<Metadata>;
  /**
   * What verification cost. Default: the metrics `verification/spent` and `verification/budget` of the trajectory, which the
   * environment reports. Without them, one per tool call of the policy, of the budget in `toolBudget`.
   */
  readonly verificationCost?: ((trajectory: Trajectory<Metadata>) => VerificationCost) | undefined;
}

/**
 * Rewards for policies that verify their own work with tools under a budget, by {@link svrlScore}. With `method: 'pareto'` the objectives
 * are task quality, thrift and speed, and the weights do not matter.
 *
 * Components: `task`, `verification` (share of the budget spent) and `efficiency` (share of steps saved), unweighted.
 */
export class SVRLRewardComputer<Metadata = unknown> implements RewardComputer<Metadata> {
  readonly computeRewards: RewardComputer<Metadata>['computeRewards'];
  readonly prepare: RewardComputer<Metadata>['prepare'];

  constructor(options: SVRLRewardComputerOptions<Metadata>) {
    const resolved = parseOptions('SVRLRewardComputer', computerSchema, options);
    const { taskEvaluator, verificationCost } = options;
    const { verificationWeight, efficiencyWeight, emptyBudget, maxTurns, toolBudget, ...method } = resolved;
    const costOf =
      verificationCost ??
      ((trajectory: Trajectory<Metadata>) => ({
        spent: trajectory.metrics?.['verification/spent'] ?? toolCalls(trajectory),
        budget: trajectory.metrics?.['verification/budget'] ?? toolBudget,
      }));
    const functions: Record<string, RewardFunction<Metadata>> = {
      task: taskEvaluator,
      verification: (trajectory) => spentShare(costOf(trajectory), emptyBudget),
      efficiency: (trajectory) => stepsSaved({ steps: responses(trajectory), maxTurns }),
    };
    const score = ([task, verification, efficiency]: readonly number[]) =>
      task! - verificationWeight * verification! + efficiencyWeight * efficiency!;
    const point = ([task, spent, saved]: readonly number[]) => [task!, -spent!, saved!];
    const computer = groupComputer({ functions, score, point }, method);
    this.computeRewards = computer.computeRewards;
    this.prepare = computer.prepare;
  }
}

/** Answers behind the prompt. A recorded conversation has no steps, but these. */
const answers = ({ task: { prompt }, messages }: Trajectory) =>
  messages.slice(typeof prompt === 'string' ? 0 : prompt.length).filter(({ role }) => role === 'assistant');

/** Responses of the policy. A conversation without one saves no steps. */
const responses = (given: Trajectory) => given.steps.length || answers(given).length || Infinity;

/** Calls of the policy. */
function toolCalls(given: Trajectory): number {
  const ofSteps = given.steps.flatMap((step) => step.toolCalls ?? []).length;
  return ofSteps || answers(given).flatMap((message) => message.tool_calls ?? []).length;
}

function spentShare({ spent, budget }: VerificationCost, emptyBudget: 'full-cost' | 'free'): number {
  if (!(spent >= 0 && budget >= 0 && Number.isFinite(spent))) {
    throw new ArgumentError(`svrlScore: spent and budget must not be negative, got ${spent} and ${budget}`);
  }
  if (budget > 0) return spent / budget;
  return spent > 0 && emptyBudget === 'full-cost' ? 1 : 0;
}

function stepsSaved({ steps, maxTurns }: Pick<SvrlScoreInput, 'steps' | 'maxTurns'>): number {
  return Math.max(0, (maxTurns - steps) / maxTurns);
}
