import { after } from '../autodiff/recompute.ts';
import type { DataType } from '../graph/data-type.ts';
import type { Value } from '../graph/graph.ts';
import { add, mul, neg, sub } from '../ops/arithmetic.ts';
import { cast, clip, equal, max, where } from '../ops/comparison.ts';
import { exp, log } from '../ops/elementwise.ts';
import { gatherElements } from '../ops/indexing.ts';
import { concat, split } from '../ops/layout.ts';
import { gemm } from '../ops/matrix.ts';
import { reduceMax } from '../ops/reduction.ts';
import { reshape, sum } from '../ops/shape.ts';
import { softmax } from '../ops/softmax.ts';

/** Consecutive rows of a head's weight. */
export interface HeadBlock {
  /** `[size, d]` */
  readonly weight: Value;
  /** `[size]` */
  readonly bias: Value | undefined;
  readonly product: HeadProduct;
  /** Token of the first row. */
  readonly first: number;
}

/** A product with the type of its first operand. */
export type HeadProduct = typeof gemm;

/** Products that are computed in another element type. Default: that of the operands. */
export function productsIn(type: DataType | undefined): HeadProduct {
  if (type === undefined) return gemm;
  return (a, b, { bias, ...options } = {}) =>
    cast(gemm(cast(a, type), cast(b, type), { ...options, bias: bias && cast(bias, type) }), a.type);
}

/** Statistics of one block by itself. Columns are `[N, 1]`. */
interface BlockStatistics {
  /** Softmax within the block, `[N, size]`. */
  readonly probabilities: Value;
  /** max z within the block. */
  readonly largest: Value;
  /** ln of the largest probability within the block. */
  readonly logLargest: Value;
  /** Logit z of the target if it lies in the block, otherwise of another token. */
  readonly picked: Value;
  /** Whether the target lies in the block. */
  readonly holds: () => Value;
  /** `z − max z` within the block. Only for entropies. */
  readonly shifted: Value | undefined;
  /** `Σ π (z − max z)` under the block's probabilities. Only for entropies. */
  readonly expectedShift: Value | undefined;
}

/** One block as part of the whole distribution. */
interface BlockDistribution {
  /** Softmax within the block, `[N, size]`. */
  readonly probabilities: Value;
  /** Probability of the whole block, `[N, 1]`. Absent for a single block. */
  readonly share: Value | undefined;
  /** `z − Σ π z`, `[N, size]`. Only for entropies. */
  readonly deviation: (() => Value) | undefined;
}

/** Distribution of the next token over all blocks. */
export interface Distribution {
  /** ln π(target), `[N]`. */
  readonly logprobs: Value;
  /** Entropies in nats, `[N]`, if requested. */
  readonly entropies: Value | undefined;
  readonly blocks: readonly BlockDistribution[];
  /** Largest logit, `ln Σ exp(z − max z)`, and `Σ π (z − max z)` if entropies are requested, `[N, 1]`. */
  readonly sums: { readonly peak: Value; readonly total: Value; readonly expected: Value | undefined };
  /** `Σ π W`, `[N, d]`, if requested. */
  readonly expectedRows: Value | undefined;
}

/** What is computed beside the logprobs. */
export interface DistributionParts {
  /** `'reported'`: from `Σ π W`. */
  readonly entropies: 'none' | 'needed' | 'reported';
  readonly expectedRows: 'none' | 'needed';
}

/** `Σ π W` over blocks, and `ln Σ exp z` of their logits, `[N, 1]`. */
interface ExpectedRows {
  readonly rows: Value;
  readonly total: Value;
}

const rowwise = { axes: 1, keepAxes: 'yes' } as const;

/**
 * Distribution over the tokens of all blocks, with logits z = x Wᵀ + b.
 *
 * @param x - `[N, d]`
 * @param targets - `[N]`
 */
export function distributionOver(
  x: Value,
  blocks: readonly HeadBlock[],
  targets: Value,
  { entropies, expectedRows: wanted }: DistributionParts,
): Distribution {
  const count = targets.shape[0]!;
  const column = reshape(targets, [count, 1]);
  let rowSums: ExpectedRows | undefined;
  const found = blocks.map((block) => {
    // A block waits for the sum of those before it, so that the probabilities of one are in memory at a time.
    const own = statistics(rowSums ? after(x, rowSums.rows) : x, block, column, entropies);
    const part = blocks.length > 1 ? computedTogether(own) : own;
    if (wanted === 'needed') rowSums = withBlock(rowSums, part, block);
    return part;
  });
  const expectedRows = rowSums?.rows;
  const { peak, total, shares } = combine(found);
  const picked = found
    .map((block) => block.picked)
    .reduce((before, now, index) => where(found[index]!.holds(), now, before));
  const logprobs = reshape(sub(sub(picked, peak), total), [count]);
  if (entropies !== 'needed') {
    const parts = found.map(({ probabilities }, index) => ({
      probabilities,
      share: shares?.[index],
      deviation: undefined,
    }));
    const sums = { peak, total, expected: undefined };
    // H = ln Σ exp z − Σ π z, and Σ π z = x · Σ π W.
    const reported = () => sub(add(peak, total), sum(mul(expectedRows!, x), rowwise));
    const entropy = entropies === 'reported' ? reshape(max(reported(), 0), [count]) : undefined;
    return { logprobs, entropies: entropy, blocks: parts, sums, expectedRows };
  }
  // Σ π (z − max z) over the whole vocabulary, from the sums of the blocks.
  const expected = found
    .map(({ expectedShift, largest }, index) => {
      const share = shares?.[index];
      return share ? mul(share, add(expectedShift!, sub(largest, peak))) : expectedShift!;
    })
    .reduce((sums, part) => add(sums, part));
  const parts = found.map(({ probabilities, shifted, largest }, index) => {
    const share = shares?.[index];
    const center = () => (share ? add(expected, sub(peak, largest)) : expected);
    return { probabilities, share, deviation: () => sub(shifted!, center()) };
  });
  const entropy = reshape(sub(total, expected), [count]);
  return { logprobs, entropies: entropy, blocks: parts, sums: { peak, total, expected }, expectedRows };
}

