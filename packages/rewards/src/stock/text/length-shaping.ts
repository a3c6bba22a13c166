import { wordsOf } from '@rlp/answers/text';
import {
  ArgumentError,
  type OverlongOptions,
  overlongPenalty,
  overlongSchema,
  parseOptions,
  type RewardFunction,
  requireArguments,
  requireFields,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import { countMatches } from '../../shared/text.ts';

/**
 * Tokens that a policy sampled in all steps of a trajectory.
 *
 * @param reward - Name of the reward. Errors begin with it.
 * @param remedy - What its user can do for responses without tokens. Errors end with it.
 * @throws ArgumentError for a response without tokens, such as a recorded one. It would count as empty.
 */
export function sampledTokens(
  reward: string,
  { id, steps, response }: Trajectory,
  remedy: string,
): readonly number[] {
  const tokens = steps.flatMap((step) => step.tokens);
  if (tokens.length > 0 || response === '') return tokens;
  throw new ArgumentError(
    `${reward}: trajectory ${id} has a response and no tokens, as recorded conversations have none; ${remedy}`,
  );
}

/** {@link overlongPenalty} of the tokens that a policy sampled, as a reward function. A response without tokens is a failure. */
export function overlongLength<Metadata = unknown>(options: OverlongOptions): RewardFunction<Metadata> {
  const resolved = parseOptions('overlongLength', overlongSchema, options);
  const remedy = 'take lengthWindow, which counts words';
  return (trajectory) =>
    overlongPenalty(sampledTokens('overlongLength', trajectory, remedy).length, resolved);
}

const range = z.tuple([z.number(), z.number()]).readonly();

const cosineSchema = z.strictObject({
  /** Length from which the reward no longer changes. Default 1000. */
  maximum: z.number().positive().default(1000),
  /** Rewards of the longest and the shortest right answer. Default `[0.5, 1]`. */
  correct: range.default([0.5, 1]),
  /** Rewards of the shortest and the longest wrong answer. Default `[-1, -0.5]`. */
  wrong: range.default([-1, -0.5]),
});

/** Options of {@link cosineLength}. */
export interface CosineLengthOptions extends z.input<typeof cosineSchema> {}

/**
 * Rewards short right answers and long wrong ones, on a cosine over the length:
 *
 *     r = low + ½ (high − low) (1 + cos(π · min(length / maximum, 1)))
 *
 * with `(low, high)` = `correct` where the answer is right, and `wrong` with its bounds swapped where it is not.
 *
 * @param length - Tokens of the response.
 * @see Yeo et al. 2025, https://arxiv.org/abs/2502.03373; TRL `get_cosine_scaled_reward`
 */
export function cosineLength(
  length: number,
  answer: 'right' | 'wrong',
  options: CosineLengthOptions = {},
): number {
  requireArguments('cosineLength', { length: 'number' }, length);
  return cosineAt(length, answer, parseOptions('cosineLength', cosineSchema, options));
}

function cosineAt(
  length: number,
  answer: 'right' | 'wrong',
  { maximum, correct, wrong }: z.output<typeof cosineSchema>,
): number {
  const [low, high] = answer === 'right' ? correct : [wrong[1], wrong[0]];
  return low + 0.5 * (high - low) * (1 + Math.cos(Math.PI * Math.min(length / maximum, 1)));
}

const scaledSchema = cosineSchema.extend({
  /** Reward from which an answer is right. Default 0.5. */
  threshold: z.number().default(0.5),
});

/** Options of {@link cosineScaled}. */
export interface CosineScaledOptions<Metadata> extends z.input<typeof scaledSchema> {
  /** Reward that says whether the answer is right. Required. */
  readonly reward: RewardFunction<Metadata>;
  /** Length of a trajectory. Default: the tokens that the policy sampled. A response without tokens is a failure. */
  readonly length?: ((trajectory: Trajectory<Metadata>) => number) | undefined;
}

/** {@link cosineLength} of a response, right or wrong by another reward. Where that one gives `null`, so does this. */
export function cosineScaled<Metadata>(options: CosineScaledOptions<Metadata>): RewardFunction<Metadata> {
  const { reward, length, ...rest } = requireFields('cosineScaled', { reward: 'function' }, options);
  const { threshold, ...cosine } = parseOptions('cosineScaled', scaledSchema, rest);
  const lengthOf = length ?? ((each) => sampledTokens('cosineScaled', each, 'give `length`').length);
  return async (trajectory, context) => {
    const verdict = await reward(trajectory, context);
    if (verdict === null) return null;
    return cosineAt(lengthOf(trajectory), verdict >= threshold ? 'right' : 'wrong', cosine);
  };
}

/**
 * The length of a text. `words`: what white space separates, at least 1; `alphanumeric`: runs of letters, digits and underscores;
 * `characters`: Unicode code points.
 */
export function textLength(text: string, unit: 'words' | 'alphanumeric' | 'characters'): number {
  if (unit === 'words') return Math.max(1, wordsOf(text).length);
  return countMatches(text, unit === 'alphanumeric' ? /[\p{L}\p{N}_]+/gu : /./gsu);
}

const windowSchema = z
  .strictObject({
    /** Best length. Default none. */
    target: z.number().positive().optional(),
    /** Lower end of the window of best lengths. Default none. */
    minimum: z.number().positive().optional(),
    /** Upper end of the window of best lengths. Default none. */
    maximum: z.number().positive().optional(),
    /** Unit of length, see {@link textLength}. Default `'words'`. */
    unit: z.enum(['words', 'alphanumeric', 'characters']).default('words'),
    /** How the reward falls outside. Default `'linear'`. */
    scaling: z.enum(['linear', 'cosine']).default('linear'),
    /** Worst and best reward. Default `[0, 1]`. */
    rewards: range.default([0, 1]),
  })
  .refine(({ minimum = 0, maximum = Infinity }) => minimum < maximum, {
    path: ['maximum'],
    message: 'must be above minimum',
  });

/** Options of {@link lengthWindow}. */
export interface LengthWindowOptions extends z.input<typeof windowSchema> {}

/**
 * Rewards responses of the right length: best at the target or in the window, falling to worst as the length departs from it by
 * its own size (from a window: by its width, or by `maximum`; below: down to nothing). Without target and window, short is
 * good: worst from 100 on. An empty response gives 0.
 *
 * @see https://github.com/fw-ai-external/reward-kit `length_reward`
 */
export function lengthWindow<Metadata = unknown>(
  options: LengthWindowOptions = {},
): RewardFunction<Metadata> {
  const resolved = parseOptions('lengthWindow', windowSchema, options);
  const [worst, best] = resolved.rewards;
  return ({ response }) => {
    if (response === '') return 0;
    return worst + (best - worst) * windowShare(textLength(response, resolved.unit), resolved);
  };
}

/** From 0 (worst) to 1 (best). */
function windowShare(
  length: number,
  { target, minimum, maximum, scaling }: z.output<typeof windowSchema>,
): number {
  const isCosine = scaling === 'cosine';
  if (target !== undefined || (minimum === undefined && maximum === undefined)) {
    const departure = Math.min(1, target === undefined ? length / 100 : Math.abs(length - target) / target);
    return isCosine ? (1 + Math.cos(departure * Math.PI)) / 2 : 1 - departure;
  }
  if (minimum !== undefined && length < minimum) {
    const reached = length / minimum;
    return isCosine ? 1 - Math.cos((reached * Math.PI) / 2) : reached;
  }
  if (maximum !== undefined && length > maximum) {
    const excess = Math.min(1, (length - maximum) / (maximum - (minimum ?? 0)));
    return isCosine ? Math.cos((excess * Math.PI) / 2) : 1 - excess;
  }
  return 1;
}
