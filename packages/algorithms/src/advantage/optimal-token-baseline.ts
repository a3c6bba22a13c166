import { ArgumentError, parseOptions } from '@rlp/core';
import { z } from 'zod';
import { requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';
import { discountedReturns } from './discounted-returns.ts';
import { groupIndices } from './group-indices.ts';

const schema = z.strictObject({
  positions: z.enum(['column', 'trained-token']).default('trained-token'),
  longestTail: z.enum(['return', 'baseline']).default('return'),
  epsilon: z.number().positive().default(1e-8),
  outside: z.enum(['zero', 'recursion']).default('zero'),
});

/**
 * Options of {@link optimalTokenBaseline}.
 *
 * - `positions` (`'trained-token'`): which tokens of a group are compared: those with as many trained tokens before them
 *   (verl's multi-turn form; a row without any is no member), or those in one column (`'column'`).
 * - `longestTail` (`'return'`): tokens of the one longest member beyond the second longest have nothing to be compared
 *   with: they keep their return, or their own return is their baseline (`'baseline'`, advantage 0 up to ε).
 * - `epsilon` (1e-8): added to the sum of weights.
 * - `outside` (`'zero'`): returns of tokens outside the mask, see `discountedReturns`.
 */
export type OptimalTokenBaselineOptions = z.input<typeof schema>;

/** What {@link optimalTokenBaseline} reads. */
export interface OptimalTokenBaselineInputs {
  /** Reward of every token. Shape: `[B][T]`. */
  readonly rewards: TokenRows;
  /** 1 for tokens that the policy chose. Shape: `[B][T]`. */
  readonly masks: TokenRows;
  /** Group of every row: any values, compared as map keys. Shape: `[B]`. */
  readonly groups: readonly unknown[];
  /** `ln π(token)`. Shape: `[B][T]`. */
  readonly logprobs: TokenRows;
  /** `Σ_v π(v)²` over the vocabulary. Shape: `[B][T]`. */
  readonly squaredProbabilitySums: TokenRows;
  /** Weights that the loss multiplies tokens by, such as truncated importance weights. Default: 1. Shape: `[B][T]`. */
  readonly importanceWeights?: TokenRows | undefined;
}

/**
 * Optimal token baseline: per position of a group, the mean reward-to-go weighted by how large the gradient so far is.
 *
 *     e_t = (1 − 2π_t + Σ_v π(v)²) · w_t²      squared norm of the gradient of ln π_t by the logits
 *     W_t = Σ_{s ≤ t} m_s e_s
 *     b_t = Σ_i W_t^i G_t^i / (Σ_i W_t^i + ε)
 *     A_t = G_t − b_t
 *
 * A group of one has no baseline: its advantage is its return. Each `[B][T]`; advantages are 0 outside the mask.
 *
 * @throws ArgumentError for numbers that are not finite or arguments of different shapes, OptionsError for wrong options.
 * @see verl, "Optimal token baseline", https://github.com/volcengine/verl (`compute_optimal_token_baseline_advantage`)
 */
export function optimalTokenBaseline(
  inputs: OptimalTokenBaselineInputs,
  options: OptimalTokenBaselineOptions = {},
): { readonly advantages: Float64Array[]; readonly returns: Float64Array[] } {
  const resolved = parseOptions('optimalTokenBaseline', schema, options);
  const { rewards, masks, groups, logprobs, squaredProbabilitySums, importanceWeights } = inputs;
  requireRows('optimalTokenBaseline', {
    rewards,
    masks,
    logprobs,
    squaredProbabilitySums,
    importanceWeights,
  });
  if (groups.length !== rewards.length) {
    throw new ArgumentError(
      `optimalTokenBaseline: groups must have ${rewards.length} entries, one per row, got ${groups.length}`,
    );
  }
  const returns = discountedReturns({ rewards, masks }, { outside: resolved.outside });
  const weights = pathWeights(inputs);
  const advantages = zeroRows(rewards);
  const places = masks.map((mask) => positionsOf(mask, resolved.positions));
  for (const rows of groupIndices(groups)) {
    const members = resolved.positions === 'column' ? rows : rows.filter((b) => places[b]!.length > 0);
    const baselines =
      members.length < 2 ? [] : groupBaselines(members, { returns, weights, places }, resolved.epsilon);
    const alone = resolved.longestTail === 'return' ? loneTail(members, places) : undefined;
    for (const b of members) {
      for (const [at, t] of places[b]!) {
        const baseline = alone?.row === b && at >= alone.from ? 0 : (baselines[at] ?? 0);
        advantages[b]![t] = returns[b]![t]! - baseline;
      }
    }
  }
  return { advantages, returns };
}

/** `[position in the group, column]` of every trained token. */
type Places = readonly (readonly [number, number])[];

function positionsOf(mask: ArrayLike<number>, positions: 'column' | 'trained-token'): Places {
  const places: [number, number][] = [];
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] !== 0) places.push([positions === 'column' ? t : places.length, t]);
  }
  return places;
}

function pathWeights(inputs: OptimalTokenBaselineInputs): Float64Array[] {
  const { masks, logprobs, squaredProbabilitySums, importanceWeights } = inputs;
  const weights = zeroRows(masks);
  for (let b = 0; b < weights.length; b++) {
    let sum = 0;
    const row = weights[b]!;
    for (let t = 0; t < row.length; t++) {
      if (masks[b]![t] !== 0) {
        const energy = 1 - 2 * Math.exp(logprobs[b]![t]!) + squaredProbabilitySums[b]![t]!;
        sum += energy * (importanceWeights?.[b]?.[t] ?? 1) ** 2;
      }
      row[t] = sum;
    }
  }
  return weights;
}

function groupBaselines(
  members: readonly number[],
  rows: {
    readonly returns: Float64Array[];
    readonly weights: Float64Array[];
    readonly places: readonly Places[];
  },
  epsilon: number,
): number[] {
  const numerators: number[] = [];
  const denominators: number[] = [];
  for (const b of members) {
    for (const [at, t] of rows.places[b]!) {
      const weight = rows.weights[b]![t]!;
      numerators[at] = (numerators[at] ?? 0) + weight * rows.returns[b]![t]!;
      denominators[at] = (denominators[at] ?? 0) + weight;
    }
  }
  // Where every mask of the group has a gap, `numerators` has a hole.
  return Array.from(numerators, (sum: number | undefined, at) => {
    const weight = (denominators[at] ?? 0) + epsilon;
    return sum === undefined || weight === 0 ? 0 : sum / weight;
  });
}

/** The one longest row, and the position from which on it is alone. */
function loneTail(
  members: readonly number[],
  places: readonly Places[],
): { readonly row: number; readonly from: number } | undefined {
  const byLength = members.toSorted((a, b) => places[b]!.length - places[a]!.length);
  const [longest, second] = byLength as [number, number | undefined];
  if (second === undefined || places[longest]!.length === places[second]!.length) return undefined;
  return { row: longest, from: places[second]!.length };
}
