import {
  callback,
  OptionsError,
  parseOptions,
  type RewardComputer,
  type RewardFunction,
  withForeignNames,
} from '@rlp/core';
import * as z from 'zod';
import { groupComputer, groupMethodSchema, methodSchema } from './group-method.ts';

const schema = groupMethodSchema.extend({
  /** Rewards by Pareto front, or by the weighted mean of the objectives or its rank. Default `'pareto'`. */
  method: methodSchema.default('pareto'),
});

const objective = callback<RewardFunction<never>>('a function of a trajectory');
const fields = schema.extend({
  objectives: z
    .union([z.array(objective), z.record(z.string(), objective)], {
      error: 'expected functions of a trajectory, by name or as a list',
    })
    .refine((given) => Object.keys(given).length > 0, 'expected at least one, got none'),
  objectiveNames: z.array(z.string()).optional(),
  weights: z.array(z.number()).optional(),
} satisfies Partial<Record<keyof ParetoRewardComputerOptions<unknown>, z.ZodType>>);
const objectivesSchema = withForeignNames(fields, { objectives: 'objective_functions' });

/** Options of {@link ParetoRewardComputer}. */
export interface ParetoRewardComputerOptions<Metadata> extends z.input<typeof schema> {
  /** Objectives by name or as a list. Higher is better. Required. */
  readonly objectives:
    | Readonly<Record<string, RewardFunction<Metadata>>>
    | readonly RewardFunction<Metadata>[];
  /** Names of objectives given as a list. Default `objective0`, `objective1`, … */
  readonly objectiveNames?: readonly string[] | undefined;
  /** Weights of the mean for `'absolute'` and `'relative'`, in the order of the objectives. Default: equal. */
  readonly weights?: readonly number[] | undefined;
}

/**
 * Rewards by several objectives that no single number weighs against each other. See {@link paretoRewards}.
 *
 * Objectives are components of the result, and with `'pareto'` so is `front`, from 0. A trajectory that an objective cannot
 * score has the reward `null` and takes no part in fronts, ranks and means.
 */
export class ParetoRewardComputer<Metadata = unknown> implements RewardComputer<Metadata> {
  readonly computeRewards: RewardComputer<Metadata>['computeRewards'];
  readonly prepare: RewardComputer<Metadata>['prepare'];
  /** Names of the objectives, in order. */
  readonly objectiveNames: readonly string[];

  constructor(options: ParetoRewardComputerOptions<Metadata>) {
    const resolved = parseOptions('ParetoRewardComputer', objectivesSchema, options);
    const { objectives, objectiveNames, weights } = options;
    const functions = namedFunctions(objectives, objectiveNames);
    this.objectiveNames = Object.keys(functions);
    const shares = weightShares(this.objectiveNames.length, weights);
    const score = (values: readonly number[]) =>
      values.reduce((sum, value, f) => sum + value * shares[f]!, 0);
    const computer = groupComputer({ functions, score, point: (values) => values }, resolved);
    this.computeRewards = computer.computeRewards;
    this.prepare = computer.prepare;
  }
}

function namedFunctions<Metadata>(
  objectives: ParetoRewardComputerOptions<Metadata>['objectives'],
  given: readonly string[] | undefined,
): Readonly<Record<string, RewardFunction<Metadata>>> {
  if (!Array.isArray(objectives)) return objectives as Readonly<Record<string, RewardFunction<Metadata>>>;
  const list = objectives as readonly RewardFunction<Metadata>[];
  const names = given ?? list.map((_, f) => `objective${f}`);
  if (names.length !== list.length || new Set(names).size !== names.length) {
    throw new OptionsError('ParetoRewardComputer', [
      `objectiveNames: must be ${list.length} different names, one per objective, got ${names.join(', ')}`,
    ]);
  }
  return Object.fromEntries(list.map((objective, f) => [names[f]!, objective]));
}

/** Weights that sum to one. */
function weightShares(count: number, weights: readonly number[] | undefined): number[] {
  const given = weights ?? new Array<number>(count).fill(1);
  const total = given.reduce((sum, weight) => sum + weight, 0);
  if (given.length !== count || given.some((weight) => !(weight >= 0)) || !(total > 0 && total < Infinity)) {
    throw new OptionsError('ParetoRewardComputer', [
      `weights: must be ${count} numbers, one per objective, none negative and not all 0, got ${given.join(', ')}`,
    ]);
  }
  return given.map((weight) => weight / total);
}
