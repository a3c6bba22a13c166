import type { Value } from '@rlp/onnx';
import { add, div, max, mean, mul, sqrt, square, sub } from '@rlp/onnx/ops';
import { type OptimizerOf, weightDecayOf } from '../options.ts';
import type { UpdateRule } from '../update-rule.ts';

/** Lower bound of a parameter's root mean square as a factor of its learning rate. */
const smallestScale = 1e-3;

/**
 * The second moment of a matrix is the product of a mean per row and a mean per column, of any other tensor a number per
 * weight.
 *
 * `v ← βv + (1 − β)(g² + ε)` with `β = 1 − t^decayRate`, `u = g/√v`, `p ← p − lr·(u/max(1, rms(u)/threshold) + decay·p)`.
 * As in transformers' `Adafactor(scale_parameter=…, relative_step=False)`.
 *
 * @see Shazeer & Stern 2018, https://arxiv.org/abs/1804.04235
 */
export function adafactorRule(options: OptimizerOf<'adafactor'>): UpdateRule {
  const { decayRate, epsilon, clipThreshold, parameterScale } = options;
  return {
    state: ({ shape }) => (shape.length === 2 ? factored(shape) : { moment2: shape }),
    numbers: ({ shape }, { learningRate: rate, update }) => ({
      rate,
      decay: weightDecayOf(options, shape),
      beta: 1 - update ** decayRate,
      gain: update ** decayRate,
    }),
    build({ shape }, { value, gradient, state, numbers: n }) {
      const squares = add(square(gradient), epsilon);
      const averaged = (old: Value, now: Value) => add(mul(old, n.beta!), mul(now, n.gain!));
      const next: Record<string, Value> = {};
      let whole: Value;
      if (shape.length === 2) {
        next.rows = averaged(state.rows!, mean(squares, { axes: [1], keepAxes: 'yes' }));
        next.columns = averaged(state.columns!, mean(squares, { axes: [0], keepAxes: 'yes' }));
        const share = div(next.rows, mean(next.rows, { axes: [0], keepAxes: 'yes' }));
        whole = mul(sqrt(share), sqrt(next.columns));
      } else {
        next.moment2 = averaged(state.moment2!, squares);
        whole = sqrt(next.moment2);
      }
      const update = div(gradient, whole);
      const bounded = div(update, max(div(rootMeanSquare(update), clipThreshold), 1));
      const rate =
        parameterScale === 'on' ? mul(n.rate!, max(rootMeanSquare(value), smallestScale)) : n.rate!;
      const change = mul(add(bounded, mul(value, n.decay!)), rate);
      return { value: sub(value, change), state: next };
    },
  };
}

function factored([rows, columns]: readonly number[]): Readonly<Record<string, readonly number[]>> {
  return { rows: [rows!, 1], columns: [1, columns!] };
}

function rootMeanSquare(x: Value): Value {
  return sqrt(mean(square(x)));
}
