import { defineOp, type Value } from '../graph/graph.ts';
import { add } from '../ops/arithmetic.ts';
import { max } from '../ops/comparison.ts';
import { applyOne } from '../ops/operand.ts';
import { reduceMax } from '../ops/reduction.ts';
import { reshape } from '../ops/shape.ts';
import { softmax } from '../ops/softmax.ts';
import type { OperatorSet } from './variant.ts';

/** Logarithm of the smallest probability, as a share of its row's largest. */
const leastShare = -40;

/**
 * Softmax over the last axis, in which some scores are hidden by a very negative number.
 *
 * On processors, probabilities are at least e⁻⁴⁰ of the largest in their row, which vanishes beside 1 in sums. Intel's
 * processors take some hundred cycles for each subnormal number.
 */
export function normalSoftmax(scores: Value, ops: OperatorSet = 'fused'): Value {
  if (ops !== 'fused') return softmax(scores);
  const least = add(reduceMax(scores, { axes: -1 }), leastShare);
  return softmax(max(scores, reshape(least, [...least.shape, 1])));
}

const thresholdedReluOp = defineOp({ type: 'ThresholdedRelu' });

/**
 * Probabilities of {@link normalSoftmax} with 0 for hidden ones, for gradients.
 *
 * A gradient that passes a hidden probability is 1e-17 of its size where it should be 0, and a subnormal number two layers further.
 */
export function shownOnly(probabilities: Value, ops: OperatorSet = 'fused'): Value {
  if (ops !== 'fused' || probabilities.type !== 'float32') return probabilities;
  return applyOne(
    thresholdedReluOp,
    [probabilities],
    { alpha: { float: 2 * Math.exp(leastShare) } },
    probabilities,
  );
}
