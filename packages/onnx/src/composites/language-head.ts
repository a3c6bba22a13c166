import { ArgumentError } from '@rlp/core';

import { customGradient } from '../autodiff/custom-gradient.ts';
import type { Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { add, div, mul, neg, sub } from '../ops/arithmetic.ts';
import { log } from '../ops/elementwise.ts';
import { gatherElements, scatterElements } from '../ops/indexing.ts';
import { gemm } from '../ops/matrix.ts';
import type { Operand } from '../ops/operand.ts';
import { reduceMax } from '../ops/reduction.ts';
import { expand, reshape, sum } from '../ops/shape.ts';
import { softmax } from '../ops/softmax.ts';
import { embedding, type TableGradient } from './embedding.ts';

/** Options of {@link getLogits}. */
export interface LogitsOptions {
  /** `[V]`. */
  readonly bias?: Value | undefined;
  /** Divides the logits: a number, a scalar value, or one per row `[N, 1]`. Constant to the gradient. Default 1. */
  readonly temperature?: Operand;
}

/** Options of {@link tokenLogprobs}. */
export interface TokenLogprobsOptions extends LogitsOptions {
  /** Whether entropies are computed; they cost one pass more over `[N, V]`. Default `'none'`. */
  readonly entropies?: 'none' | 'needed';
  /** How the rows of `weight` at the targets get their gradient. Default `'dense'`. */
  readonly gradient?: TableGradient;
}

/** What {@link tokenLogprobs} gives. */
export interface TokenLogprobs {
  /** ln π(target) at the temperature, `[N]`, never positive. */
  readonly logprobs: Value;
  /** −Σ π ln π in nats at the temperature, `[N]`; `undefined` unless needed. */
  readonly entropies: Value | undefined;
  /**
   * `[N, d]`, with `gradient: 'rows'`: the rows of `weight` at the targets, whose gradient is to be added to the gradient of
   * `weight` at these rows.
   */
  readonly targetRows: Value | undefined;
}

/** All logits, `(hidden weightᵀ + bias) / temperature`: `[N, V]` from `hidden` `[N, d]` and `weight` `[V, d]`. */
export function getLogits(
  hidden: Value,
  weight: Value,
  { bias, temperature = 1 }: LogitsOptions = {},
): Value {
  const scale = (value: Value) => (temperature === 1 ? value : div(value, temperature));
  return gemm(scale(hidden), weight, { transposeB: 'yes', bias: bias && scale(bias) });
}

/** `x / temperature`, with the temperature a constant to the gradient. */
type Cool = (x: Value) => Value;

interface Head {
  readonly hidden: Value;
  readonly cooled: Value;
  readonly weight: Value;
  readonly targets: Value;
  readonly rows: Value;
  readonly bias: Value | undefined;
  readonly cool: Cool;
}

interface Distribution {
  readonly probabilities: Value;
  /** `z − max z`, only for entropies. */
  readonly shifted: Value | undefined;
  /** `Σ π (z − max z)`, only for entropies. */
  readonly expectedShift: Value | undefined;
}

/**
 * Log-probabilities of chosen tokens under a language-model head, without ever forming ∂logits.
 *
 * With z = (h Wᵀ + b) / τ and π = softmax(z):
 *
 *     ln π_t = (z_t − max z) + ln max π,        H = −Σ π (z − max z) − ln max π
 *     M = π ⊙ (g + g_H (z − Σ π z)),   ∂h = (g W_t − M W) / τ,   ∂W = scatter_t(g h / τ) − Mᵀ h / τ
 *
 * with g = ∂ln π_t and g_H = ∂H. Where the loss does not depend on entropies, M W is computed as g ⊙ (π W), so that nothing
 * of the size of the logits is made but π itself. Safe for logits of any size.
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
  const { bias, temperature = 1, entropies = 'none', gradient = 'dense' } = options;
  const cool: Cool = (x) => (temperature === 1 ? x : div(x, temperature));
  const rows = embedding(weight, targets, { gradient: 'rows' });
  const inputs = [hidden, weight, rows, ...(bias ? [bias] : [])];
  let cooled: Value;
  let distribution: Distribution;
  const [logprobs, entropy] = customGradient(
    inputs,
    () => {
      cooled = cool(hidden);
      const logits = gemm(cooled, weight, { transposeB: 'yes', bias: bias && cool(bias) });
      const result = evaluate(logits, targets, entropies);
      distribution = result.distribution;
      return result.outputs;
    },
    (gradients, needs) => {
      const head = { hidden, cooled, weight, targets, rows, bias, cool };
      return headGradients(head, distribution, gradients, needs, gradient);
    },
  );
  return { logprobs: logprobs!, entropies: entropy, targetRows: gradient === 'rows' ? rows : undefined };
}

function checkShapes(hidden: Value, weight: Value, targets: Value): void {
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

function evaluate(
  logits: Value,
  targets: Value,
  entropies: 'none' | 'needed',
): { outputs: Value[]; distribution: Distribution } {
  const rows = { axes: 1, keepAxes: 'yes' } as const;
  const count = targets.shape[0]!;
  const probabilities = softmax(logits);
  const largest = reduceMax(logits, rows);
  const logLargest = log(reduceMax(probabilities, rows));
  const chosen = gatherElements(logits, reshape(targets, [count, 1]), { axis: 1 });
  const logprobs = reshape(add(sub(chosen, largest), logLargest), [count]);
  if (entropies === 'none') {
    const distribution = { probabilities, shifted: undefined, expectedShift: undefined };
    return { outputs: [logprobs], distribution };
  }
  const shifted = sub(logits, largest);
  const expectedShift = sum(mul(probabilities, shifted), rows);
  const entropy = reshape(neg(add(expectedShift, logLargest)), [count]);
  return { outputs: [logprobs, entropy], distribution: { probabilities, shifted, expectedShift } };
}

/** The two halves of M: a matrix `[N, V]` and a factor per row `[N, 1]`; M is their product. */
function factorize(
  { probabilities, shifted, expectedShift }: Distribution,
  ofLogprobs: Value | undefined,
  ofEntropies: Value | undefined,
): { matrix: Value; factor: Value | undefined } {
  if (!ofEntropies) return { matrix: probabilities, factor: ofLogprobs };
  const entropyPart = mul(ofEntropies, sub(shifted!, expectedShift!));
  const weights = ofLogprobs ? add(entropyPart, ofLogprobs) : entropyPart;
  return { matrix: mul(probabilities, weights), factor: undefined };
}

function headGradients(
  head: Head,
  distribution: Distribution,
  gradients: readonly (Value | undefined)[],
  [needsHidden, needsWeight, needsRows, needsBias]: readonly boolean[],
  mode: TableGradient,
): (Value | undefined)[] {
  const { cooled, weight, targets, rows, bias, cool } = head;
  const column = (value: Value | undefined) => value && reshape(value, [value.shape[0]!, 1]);
  const [chosen, ofEntropies] = gradients.map(column);
  const { matrix, factor } = factorize(distribution, chosen, ofEntropies);
  const perRow = (value: Value) => (factor ? mul(value, factor) : value);
  const rowGradient = chosen && mul(cooled, chosen);
  const ofHidden = () => {
    const expected = perRow(gemm(matrix, weight));
    return cool(chosen ? sub(mul(rows, chosen), expected) : neg(expected));
  };
  const ofWeight = () => {
    const expected = gemm(matrix, neg(perRow(cooled)), { transposeA: 'yes' });
    return mode === 'dense' && rowGradient ? addRows(expected, targets, rowGradient) : expected;
  };
  return [
    needsHidden ? ofHidden() : undefined,
    needsWeight ? ofWeight() : undefined,
    needsRows ? rowGradient : undefined,
    needsBias ? biasGradient(bias!, targets, matrix, chosen, factor, cool) : undefined,
  ];
}

function addRows(table: Value, ids: Value, rows: Value): Value {
  const index = expand(reshape(ids, [ids.shape[0]!, 1]), rows.shape);
  return scatterElements(table, index, rows, { axis: 0, reduction: 'add' });
}

function biasGradient(
  bias: Value,
  targets: Value,
  matrix: Value,
  chosen: Value | undefined,
  factor: Value | undefined,
  cool: Cool,
): Value {
  const count = targets.shape[0]!;
  const ones = expand(bias.graph.constant(1, [1, 1], bias.type), [count, 1]);
  const expected = reshape(gemm(matrix, neg(cool(factor ?? ones)), { transposeA: 'yes' }), bias.shape);
  if (!chosen) return expected;
  return scatterElements(expected, targets, reshape(cool(chosen), [count]), { axis: 0, reduction: 'add' });
}
