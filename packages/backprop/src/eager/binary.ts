import type { Matrix } from './matrix.ts';

/** How a broadcast operand is walked: 0 where a dimension of size 1 repeats. */
interface Walk {
  readonly rowStride: number;
  readonly columnStride: number;
}

function walk(operand: Matrix): Walk {
  return {
    rowStride: operand.rows === 1 ? 0 : operand.columns,
    columnStride: operand.columns === 1 ? 0 : 1,
  };
}

/**
 * Elementwise functions of two broadcast operands.
 *
 * A general loop walks broadcast operands and calls a function per element. Operands of equal shape, which is nearly all of
 * the work, have a loop per function, which is faster.
 */
export interface BinaryKernel {
  /** Writes `f(a, b)` to `out`, whose shape is the broadcast one. */
  forward(a: Matrix, b: Matrix, out: Matrix): void;
  /** Adds the gradient of either operand, where its buffer is given. Absent: the function carries no gradient. */
  backward?: (a: Matrix, b: Matrix, gradient: Matrix, intoA: Into, intoB: Into) => void;
}

type Into = Float64Array | undefined;

/** What one element receives: `(a, b) → f`. */
type Pointwise = (a: number, b: number) => number;

/** The general loop of `forward`. */
function forwardOf(pointwise: Pointwise): BinaryKernel['forward'] {
  return (a, b, out) => {
    const [walkA, walkB] = [walk(a), walk(b)];
    const [dataA, dataB, result, columns] = [a.data, b.data, out.data, out.columns];
    for (let row = 0, at = 0; row < out.rows; row++) {
      let atA = row * walkA.rowStride;
      let atB = row * walkB.rowStride;
      for (let column = 0; column < columns; column++, at++) {
        result[at] = pointwise(dataA[atA]!, dataB[atB]!);
        atA += walkA.columnStride;
        atB += walkB.columnStride;
      }
    }
  };
}

/** Adds `gradient · slope(a, b)` to the buffer of one operand, summing over its broadcast dimensions. */
function accumulate(
  a: Matrix,
  b: Matrix,
  gradient: Matrix,
  into: Into,
  operand: Matrix,
  slope: Pointwise,
): void {
  if (into === undefined) return;
  const [walkA, walkB, walkInto] = [walk(a), walk(b), walk(operand)];
  const [dataA, dataB, upstream, columns] = [a.data, b.data, gradient.data, gradient.columns];
  for (let row = 0, at = 0; row < gradient.rows; row++) {
    let atA = row * walkA.rowStride;
    let atB = row * walkB.rowStride;
    let atInto = row * walkInto.rowStride;
    for (let column = 0; column < columns; column++, at++) {
      const incoming = upstream[at]!;
      if (incoming !== 0) into[atInto]! += incoming * slope(dataA[atA]!, dataB[atB]!);
      atA += walkA.columnStride;
      atB += walkB.columnStride;
      atInto += walkInto.columnStride;
    }
  }
}

/** Loops over operands of equal shape. */
interface EqualShapes {
  forward(a: Float64Array, b: Float64Array, out: Float64Array): void;
  intoA(a: Float64Array, b: Float64Array, gradient: Float64Array, into: Float64Array): void;
  intoB(a: Float64Array, b: Float64Array, gradient: Float64Array, into: Float64Array): void;
}

function kernel(value: Pointwise, slopeA: Pointwise, slopeB: Pointwise, equal?: EqualShapes): BinaryKernel {
  const general = forwardOf(value);
  return {
    forward(a, b, out) {
      if (equal !== undefined && haveEqualShapes(a, b)) equal.forward(a.data, b.data, out.data);
      else general(a, b, out);
    },
    backward(a, b, gradient, intoA, intoB) {
      if (equal !== undefined && haveEqualShapes(a, b)) {
        if (intoA !== undefined) equal.intoA(a.data, b.data, gradient.data, intoA);
        if (intoB !== undefined) equal.intoB(a.data, b.data, gradient.data, intoB);
        return;
      }
      accumulate(a, b, gradient, intoA, a, slopeA);
      accumulate(a, b, gradient, intoB, b, slopeB);
    },
  };
}

