import type { Value } from '@rlp/onnx';
import { add, div, max, mul, sqrt, square, sub } from '@rlp/onnx/ops';
import { type OptimizerOf, weightDecayOf } from '../options.ts';
import type { UpdateRule } from '../update-rule.ts';

/**
 * AdamW whose weights `x` are a running average, so that the learning rate need not fall. Gradients are those at a point `y` between the
 * average and the fast weights `z`, which are kept as `gap = z − x`.
 *
 * `y = x + (1 − β₁)·gap`, `v ← β₂v + (1 − β₂)g²`, `d = g/(√v̂ + ε) + decay·y`, `z ← z − lr·d`, `x ← x + c·(z − x)` with
 * `c = w/Σw` and `w` the square of the largest learning rate so far.
 *
 * @see Defazio et al. 2024, https://arxiv.org/abs/2405.15682
 */
export function scheduleFreeRule(options: OptimizerOf<'schedule-free'>): UpdateRule {
  const { beta1, beta2, epsilon } = options;
  const pointOf = (value: Value, gap: Value) => add(value, mul(gap, 1 - beta1));
  return {
    state: ({ shape }) => ({ gap: shape, moment2: shape, largestRate: [1], weights: [1] }),
    numbers: ({ shape }, { learningRate, update }) => ({
      rate: learningRate,
      decay: weightDecayOf(options, shape),
      root: 1 / Math.sqrt(1 - beta2 ** update),
    }),
    point: ({ value, state }) => pointOf(value, state.gap!),
    build(_, { value, gradient, state, numbers: n }) {
      const largestRate = max(state.largestRate!, n.rate!);
      const weight = square(largestRate);
      const weights = add(state.weights!, weight);
      const moment2 = add(mul(state.moment2!, beta2), mul(square(gradient), 1 - beta2));
      const step = div(gradient, add(mul(sqrt(moment2), n.root!), epsilon));
      const direction = add(step, mul(pointOf(value, state.gap!), n.decay!));
      const apart = sub(state.gap!, mul(direction, n.rate!));
      // 0 while the learning rate is 0.
      const change = mul(apart, div(weight, max(weights, 1e-37)));
      return { value: add(value, change), state: { gap: sub(apart, change), moment2, largestRate, weights } };
    },
  };
}
