import { ArgumentError, parseOptions, type RandomStream, requireFields } from '@rlp/core';
import * as z from 'zod';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';
import { topK, torchTopK } from '../statistics/top-k.ts';

/** Tokens of one whole update, with the policy's logprobs before it. The shape of each is `[B][T]`. */
export interface CovarianceInputs {
  /** `ln π_θ`, of the policy about to be updated. */
  readonly logprobs: TokenRows;
  readonly advantages: TokenRows;
  /** 1 where a token counts. */
  readonly masks: TokenRows;
}

/** What {@link clipCovarianceKeep} reads. */
export interface ClipCovarianceInputs extends CovarianceInputs {
  /** `ln π_prox`. Tokens that the ratio's clip already stops are not drawn. Shape `[B][T]`. */
  readonly proximalLogprobs: TokenRows;
}

/** Where a token stands in its batch. */
interface Position {
  readonly row: number;
  readonly token: number;
}

interface Covariance extends Position {
  readonly value: number;
}

const clipSchema = z.strictObject({
  /** Share of the tokens that is dropped, at least one token. Default 0.0002. */
  share: z.number().min(0).max(1).default(0.0002),
  /** Only tokens with a larger covariance are dropped. Default 1. */
  low: z.number().default(1),
  /** Only tokens with a smaller covariance are dropped. Default 5. */
  high: z.number().default(5),
  /** Of the clipped surrogate that the result multiplies. Default 0.2. */
  clipLow: z.number().positive().default(0.2),
  /** Of the clipped surrogate that the result multiplies. Default 0.28. */
  clipHigh: z.number().positive().default(0.28),
  /** Added to the token count of both means (verl has 1e-8). Default 0. */
  countEpsilon: z.number().nonnegative().default(0),
});

/** Options of {@link clipCovarianceKeep}. */
export interface ClipCovarianceOptions extends z.input<typeof clipSchema> {}

/**
 * Clip-Cov: 1 for tokens to keep, 0 for tokens to drop. Pass it to `policyLoss` as the column `keep`.
 *
 * It drops a random few of the tokens whose advantage and logprob have the highest covariance, because they use up entropy.
 *
 * **Needs the whole batch of an update at once**, because its means are over all tokens. So it runs on numbers, before the batch
 * is cut into micro-batches: get the logprobs from `backend.logprobs`, which gives them on every backend.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite; OptionsError for options outside their ranges.
 * @see Cui et al. 2025, eq. 10, https://arxiv.org/abs/2505.22617
 */
export function clipCovarianceKeep(
  inputs: ClipCovarianceInputs,
  random: RandomStream,
  options: ClipCovarianceOptions = {},
): Float64Array[] {
  const resolved = parseOptions('clipCovarianceKeep', clipSchema, options, 'ClipCovarianceOptions');
  const { share, low, high, clipLow, clipHigh, countEpsilon } = resolved;
  requireFields('clipCovarianceKeep', { proximalLogprobs: 'lists' }, inputs);
  requireFields('clipCovarianceKeep', { shuffle: 'function' }, random);
  const covariances = tokenCovariances('clipCovarianceKeep', inputs, countEpsilon);
  const eligible = covariances.filter(({ row, token, value }) => {
    const advantage = inputs.advantages[row]![token]!;
    const ratio = Math.exp(inputs.logprobs[row]![token]! - inputs.proximalLogprobs[row]![token]!);
    const isClipped = (advantage > 0 && ratio > 1 + clipHigh) || (advantage < 0 && ratio < 1 - clipLow);
    return value > low && value < high && !isClipped;
  });
  const dropped = random.shuffle(eligible).slice(0, atLeastOne(share * covariances.length));
  const keep = zeroRows(inputs.masks);
  for (const row of keep) row.fill(1);
  for (const { row, token } of dropped) keep[row]![token] = 0;
  return keep;
}

const klSchema = z.strictObject({
  /** Share of the tokens that is selected, at least one token. Default 0.0002. */
  share: z.number().min(0).max(1).default(0.0002),
  /** Order of equal covariances: earlier tokens first, or as `torch.topk` (verl, SkyRL). Default `'first'`. */
  ties: z.enum(['first', 'torch']).default('first'),
});

/** Options of {@link klCovarianceSelection}. */
export interface KlCovarianceOptions extends z.input<typeof klSchema> {}

