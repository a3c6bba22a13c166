import type { Value } from '../graph/graph.ts';
import { productDimension } from '../graph/shape.ts';
import { add, mul, neg } from '../ops/arithmetic.ts';
import { concat } from '../ops/layout.ts';
import { expand, reshape } from '../ops/shape.ts';
import { normalSoftmax, shownOnly } from './normal-softmax.ts';
import { matmulOf, type OperatorSet } from './variant.ts';

/** Heads of queries `[rows, heads, columns, size]` by those of keys, `[rows, groups, heads / groups · columns, size]`. */
export function grouped(x: Value, groups: number): Value {
  const [rows, heads, columns, size] = x.shape;
  return reshape(x, [rows!, groups, productDimension([Number(heads) / groups, columns!]), size!]);
}

/** What {@link attendKeys} computes. */
export interface AttendedKeys {
  /** Scores with the mask, `[rows, groups, queries, keys]`. */
  readonly scores: Value;
  /** Softmax of the scores. */
  readonly probabilities: Value;
  /** Builds `y = P v`. */
  readonly output: () => Value;
  /**
   * Builds gradients of the inputs, with g = ∂y:
   *
   *     ∂v = Pᵀ g,   dS = P ⊙ (g vᵀ − sums),   ∂q = scale · dS k,   ∂k = scale · dSᵀ q
   *
   * @param sums - `Σ g ⊙ y` of each query, `[…, 1]`.
   */
  readonly gradients: (
    g: Value,
    sums: Value,
  ) => Readonly<Record<'ofQueries' | 'ofKeys' | 'ofValues', () => Value>>;
}

/**
 * `P = softmax(scale · q kᵀ + mask)` and `P v` of heads.
 *
 * @param inputs - `q` `[rows, groups, queries, size]`, `k` and `v` `[rows, groups, keys, size]`.
 * @param options - `mask` is `[rows, 1, 1, columns, keys]`. Without one, all queries see all keys.
 */
export function attendKeys(
  [q, k, v]: readonly Value[],
  options: {
    readonly mask?: Value | undefined;
    readonly scale: number;
    readonly ops?: OperatorSet | undefined;
  },
): AttendedKeys {
  const { mask, scale, ops } = options;
  const multiply = matmulOf(ops);
  const product = multiply(q!, k!, { transposeB: 'yes', alpha: scale });
  const scores = mask ? masked(product, mask) : product;
  const probabilities = normalSoftmax(scores, ops);
  return {
    scores,
    probabilities,
    output: () => multiply(probabilities, v!),
    gradients: (g, sums) => {
      const shown = mask ? shownOnly(probabilities, ops) : probabilities;
      // The subtraction is one more column of the product, which saves a pass over the scores.
      const ones = expand(v!.graph.constant(1, [1, 1, 1, 1], v!.type), [...v!.shape.slice(0, -1), 1]);
      const columns = [concat([g, neg(sums)], -1), concat([v!, ones], -1)] as const;
      const ofScores = mul(shown, multiply(...columns, { transposeB: 'yes' }));
      return {
        ofQueries: () => multiply(ofScores, k!, { alpha: scale }),
        ofKeys: () => multiply(ofScores, q!, { transposeA: 'yes', alpha: scale }),
        ofValues: () => multiply(shown, g, { transposeA: 'yes' }),
      };
    },
  };
}

function masked(scores: Value, mask: Value): Value {
  const [rows, , , columns, keys] = mask.shape;
  const perHead = reshape(scores, [rows!, scores.shape[1]!, -1, columns!, keys!]);
  return reshape(add(perHead, mask), scores.shape);
}
