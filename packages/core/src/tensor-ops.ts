/**
 * The arithmetic that losses are written in.
 *
 * A loss is a pure function over this interface and is written **once**. The eager implementation (typed arrays with a
 * reverse tape) gives its value and gradient anywhere. The tracing implementation turns it into nodes of a training graph.
 * No loss gradient is derived by hand.
 *
 * Every tensor is a matrix. Rows are sequences (`B`), columns are tokens (`T`). A dimension of size 1 broadcasts, so a
 * `[B, 1]` column is one number per sequence and a `[1, 1]` a scalar. Comparisons give 0 or 1 and carry no gradient.
 * Gradient conventions follow PyTorch. `clip` passes 1 inside and on its bounds and 0 outside. `minimum` and `maximum`
 * of equal values share the gradient equally. `abs` has gradient 0 at 0.
 */
export interface TensorOps<T> {
  /** A `[1, 1]` constant. */
  constant(value: number): T;

  add(a: T, b: T): T;
  sub(a: T, b: T): T;
  mul(a: T, b: T): T;
  div(a: T, b: T): T;
  neg(x: T): T;
  abs(x: T): T;
  square(x: T): T;
  sqrt(x: T): T;
  exp(x: T): T;
  log(x: T): T;
  sigmoid(x: T): T;
  tanh(x: T): T;

  minimum(a: T, b: T): T;
  maximum(a: T, b: T): T;
  /** Limits `x` to `[low, high]`. Either may be infinite. */
  clip(x: T, low: number, high: number): T;

  /** `a > b` as 0 or 1. */
  greater(a: T, b: T): T;
  /** `a >= b` as 0 or 1. */
  greaterEqual(a: T, b: T): T;
  /** `a` where `condition` is not 0, else `b`. The branch not taken gets gradient 0, never NaN. */
  where(condition: T, a: T, b: T): T;

  /** Sum of all elements, `[1, 1]`. */
  sum(x: T): T;
  /** Sum over tokens, `[B, 1]`. */
  rowSum(x: T): T;
  /** Largest over tokens, `[B, 1]`. Equal ones share the gradient equally. */
  rowMax(x: T): T;
  /** The value of `x`, as a constant to the gradient. */
  stopGradient(x: T): T;
}
