import { ranInKernel } from './kernel/kernel.ts';

/**
 * Elementwise functions of two operands of equal shape. A tape expands operands that broadcast before.
 *
 * One loop per function, on purpose. A shared loop that calls a function per element is several times slower once the engine
 * has seen it with many functions. Backward loops skip zero upstream gradients where a slope is multiplied, so that a branch
 * that `where` did not take can overflow without turning the gradient into NaN.
 */
export interface BinaryKernel {
  /** Writes `f(a, b)` to `out`. */
  forward(a: Float64Array, b: Float64Array, out: Float64Array): void;
  /** Adds `gradient · ∂f/∂a` to `into`. Absent if the function carries no gradient. */
  intoA?(a: Float64Array, b: Float64Array, gradient: Float64Array, into: Float64Array): void;
  /** Adds `gradient · ∂f/∂b` to `into`. */
  intoB?(a: Float64Array, b: Float64Array, gradient: Float64Array, into: Float64Array): void;
}

function addInto(_a: Float64Array, _b: Float64Array, gradient: Float64Array, into: Float64Array): void {
  if (ranInKernel('addInto', [gradient, into])) return;
  for (let i = 0; i < into.length; i++) into[i]! += gradient[i]!;
}

/** The gradient of the smaller of two operands, or half of it if they are equal. */
function smallerTakes(
  own: Float64Array,
  other: Float64Array,
  gradient: Float64Array,
  into: Float64Array,
): void {
  if (ranInKernel('smallerInto', [own, other, gradient, into])) return;
  for (let i = 0; i < into.length; i++) {
    if (own[i]! < other[i]!) into[i]! += gradient[i]!;
    else if (own[i] === other[i]) into[i]! += 0.5 * gradient[i]!;
  }
}

/** {@link smallerTakes} for the larger operand. */
function largerTakes(
  own: Float64Array,
  other: Float64Array,
  gradient: Float64Array,
  into: Float64Array,
): void {
  if (ranInKernel('largerInto', [own, other, gradient, into])) return;
  for (let i = 0; i < into.length; i++) {
    if (own[i]! > other[i]!) into[i]! += gradient[i]!;
    else if (own[i] === other[i]) into[i]! += 0.5 * gradient[i]!;
  }
}

/** a + b. */
export const add: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('add', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = a[i]! + b[i]!;
  },
  intoA: addInto,
  intoB: addInto,
};

/** a − b. */
export const sub: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('sub', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = a[i]! - b[i]!;
  },
  intoA: addInto,
  intoB(_a, _b, gradient, into) {
    if (ranInKernel('subInto', [gradient, into])) return;
    for (let i = 0; i < into.length; i++) into[i]! -= gradient[i]!;
  },
};

/** a · b. */
export const mul: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('mul', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = a[i]! * b[i]!;
  },
  intoA(_a, b, gradient, into) {
    if (ranInKernel('mulInto', [b, gradient, into])) return;
    for (let i = 0; i < into.length; i++) if (gradient[i] !== 0) into[i]! += gradient[i]! * b[i]!;
  },
  intoB(a, _b, gradient, into) {
    if (ranInKernel('mulInto', [a, gradient, into])) return;
    for (let i = 0; i < into.length; i++) if (gradient[i] !== 0) into[i]! += gradient[i]! * a[i]!;
  },
};

/** a / b. */
export const div: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('div', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = a[i]! / b[i]!;
  },
  intoA(_a, b, gradient, into) {
    if (ranInKernel('divInto', [b, gradient, into])) return;
    for (let i = 0; i < into.length; i++) if (gradient[i] !== 0) into[i]! += gradient[i]! / b[i]!;
  },
  intoB(a, b, gradient, into) {
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! -= (gradient[i]! * a[i]!) / (b[i]! * b[i]!);
    }
  },
};

/** min(a, b). Equal operands share the gradient equally. */
export const minimum: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('minimum', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = Math.min(a[i]!, b[i]!);
  },
  intoA: smallerTakes,
  intoB: (a, b, gradient, into) => smallerTakes(b, a, gradient, into),
};

/** max(a, b). Equal operands share the gradient equally. */
export const maximum: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('maximum', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = Math.max(a[i]!, b[i]!);
  },
  intoA: largerTakes,
  intoB: (a, b, gradient, into) => largerTakes(b, a, gradient, into),
};

/** a > b as 0 or 1, without gradient. */
export const greater: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('greater', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = a[i]! > b[i]! ? 1 : 0;
  },
};

/** a >= b as 0 or 1, without gradient. */
export const greaterEqual: BinaryKernel = {
  forward(a, b, out) {
    if (ranInKernel('greaterEqual', [a, b, out])) return;
    for (let i = 0; i < out.length; i++) out[i] = a[i]! >= b[i]! ? 1 : 0;
  },
};