function haveEqualShapes(a: Matrix, b: Matrix): boolean {
  return a.rows === b.rows && a.columns === b.columns;
}

function addInto(_a: Float64Array, _b: Float64Array, gradient: Float64Array, into: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i]! += gradient[i]!;
}

function subtractInto(_a: Float64Array, _b: Float64Array, gradient: Float64Array, into: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i]! -= gradient[i]!;
}

/** The gradient of the smaller of two operands: all of it, or half where they are equal. */
function smallerTakes(
  own: Float64Array,
  other: Float64Array,
  gradient: Float64Array,
  into: Float64Array,
): void {
  for (let i = 0; i < into.length; i++) {
    if (own[i]! < other[i]!) into[i]! += gradient[i]!;
    else if (own[i] === other[i]) into[i]! += 0.5 * gradient[i]!;
  }
}

/** a + b. */
export const add = kernel(
  (a, b) => a + b,
  () => 1,
  () => 1,
  {
    forward(a, b, out) {
      for (let i = 0; i < out.length; i++) out[i] = a[i]! + b[i]!;
    },
    intoA: addInto,
    intoB: addInto,
  },
);

/** a − b. */
export const sub = kernel(
  (a, b) => a - b,
  () => 1,
  () => -1,
  {
    forward(a, b, out) {
      for (let i = 0; i < out.length; i++) out[i] = a[i]! - b[i]!;
    },
    intoA: addInto,
    intoB: subtractInto,
  },
);

/** a · b. */
export const mul = kernel(
  (a, b) => a * b,
  (_a, b) => b,
  (a) => a,
  {
    forward(a, b, out) {
      for (let i = 0; i < out.length; i++) out[i] = a[i]! * b[i]!;
    },
    intoA(_a, b, gradient, into) {
      for (let i = 0; i < into.length; i++) if (gradient[i] !== 0) into[i]! += gradient[i]! * b[i]!;
    },
    intoB(a, _b, gradient, into) {
      for (let i = 0; i < into.length; i++) if (gradient[i] !== 0) into[i]! += gradient[i]! * a[i]!;
    },
  },
);

/** a / b. */
export const div = kernel(
  (a, b) => a / b,
  (_a, b) => 1 / b,
  (a, b) => -a / (b * b),
);

/** min(a, b); equal operands share the gradient equally. */
export const minimum = kernel(
  Math.min,
  (a, b) => (a < b ? 1 : a === b ? 0.5 : 0),
  (a, b) => (b < a ? 1 : a === b ? 0.5 : 0),
  {
    forward(a, b, out) {
      for (let i = 0; i < out.length; i++) out[i] = Math.min(a[i]!, b[i]!);
    },
    intoA: smallerTakes,
    intoB: (a, b, gradient, into) => smallerTakes(b, a, gradient, into),
  },
);

/** max(a, b); equal operands share the gradient equally. */
export const maximum = kernel(
  Math.max,
  (a, b) => (a > b ? 1 : a === b ? 0.5 : 0),
  (a, b) => (b > a ? 1 : a === b ? 0.5 : 0),
);

/** a > b as 0 or 1, without gradient. */
export const greater: BinaryKernel = { forward: forwardOf((a, b) => (a > b ? 1 : 0)) };

/** a >= b as 0 or 1, without gradient. */
export const greaterEqual: BinaryKernel = { forward: forwardOf((a, b) => (a >= b ? 1 : 0)) };

/** The part of `a` where `condition` is not 0; elsewhere 0, and never NaN. */
export const keepWhere: BinaryKernel = {
  forward: forwardOf((a, condition) => (condition !== 0 ? a : 0)),
  backward(a, condition, gradient, intoA) {
    accumulate(a, condition, gradient, intoA, a, (_a, value) => (value !== 0 ? 1 : 0));
  },
};

/** The part of `a` where `condition` is 0; elsewhere 0, and never NaN. */
export const keepWhereNot: BinaryKernel = {
  forward: forwardOf((a, condition) => (condition !== 0 ? 0 : a)),
  backward(a, condition, gradient, intoA) {
    accumulate(a, condition, gradient, intoA, a, (_a, value) => (value !== 0 ? 0 : 1));
  },
};
