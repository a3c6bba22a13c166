import { add, mul, sub } from '@rlp/onnx/ops';
import { type OptimizerOf, weightDecayOf } from '../options.ts';
import type { UpdateRule } from '../update-rule.ts';

/**
 * `b ← μb + g`, then `p ← p·(1 − lr·decay) − lr·b` (`heavy-ball`) or `p ← p·(1 − lr·decay) − lr·(g + μb)` (`nesterov`).
 *
 * Without momentum it keeps nothing.
 */
export function sgdRule(options: OptimizerOf<'sgd'>): UpdateRule {
  const { momentum, momentumForm } = options;
  return {
    state: ({ shape }) => (momentum === 0 ? {} : { moment1: shape }),
    numbers: ({ shape }, { learningRate: rate }) => ({
      keep: 1 - rate * weightDecayOf(options, shape),
      rate,
    }),
    build(_, { value, gradient, state, numbers: n }) {
      const moved = (direction: typeof value) => sub(mul(value, n.keep!), mul(direction, n.rate!));
      if (momentum === 0) return { value: moved(gradient), state: {} };
      const moment1 = add(mul(state.moment1!, momentum), gradient);
      const ahead = momentumForm === 'nesterov' ? add(gradient, mul(moment1, momentum)) : moment1;
      return { value: moved(ahead), state: { moment1 } };
    },
  };
}