/** The sum over one more block. */
function withBlock(
  before: ExpectedRows | undefined,
  { probabilities, largest, logLargest }: BlockStatistics,
  { weight, product }: HeadBlock,
): ExpectedRows {
  const [rows, total] = [product(probabilities, weight), sub(largest, logLargest)];
  if (!before) return { rows, total };
  const peak = max(before.total, total);
  const both = add(peak, log(add(exp(sub(before.total, peak)), exp(sub(total, peak)))));
  const kept = mul(before.rows, exp(sub(before.total, both)));
  return { rows: add(kept, mul(rows, exp(sub(total, both)))), total: both };
}

/** The probabilities of one block, computed again from `x` and the sums over all blocks. */
export function blockAgain(
  { sums: { peak, total, expected } }: Distribution,
  x: Value,
  { weight, bias, product }: HeadBlock,
): BlockDistribution {
  const shifted = sub(product(x, weight, { transposeB: 'yes', bias }), peak);
  return {
    probabilities: exp(sub(shifted, total)),
    share: undefined,
    deviation: expected && (() => sub(shifted, expected)),
  };
}

function statistics(
  x: Value,
  { weight, bias, first, product }: HeadBlock,
  targets: Value,
  entropies: DistributionParts['entropies'],
): BlockStatistics {
  const logits = product(x, weight, { transposeB: 'yes', bias });
  const probabilities = softmax(logits);
  const largest = reduceMax(logits, rowwise);
  const shifted = entropies === 'needed' ? sub(logits, largest) : undefined;
  const local = first === 0 ? targets : sub(targets, first);
  const inside = clip(local, 0, Number(weight.shape[0]) - 1);
  return {
    probabilities,
    largest,
    logLargest: log(reduceMax(probabilities, rowwise)),
    picked: gatherElements(logits, inside, { axis: 1 }),
    holds: () => equal(inside, local),
    shifted,
    expectedShift: shifted && sum(mul(probabilities, shifted), rowwise),
  };
}

/**
 * The same columns as parts of one array. A caller that needs one of them then waits for all.
 *
 * Otherwise the runtime computes the largest logits of all blocks first, and holds all logits meanwhile.
 */
function computedTogether(block: BlockStatistics): BlockStatistics {
  const { largest, logLargest, picked, expectedShift } = block;
  const columns = [largest, logLargest, picked, ...(expectedShift ? [expectedShift] : [])];
  const parts = split(
    concat(columns, 1),
    columns.map(() => 1),
    1,
  );
  return {
    ...block,
    largest: parts[0]!,
    logLargest: parts[1]!,
    picked: parts[2]!,
    expectedShift: parts[3],
  };
}

/** Largest logit, `ln Σ exp(z − max z)`, and each block's share of the probability. */
function combine(blocks: readonly BlockStatistics[]): {
  peak: Value;
  total: Value;
  shares: readonly Value[] | undefined;
} {
  const [only] = blocks;
  if (blocks.length === 1) return { peak: only!.largest, total: neg(only!.logLargest), shares: undefined };
  const largest = concat(
    blocks.map((block) => block.largest),
    1,
  );
  const logLargest = concat(
    blocks.map((block) => block.logLargest),
    1,
  );
  const peak = reduceMax(largest, rowwise);
  const sums = sub(sub(largest, peak), logLargest);
  const total = log(sum(exp(sums), rowwise));
  const shares = split(
    exp(sub(sums, total)),
    blocks.map(() => 1),
    1,
  );
  return { peak, total, shares };
}

/**
 * M of the head's gradient, by block: the product of a matrix `[N, size]` and a factor per row `[N, 1]`.
 *
 * @param ofLogprobs - ∂ln π_t, `[N, 1]`
 * @param ofEntropies - ∂H, `[N, 1]`
 */
export function sensitivity(
  { blocks }: Pick<Distribution, 'blocks'>,
  ofLogprobs: Value | undefined,
  ofEntropies: Value | undefined,
): { matrix: Value; factor: Value | undefined }[] {
  return blocks.map(({ probabilities, share, deviation }) => {
    if (!ofEntropies) {
      const factor = share && ofLogprobs ? mul(share, ofLogprobs) : (ofLogprobs ?? share);
      return { matrix: probabilities, factor };
    }
    const entropyPart = mul(ofEntropies, deviation!());
    const weights = ofLogprobs ? add(entropyPart, ofLogprobs) : entropyPart;
    return { matrix: mul(probabilities, weights), factor: share };
  });
}
