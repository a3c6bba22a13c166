import type { Value } from '@rlp/onnx';
import { add, div, matmul, max, mul, sqrt, square, sub, sum, transpose } from '@rlp/onnx/ops';
import { type OptimizerOf, weightDecayOf } from '../options.ts';
import type { UpdateRule } from '../update-rule.ts';
import { adamwRule } from './adamw.ts';

/** Coefficients of `aX + (bA + cA²)X` with `A = XXᵀ`, by Keller Jordan. */
const [a, b, c] = [3.4445, -4.775, 2.0315];
const smallestNorm = 1e-7;

/**
 * `m ← μm + (1 − μ)g`, `p ← p·(1 − lr·decay) − lr·s·O` with `O` near the orthogonal matrix of `m`, or of
 * `(1 − μ)g + μm` (`nesterov`). As `torch.optim.Muon`, in float32.
 *
 * AdamW trains all other parameters: embeddings, norms, biases and the head.
 *
 * @see Jordan 2024, https://kellerjordan.github.io/posts/muon; Liu et al. 2025, https://arxiv.org/abs/2502.16982
 */
export function muonRule(options: OptimizerOf<'muon'>): UpdateRule {
  const { momentum, momentumForm, iterations, updateScale } = options;
  const adamw = adamwRule(options);
  return {
    state: (parameter) =>
      parameter.role === 'linear' ? { moment1: parameter.shape } : adamw.state(parameter),
    numbers(parameter, time) {
      if (parameter.role !== 'linear') return adamw.numbers(parameter, time);
      const [rows, columns] = parameter.shape as readonly [number, number];
      const scale =
        updateScale === 'spectral'
          ? Math.sqrt(Math.max(1, rows / columns))
          : 0.2 * Math.sqrt(Math.max(rows, columns));
      return {
        keep: 1 - time.learningRate * weightDecayOf(options, parameter.shape),
        rate: time.learningRate * scale,
      };
    },
    build(parameter, inputs) {
      if (parameter.role !== 'linear') return adamw.build(parameter, inputs);
      const { value, gradient, state, numbers: n } = inputs;
      const mixed = (old: Value) => add(mul(old, momentum), mul(gradient, 1 - momentum));
      const moment1 = mixed(state.moment1!);
      const direction = momentumForm === 'nesterov' ? mixed(moment1) : moment1;
      const step = mul(orthogonal(direction, parameter.shape, iterations), n.rate!);
      return { value: sub(mul(value, n.keep!), step), state: { moment1 } };
    },
  };
}

/** Newton-Schulz iteration towards the nearest matrix with orthogonal rows, or columns if there are more rows. */
function orthogonal(matrix: Value, [rows, columns]: readonly number[], iterations: number): Value {
  const isTall = rows! > columns!;
  let x = isTall ? transpose(matrix) : matrix;
  x = div(x, max(sqrt(sum(square(x))), smallestNorm));
  for (let i = 0; i < iterations; i++) {
    const squared = matmul(x, transpose(x));
    const polynomial = add(mul(squared, b), mul(matmul(squared, squared), c));
    x = add(mul(x, a), matmul(polynomial, x));
  }
  return isTall ? transpose(x) : x;
}
