import { add, mul, sign, sub } from '@rlp/onnx/ops';
import { type OptimizerOf, weightDecayOf } from '../options.ts';
import type { UpdateRule } from '../update-rule.ts';

/**
 * `p ← p·(1 − lr·decay) − lr·sign(β₁m + (1 − β₁)g)`, then `m ← β₂m + (1 − β₂)g`.
 *
 * @see Chen et al. 2023, https://arxiv.org/abs/2302.06675
 */
export function lionRule(options: OptimizerOf<'lion'>): UpdateRule {
  const { beta1, beta2 } = options;
  return {
    state: ({ shape }) => ({ moment1: shape }),
    numbers: ({ shape }, { learningRate: rate }) => ({
      keep: 1 - rate * weightDecayOf(options, shape),
      rate,
    }),
    build(_, { value, gradient, state: { moment1 }, numbers: n }) {
      const direction = sign(add(mul(moment1!, beta1), mul(gradient, 1 - beta1)));
      return {
        value: sub(mul(value, n.keep!), mul(direction, n.rate!)),
        state: { moment1: add(mul(moment1!, beta2), mul(gradient, 1 - beta2)) },
      };
    },
  };
}
