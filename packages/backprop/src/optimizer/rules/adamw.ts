import { add, div, mul, sqrt, square, sub } from '@rlp/onnx/ops';
import { type Adamw, weightDecayOf } from '../options.ts';
import type { UpdateRule } from '../update-rule.ts';

/**
 * `p ← p·(1 − lr·decay) − lr·m̂/(√v̂ + ε)` with `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`.
 *
 * @see Loshchilov & Hutter 2019, https://arxiv.org/abs/1711.05101
 */
export function adamwRule(
  options: Pick<Adamw, 'beta1' | 'beta2' | 'epsilon' | 'weightDecay' | 'decay'>,
): UpdateRule {
  const { beta1, beta2, epsilon } = options;
  return {
    state: ({ shape }) => ({ moment1: shape, moment2: shape }),
    numbers: ({ shape }, { learningRate, update }) => ({
      keep: 1 - learningRate * weightDecayOf(options, shape),
      rate: learningRate / (1 - beta1 ** update),
      root: 1 / Math.sqrt(1 - beta2 ** update),
    }),
    build(_, { value, gradient, state, numbers: n }) {
      const moment1 = add(mul(state.moment1!, beta1), mul(gradient, 1 - beta1));
      const moment2 = add(mul(state.moment2!, beta2), mul(square(gradient), 1 - beta2));
      const step = div(mul(moment1, n.rate!), add(mul(sqrt(moment2), n.root!), epsilon));
      return { value: sub(mul(value, n.keep!), step), state: { moment1, moment2 } };
    },
  };
}
