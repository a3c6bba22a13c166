import { ArgumentError, requireArguments, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { after } from '../autodiff/recompute.ts';
import type { DataType } from '../graph/data-type.ts';
import { expectValues } from '../graph/expect-values.ts';
import type { Value } from '../graph/graph.ts';
import { type Dimension, formatShape } from '../graph/shape.ts';
import { add, div, mul, neg, sub } from '../ops/arithmetic.ts';
import { scatterElements } from '../ops/indexing.ts';
import { gemm } from '../ops/matrix.ts';
import type { Operand } from '../ops/operand.ts';
import { expand, reshape } from '../ops/shape.ts';
import { embedding, type TableGradient } from './embedding.ts';
import {
  blockAgain,
  type Distribution,
  type DistributionParts,
  distributionOver,
  type HeadBlock,
  type HeadProduct,
  productsIn,
  sensitivity,
} from './head-distribution.ts';

/** Options of {@link getLogits}. */
export interface LogitsOptions {
  /** Added to the logits, `[V]`. Default: no bias. */
  readonly bias?: Value | undefined;
  /** Divides the logits: a number, a scalar value, or one per row `[N, 1]`. Has no gradient. Default 1. */
  readonly temperature?: Operand;
}

/** Options of {@link tokenLogprobs}. */
export interface TokenLogprobsOptions extends LogitsOptions {
  /**
   * Whether to compute entropies. `'needed'` costs three more passes over `[N, V]`. `'reported'` has no gradient and computes them from
   * `π W`, which the gradient of `hidden` reads anyway. Rounding is then relative to the largest logit. With a bias, with `products` or
   * with `probabilities: 'again'`, `'reported'` equals `'needed'`, because `π W` would cost another product. Default `'none'`.
   */
  readonly entropies?: 'none' | 'needed' | 'reported';
  /** Form of the gradient for the rows of `weight` at the targets. Default `'dense'`. */
  readonly gradient?: TableGradient;
  /**
   * The rows of `weight` again, as consecutive matrices `[rows, d]`. Default: one product over `weight`.
   *
   * Products then run block by block. This helps large vocabularies: logits are never held as a whole, and
   * matrices fit the processor's caches. Blocks get the gradient instead of `weight`. Requires `gradient:
   * 'rows'` and no bias.
   */
  readonly blocks?: readonly Value[] | undefined;
  /**
   * `'again'` computes each block's probabilities again in the backward pass, so that `[N, V]` is never in memory. It takes a
   * third more products. `'expected'` sums `π W` in the forward pass instead, for heads without a gradient of `weight` and losses
   * without one of the entropies: no more products, and no `[N, V]` either. Both require `blocks`. Default `'keep'`.
   */
  readonly probabilities?: 'keep' | 'again' | 'expected';
  /** Element type of the products with `weight`. All else keeps the type of `hidden`. Default: that type. */
  readonly products?: DataType | undefined;
}

/** Result of {@link tokenLogprobs}. */
export interface TokenLogprobs {
  /** ln π(target) at the temperature, `[N]`. Never positive. */
  readonly logprobs: Value;
  /** Entropy −Σ π ln π at the temperature in nats, `[N]`. `undefined` if not requested. */
  readonly entropies: Value | undefined;
  /**
   * Rows of `weight` at the targets, `[N, d]`, with `gradient: 'rows'`.
   *
   * Add their gradient to the gradient of `weight` at these rows.
   */
  readonly targetRows: Value | undefined;
}

/**
 * All logits, `(hidden weightᵀ + bias) / temperature`.
 *
 * @param hidden - `[N, d]`
 * @param weight - `[V, d]`
 * @returns `[N, V]`
 */
export function getLogits(hidden: Value, weight: Value, options: LogitsOptions = {}): Value {
  const { bias, temperature = 1 } = requireFields('getLogits: options', {}, options);
  expectValues('getLogits', { hidden, weight, ...(bias && { bias }) });
  const scale = (value: Value) => (temperature === 1 ? value : div(value, temperature));
  return gemm(scale(hidden), weight, { transposeB: 'yes', bias: bias && scale(bias) });
}

/** `x / temperature`, without a gradient for the temperature. */
type Cool = (x: Value) => Value;

interface Head {
  readonly cooled: Value;
  readonly targets: Value;
  readonly rows: Value;
  readonly blocks: readonly HeadBlock[];
  readonly product: HeadProduct;
  readonly cool: Cool;
  readonly mode: TableGradient;
  readonly probabilities: 'keep' | 'again' | 'expected';
}

/**
 * Log-probabilities of given tokens under a language-model head, without forming ∂logits.
 *
 * With z = (h Wᵀ + b) / τ and π = softmax(z):
 *
 *     ln π_t = (z_t − max z) − ln Σ exp(z − max z),        H = ln Σ exp(z − max z) − Σ π (z − max z)
 *     M = π ⊙ (g + g_H (z − Σ π z)),   ∂h = (g W_t − M W) / τ,   ∂W = scatter_t(g h / τ) − Mᵀ h / τ
 *
 * with g = ∂ln π_t and g_H = ∂H. If the loss does not depend on entropies, M W is computed as g ⊙ (π W). π is
 * then the only array of the logits' size. `π W` does not depend on g, so it can be computed in the forward pass
 * (`probabilities: 'expected'`). Numerically safe for logits of any size.
 *
 * @param hidden - `[N, d]`
 * @param weight - `[V, d]`
 * @param targets - `[N]`, int64
 */
export function tokenLogprobs(
  hidden: Value,
  weight: Value,
  targets: Value,
  options: TokenLogprobsOptions = {},
): TokenLogprobs {
  checkShapes(hidden, weight, targets);
  checkBlocks(weight, requireFields('tokenLogprobs: options', {}, options));
  const { bias, temperature = 1, gradient = 'dense', probabilities = 'keep' } = options;
  const weights = options.blocks ?? [weight];
  const product = productsIn(options.products);
  const cool: Cool = (x) => (temperature === 1 ? x : div(x, temperature));
  const rows = embedding(weight, targets, { gradient: 'rows' });
  let head: Head;
  let distribution: Distribution;
  const [logprobs, entropy] = customGradient(
    [hidden, rows, ...weights, ...(bias ? [bias] : [])],
    () => {
      const cooled = cool(hidden);
      const blocks = consecutive(weights, bias && cool(bias), product);
      head = { cooled, targets, rows, blocks, product, cool, mode: gradient, probabilities };
      distribution = distributionOver(cooled, blocks, targets, partsNeeded(options));
      const { logprobs, entropies: found } = distribution;
      return found ? [logprobs, found] : [logprobs];
    },
    (gradients, needs) => headGradients(head, distribution, gradients, needs),
  );
  return { logprobs: logprobs!, entropies: entropy, targetRows: gradient === 'rows' ? rows : undefined };
}

function partsNeeded({
  bias,
  products,
  entropies = 'none',
  probabilities = 'keep',
}: TokenLogprobsOptions): DistributionParts {
  const fromRows = !bias && !products && probabilities !== 'again';
  const asked = entropies === 'reported' && !fromRows ? 'needed' : entropies;
  const summed = probabilities === 'expected' || asked === 'reported';
  return { entropies: asked, expectedRows: summed ? 'needed' : 'none' };
}

function checkShapes(hidden: Value, weight: Value, targets: Value): void {
  expectValues('tokenLogprobs', { hidden, weight, targets });
  const fits =
    hidden.shape.length === 2 &&
    weight.shape.length === 2 &&
    hidden.shape[1] === weight.shape[1] &&
    targets.shape.length === 1 &&
    targets.shape[0] === hidden.shape[0];
  if (fits) return;
  throw new ArgumentError(
    `tokenLogprobs: hidden must be [N, d], weight [V, d] and targets [N], got ` +
      [hidden, weight, targets].map(({ shape }) => formatShape(shape)).join(', '),
  );
}

function checkBlocks(weight: Value, { blocks, bias, gradient, probabilities }: TokenLogprobsOptions): void {
  if (!blocks) {
    if (probabilities === undefined || probabilities === 'keep') return;
    throw new ArgumentError(`tokenLogprobs: probabilities: '${probabilities}' needs blocks`);
  }
  if (bias || gradient !== 'rows') {
    throw new ArgumentError("tokenLogprobs: blocks need gradient: 'rows' and no bias");
  }
  requireArguments('tokenLogprobs', { blocks: 'list' }, blocks);
  expectValues('tokenLogprobs', blocks);
  const rows = blocks.reduce((total, { shape }) => total + Number(shape[0]), 0);
  const widths = blocks.every(({ shape }) => shape.length === 2 && shape[1] === weight.shape[1]);
  if (widths && rows === weight.shape[0]) return;
  throw new ArgumentError(
    `tokenLogprobs: blocks must be the rows of weight ${formatShape(weight.shape)}, got ` +
      blocks.map(({ shape }) => formatShape(shape)).join(', '),
  );
}

function consecutive(weights: readonly Value[], bias: Value | undefined, product: HeadProduct): HeadBlock[] {
  let first = 0;
  return weights.map((weight) => {
    const block = { weight, bias, first, product };
    first += Number(weight.shape[0]);
    return block;
  });
}

/** Gradients in the order of the inputs: hidden states, rows at the targets, blocks, bias. */
function headGradients(
  head: Head,
  distribution: Distribution,
  gradients: readonly (Value | undefined)[],
  [needsHidden, needsRows, ...needs]: readonly boolean[],
): (Value | undefined)[] {
  const { cooled, targets, rows, blocks, product, cool, mode, probabilities } = head;
  const column = (value: Value | undefined) => value && reshape(value, [value.shape[0]!, 1]);
  const [chosen, ofEntropies] = gradients.map(column);
  const rowGradient = chosen && mul(cooled, chosen);
  const { expectedRows } = distribution;
  if (expectedRows && (ofEntropies || (probabilities === 'expected' && needs.includes(true)))) {
    throw new ArgumentError(
      "tokenLogprobs: probabilities: 'expected' has no gradients of weight, and with it or entropies: 'reported' " +
        "there are none of entropies; use 'again' and 'needed'",
    );
  }
  const parts = probabilities === 'expected' ? [] : partsOf(head, distribution, chosen, ofEntropies);
  const ofHidden = () => {
    if (expectedRows) return chosen && cool(mul(sub(rows, expectedRows), chosen));
    const expected = parts.map(({ term }) => term()).reduce((total, term) => add(total, term));
    return cool(chosen ? sub(mul(rows, chosen), expected) : neg(expected));
  };
  const ofWeight = (index: number) => {
    const { matrix, factor } = parts[index]!;
    const expected = product(matrix, neg(times(cooled, factor)), { transposeA: 'yes' });
    return mode === 'dense' && rowGradient ? addRows(expected, targets, rowGradient) : expected;
  };
  const ofBias = () => {
    const count = targets.shape[0]!;
    const { matrix, factor } = parts[0]!;
    return biasGradient(matrix, factor ?? ones(matrix, count), targets, chosen, cool);
  };
  return [
    needsHidden ? ofHidden() : undefined,
    needsRows ? rowGradient : undefined,
    ...blocks.map((_, index) => (needs[index] ? ofWeight(index) : undefined)),
    needs[blocks.length] ? ofBias() : undefined,
  ];
}

/** A block's part of the gradients. */
interface Part {
  readonly matrix: Value;
  readonly factor: Value | undefined;
  /** The block's part of `M W`. */
  readonly term: () => Value;
}

/** Parts of all blocks. Computed again, one after the other, each block waits for the term of the one before. */
function partsOf(
  { cooled, blocks, product, probabilities }: Head,
  distribution: Distribution,
  chosen: Value | undefined,
  ofEntropies: Value | undefined,
): Part[] {
  const termOf = ({ matrix, factor }: Omit<Part, 'term'>, index: number) =>
    times(product(matrix, blocks[index]!.weight), factor);
  if (probabilities === 'keep') {
    const found = sensitivity(distribution, chosen, ofEntropies);
    return found.map((part, index) => ({ ...part, term: () => termOf(part, index) }));
  }
  let before = (chosen ?? ofEntropies)!;
  return blocks.map((block, index) => {
    const again = blockAgain(distribution, after(cooled, before), block);
    const [part] = sensitivity({ blocks: [again] }, chosen, ofEntropies);
    const term = termOf(part!, index);
    before = term;
    return { ...part!, term: () => term };
  });
}

function times(x: Value, factor: Value | undefined): Value {
  return factor ? mul(x, factor) : x;
}

function addRows(table: Value, ids: Value, rows: Value): Value {
  const index = expand(reshape(ids, [ids.shape[0]!, 1]), rows.shape);
  return scatterElements(table, index, rows, { axis: 0, reduction: 'add' });
}

function ones({ graph, type }: Value, count: Dimension): Value {
  return expand(graph.constant(1, [1, 1], type), [count, 1]);
}

function biasGradient(
  matrix: Value,
  factor: Value,
  targets: Value,
  chosen: Value | undefined,
  cool: Cool,
): Value {
  const size = matrix.shape[1]!;
  const expected = reshape(gemm(matrix, neg(cool(factor)), { transposeA: 'yes' }), [size]);
  if (!chosen) return expected;
  const ofTargets = reshape(cool(chosen), [targets.shape[0]!]);
  return scatterElements(expected, targets, ofTargets, { axis: 0, reduction: 'add' });
}
