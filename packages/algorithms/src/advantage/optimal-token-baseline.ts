import { ArgumentError, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';
import { discountedReturns } from './discounted-returns.ts';
import { groupIndices } from './group-indices.ts';

const schema = z.strictObject({
  /** Compares tokens with equally many trained tokens before them, or tokens of one column. Default `'trained-token'`. */
  positions: z.enum(['column', 'trained-token']).default('trained-token'),
  /**
   * Tokens beyond the second longest member keep their return, or get it as their baseline (advantage 0). Default
   * `'return'`.
   */
  longestTail: z.enum(['return', 'baseline']).default('return'),
  /** Added to the sum of weights. Default 1e-8. */
  epsilon: z.number().positive().default(1e-8),
  /** Tokens outside the mask get 0, or what passed through them (`'recursion'`). Default `'zero'`. */
  outside: z.enum(['zero', 'recursion']).default('zero'),
});

/** Options of {@link optimalTokenBaseline}. */
export interface OptimalTokenBaselineOptions extends z.input<typeof schema> {}

/** What {@link optimalTokenBaseline} reads. */
export interface OptimalTokenBaselineInputs {
  /** Reward of every token. Shape `[B][T]`. */
  readonly rewards: TokenRows;
  /** 1 for tokens that the policy chose. Shape `[B][T]`. */
  readonly masks: TokenRows;
  /** Group of every row: any values, compared as map keys. Shape `[B]`. */
  readonly groups: readonly unknown[];
  /** `ln π(token)`. Shape `[B][T]`. */
  readonly logprobs: TokenRows;
  /** `Σ_v π(v)²` over the vocabulary. Shape `[B][T]`. */
  readonly squaredProbabilitySums: TokenRows;
  /** Weights that the loss multiplies tokens by, such as truncated importance weights. Default 1. Shape `[B][T]`. */
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
 * A group of one has no baseline: its advantage is its return. Each `[B][T]`. Advantages are 0 outside the mask.
 *
 * @throws ArgumentError for numbers that are not finite or arguments of different shapes, OptionsError for wrong options.
 * @see verl, "Optimal token baseline", https://github.com/volcengine/verl (`compute_optimal_token_baseline_advantage`)
 */
export function optimalTokenBaseline(
  inputs: OptimalTokenBaselineInputs,
  options: OptimalTokenBaselineOptions = {},
): { readonly advantages: Float64Array[]; readonly returns: Float64Array[] } {
  const resolved = parseOptions('optimalTokenBaseline', schema, options, 'OptimalTokenBaselineOptions');
  const needed = ['rewards', 'masks', 'groups', 'logprobs', 'squaredProbabilitySums'] as const;
  const { rewards, masks, groups, logprobs, squaredProbabilitySums, importanceWeights } = namedInputs(
    'optimalTokenBaseline',
    inputs,
    needed,
    ['importanceWeights'],
  );
  requireArguments('optimalTokenBaseline', { groups: 'list' }, groups);
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
  const columns = masks.map(trainedColumns);
  for (const rows of groupIndices(groups)) {
    const members = resolved.positions === 'column' ? rows : rows.filter((b) => columns[b]!.length > 0);
    const baselines = groupBaselines(members, { returns, weights, columns }, resolved);
    const alone = resolved.longestTail === 'return' ? loneTail(members, columns) : undefined;
    for (const b of members) {
      const end = alone?.row === b ? alone.from : Number.POSITIVE_INFINITY;
      for (const [index, t] of columns[b]!.entries()) {
        const at = resolved.positions === 'column' ? t : index;
        advantages[b]![t] = returns[b]![t]! - (at < end ? baselines[at]! : 0);
      }
    }
  }
  return { advantages, returns };
}

/** Columns of the trained tokens. */
function trainedColumns(mask: ArrayLike<number>): Int32Array {
  const columns = new Int32Array(mask.length);
  let count = 0;
  for (let t = 0; t < mask.length; t++) if (mask[t] !== 0) columns[count++] = t;
  return columns.subarray(0, count);
}

function pathWeights(inputs: OptimalTokenBaselineInputs): Float64Array[] {
  const { masks, logprobs, squaredProbabilitySums, importanceWeights } = inputs;
  const weights = zeroRows(masks);
  for (let b = 0; b < weights.length; b++) {
    let sum = 0;
    const row = weights[b]!;
    const [mask, logs, squares, factors] = [
      masks[b]!,
      logprobs[b]!,
      squaredProbabilitySums[b]!,
      importanceWeights?.[b],
    ];
    for (let t = 0; t < row.length; t++) {
      if (mask[t] !== 0)
        sum += (1 - 2 * Math.exp(Math.min(0, logs[t]!)) + squares[t]!) * (factors?.[t] ?? 1) ** 2;
      row[t] = sum;
    }
  }
  return weights;
}

/** Weighted mean return at every position that a member of the group has, and 0 in a group of one. */
function groupBaselines(
  members: readonly number[],
  rows: {
    readonly returns: readonly Float64Array[];
    readonly weights: readonly Float64Array[];
    readonly columns: readonly Int32Array[];
  },
  { positions, epsilon }: z.output<typeof schema>,
): Float64Array {
  const length = members.reduce((longest, b) => Math.max(longest, rows.returns[b]!.length), 0);
  const baselines = new Float64Array(length);
  if (members.length < 2) return baselines;
  const totals = new Float64Array(length).fill(epsilon);
  for (const b of members) {
    const [returns, weights] = [rows.returns[b]!, rows.weights[b]!];
    for (const [index, t] of rows.columns[b]!.entries()) {
      const at = positions === 'column' ? t : index;
      baselines[at]! += weights[t]! * returns[t]!;
      totals[at]! += weights[t]!;
    }
  }
  return baselines.map((sum, at) => (totals[at] === 0 ? 0 : sum / totals[at]!));
}

/** The one longest row, and the position from which on it is alone. */
function loneTail(
  members: readonly number[],
  columns: readonly Int32Array[],
): { readonly row: number; readonly from: number } | undefined {
  const byLength = members.toSorted((a, b) => columns[b]!.length - columns[a]!.length);
  const [longest, second] = byLength as [number, number | undefined];
  if (second === undefined || columns[longest]!.length === columns[second]!.length) return undefined;
  return { row: longest, from: columns[second]!.length };
}
