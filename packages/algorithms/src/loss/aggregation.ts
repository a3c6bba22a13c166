import { type NamedSchema, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { requireRows, zeroRows } from '../statistics/token-rows.ts';

/** How token losses are averaged. See {@link aggregationWeights}. */
export const aggregationModes = [
  'token-mean',
  'sequence-mean-token-mean',
  'sequence-mean-token-sum',
  'sequence-mean-token-sum-norm',
  'token-sum-norm',
] as const;

/** One of {@link aggregationModes}. */
export type AggregationMode = (typeof aggregationModes)[number];

const shape = {
  /** How token losses are averaged. See `aggregationWeights`. */
  mode: z.enum(aggregationModes),
  /** Whether sequences without trained tokens count in the mean over sequences. Default `'skip'`. */
  emptySequences: z.enum(['skip', 'count']).default('skip'),
  /** Divisor of the `-norm` modes, in tokens. Defaults to the length of the longest sequence. */
  constant: z.number().positive().optional(),
  /** Added to a sequence's token count before dividing by it. Default 0. */
  countEpsilon: z.number().nonnegative().default(0),
};

const batchFields = z.strictObject(shape);

/** Options of {@link aggregationWeights} that hold for any batch. */
export interface LossAggregationOptions extends z.input<typeof batchFields> {}

/** {@link LossAggregationOptions} with every default filled in. */
export interface ResolvedLossAggregationOptions extends z.output<typeof batchFields> {}

/** Schema of {@link LossAggregationOptions}. */
export const lossAggregationSchema: NamedSchema<LossAggregationOptions, ResolvedLossAggregationOptions> =
  batchFields;

const schema = z.strictObject({
  ...shape,
  /** Trained tokens of the whole batch, if this is a part of it. Default: counted. */
  totalTokens: z.number().positive().optional(),
  /** Sequences of the whole batch, if this is a part of it. Default: counted. */
  totalSequences: z.number().positive().optional(),
});

/** Options of {@link aggregationWeights}. */
export interface AggregationOptions extends z.input<typeof schema> {}

/**
 * Weight of every token's loss, so that `Σ weights · losses` is the batch's loss.
 *
 * With masked token counts `n[b]`, total `N = Σ n[b]`, `B` sequences and constant `C`:
 *
 * | mode | weight of a trained token | known as |
 * |---|---|---|
 * | `token-mean` | `1 / N` | DAPO, TRL `bnpo` |
 * | `sequence-mean-token-mean` | `1 / (B · n[b])` | GRPO |
 * | `sequence-mean-token-sum` | `1 / B` | REINFORCE over sequences |
 * | `sequence-mean-token-sum-norm` | `1 / (B · C)` | Dr. GRPO, TRL `dr_grpo` |
 * | `token-sum-norm` | `1 / C` | verl `seq-mean-token-sum-norm` |
 *
 * Computed over the whole batch of one update, before it is cut into micro-batches. Masked tokens get 0. A batch
 * without trained tokens gets all zeros. Shape `[B][T]`, as `masks`.
 *
 * @throws OptionsError for options outside their ranges, ArgumentError for masks that are not numbers.
 * @see Yu et al. 2025 (DAPO), §3.3, https://arxiv.org/abs/2503.14476
 */
export function aggregationWeights(
  masks: readonly ArrayLike<number>[],
  options: AggregationOptions,
): Float64Array[] {
  requireRows('aggregationWeights', { masks });
  const { mode, emptySequences, constant, countEpsilon, totalTokens, totalSequences } = parseOptions(
    'aggregationWeights',
    schema,
    options,
    'AggregationOptions',
  );
  const counts = masks.map(countTrained);
  const tokens = totalTokens ?? counts.reduce((total, count) => total + count, 0);
  const counted = emptySequences === 'count' ? counts.length : counts.filter((count) => count > 0).length;
  const sequences = totalSequences ?? counted;
  const divisor = constant ?? masks.reduce((longest, mask) => Math.max(longest, mask.length), 0);
  const result = zeroRows(masks);
  for (let b = 0; b < result.length; b++) {
    if (counts[b] === 0) continue;
    const [mask, weights] = [masks[b]!, result[b]!];
    const weight = tokenWeight(mode, { tokens, sequences, divisor, count: counts[b]! + countEpsilon });
    for (let t = 0; t < weights.length; t++) if (mask[t] !== 0) weights[t] = weight;
  }
  return result;
}

function tokenWeight(
  mode: AggregationMode,
  over: {
    readonly tokens: number;
    readonly sequences: number;
    readonly divisor: number;
    readonly count: number;
  },
): number {
  switch (mode) {
    case 'token-mean':
      return 1 / over.tokens;
    case 'sequence-mean-token-mean':
      return 1 / (over.sequences * over.count);
    case 'sequence-mean-token-sum':
      return 1 / over.sequences;
    case 'sequence-mean-token-sum-norm':
      return 1 / (over.sequences * over.divisor);
    case 'token-sum-norm':
      return 1 / over.divisor;
  }
}

function countTrained(mask: ArrayLike<number>): number {
  let count = 0;
  for (let t = 0; t < mask.length; t++) if (mask[t] !== 0) count++;
  return count;
}