/**
 * KL-Cov: 1 for the tokens whose advantage and logprob go together most, else 0. Pass it to `policyLoss` as the column
 * `selected`, with `proximalKlTokens: 'column'`, so that only they are held to the proximal policy.
 *
 * **Needs the whole batch of an update at once**. See `clipCovarianceKeep`.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite; OptionsError for options outside their ranges.
 * @see Cui et al. 2025, eq. 11, https://arxiv.org/abs/2505.22617
 */
export function klCovarianceSelection(
  inputs: CovarianceInputs,
  options: KlCovarianceOptions = {},
): Float64Array[] {
  const { share, ties } = parseOptions('klCovarianceSelection', klSchema, options, 'KlCovarianceOptions');
  const covariances = tokenCovariances('klCovarianceSelection', inputs);
  const values = Float64Array.from(covariances, ({ value }) => value);
  const select = ties === 'torch' ? torchTopK : topK;
  const selected = zeroRows(inputs.masks);
  for (const index of select(values, atLeastOne(share * covariances.length))) {
    const { row, token } = covariances[index]!;
    selected[row]![token] = 1;
  }
  return selected;
}

/** `(A − mean A)·(ln π − mean ln π)` of every token that counts. */
function tokenCovariances(
  owner: string,
  inputs: CovarianceInputs & Partial<ClipCovarianceInputs>,
  countEpsilon = 0,
): Covariance[] {
  const needed = ['logprobs', 'advantages', 'masks'] as const;
  const { logprobs, advantages, masks, proximalLogprobs } = namedInputs(owner, inputs, needed, [
    'proximalLogprobs',
  ]);
  requireRows(owner, { logprobs, advantages, masks, proximalLogprobs });
  const positions = countedPositions(masks);
  if (positions.length === 0) return [];
  const mean = (rows: TokenRows) =>
    positions.reduce((sum, { row, token }) => sum + rows[row]![token]!, 0) /
    (positions.length + countEpsilon);
  const [meanAdvantage, meanLogprob] = [mean(advantages), mean(logprobs)];
  return positions.map(({ row, token }) => ({
    row,
    token,
    value: (advantages[row]![token]! - meanAdvantage) * (logprobs[row]![token]! - meanLogprob),
  }));
}

function countedPositions(masks: TokenRows): Position[] {
  const positions: Position[] = [];
  for (let row = 0; row < masks.length; row++) {
    for (let token = 0; token < masks[row]!.length; token++) {
      if (masks[row]![token] !== 0) positions.push({ row, token });
    }
  }
  return positions;
}

function atLeastOne(count: number): number {
  return Math.max(1, Math.floor(count));
}

/** What {@link highEntropyKeep} reads. The shape of each is `[B][T]`. */
export interface EntropyInputs {
  /** Of the policy's distribution at each token, in nats. */
  readonly entropies: TokenRows;
  /** 1 where a token counts. */
  readonly masks: TokenRows;
}

/**
 * Keeps the tokens where the policy chooses: 1 for the `share` of tokens with the highest entropy, else 0. Pass it to
 * `policyLoss` as the column `keep`. The threshold is the `1 − share` quantile, interpolated linearly.
 *
 * **Needs the whole batch of an update at once**. See `clipCovarianceKeep`.
 *
 * @throws ArgumentError for mismatched shapes, numbers that are not finite or a share outside `[0, 1]`.
 * @see Wang et al. 2025, "Beyond the 80/20 rule", https://arxiv.org/abs/2506.01939
 */
export function highEntropyKeep(inputs: EntropyInputs, options: { readonly share: number }): Float64Array[] {
  requireFields('highEntropyKeep', { entropies: 'lists', masks: 'lists' }, inputs);
  const { entropies, masks } = inputs;
  requireFields('highEntropyKeep', { share: 'number' }, options);
  const { share } = options;
  requireRows('highEntropyKeep', { entropies, masks });
  if (!(share >= 0 && share <= 1)) {
    throw new ArgumentError(`highEntropyKeep: share must lie between 0 and 1, got ${share}`);
  }
  const keep = zeroRows(masks);
  const positions = countedPositions(masks);
  const sorted = Float64Array.from(positions, ({ row, token }) => entropies[row]![token]!).sort();
  const threshold = quantile(sorted, 1 - share);
  for (const { row, token } of positions) if (entropies[row]![token]! >= threshold) keep[row]![token] = 1;
  return keep;
}

/** Of sorted numbers, interpolated linearly between the two nearest. */
function quantile(sorted: Float64Array, q: number): number {
  const at = q * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (at - below);
}
