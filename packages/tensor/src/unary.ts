import { ranInKernel } from './kernel/kernel.ts';

/**
 * Elementwise functions of one operand.
 *
 * One loop per function, on purpose. A shared loop that calls a function per element is slower once
 * the engine has seen it with many functions. Backward loops skip zero upstream gradients, so that a branch that
 * `where` did not take can overflow without turning the gradient into NaN.
 */
export interface UnaryKernel {
  /** Writes `f(x)` to `out`. */
  forward(x: Float64Array, out: Float64Array): void;
  /** Adds `gradient · f'(x)` to `into`. `out` is what {@link UnaryKernel.forward} wrote. */
  backward(x: Float64Array, out: Float64Array, gradient: Float64Array, into: Float64Array): void;
}

/** −x. */
export const neg: UnaryKernel = {
  forward(x, out) {
    if (ranInKernel('neg', [x, out])) return;
    for (let i = 0; i < x.length; i++) out[i] = -x[i]!;
  },
  backward(_x, _out, gradient, into) {
    if (ranInKernel('subInto', [gradient, into])) return;
    for (let i = 0; i < into.length; i++) into[i]! -= gradient[i]!;
  },
};

/** |x|, with gradient 0 at 0. */
export const abs: UnaryKernel = {
  forward(x, out) {
    if (ranInKernel('abs', [x, out])) return;
    for (let i = 0; i < x.length; i++) out[i] = Math.abs(x[i]!);
  },
  backward(x, _out, gradient, into) {
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += gradient[i]! * Math.sign(x[i]!);
    }
  },
};

/** x². */
export const square: UnaryKernel = {
  forward(x, out) {
    if (ranInKernel('square', [x, out])) return;
    for (let i = 0; i < x.length; i++) out[i] = x[i]! * x[i]!;
  },
  backward(x, _out, gradient, into) {
    if (ranInKernel('squareInto', [x, gradient, into])) return;
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += 2 * gradient[i]! * x[i]!;
    }
  },
};

/** √x. */
export const sqrt: UnaryKernel = {
  forward(x, out) {
    if (ranInKernel('sqrt', [x, out])) return;
    for (let i = 0; i < x.length; i++) out[i] = Math.sqrt(x[i]!);
  },
  backward(_x, out, gradient, into) {
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += gradient[i]! / (2 * out[i]!);
    }
  },
};

/** eˣ. */
export const exp: UnaryKernel = {
  forward(x, out) {
    for (let i = 0; i < x.length; i++) out[i] = Math.exp(x[i]!);
  },
  backward(_x, out, gradient, into) {
    if (ranInKernel('mulInto', [out, gradient, into])) return;
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += gradient[i]! * out[i]!;
    }
  },
};

/** ln x. */
export const log: UnaryKernel = {
  forward(x, out) {
    for (let i = 0; i < x.length; i++) out[i] = Math.log(x[i]!);
  },
  backward(x, _out, gradient, into) {
    if (ranInKernel('divInto', [x, gradient, into])) return;
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += gradient[i]! / x[i]!;
    }
  },
};

/** 1 / (1 + e⁻ˣ), computed so that neither tail overflows. */
export const sigmoid: UnaryKernel = {
  forward(x, out) {
    for (let i = 0; i < x.length; i++) {
      const decay = Math.exp(-Math.abs(x[i]!));
      out[i] = x[i]! >= 0 ? 1 / (1 + decay) : decay / (1 + decay);
    }
  },
  backward(_x, out, gradient, into) {
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += gradient[i]! * out[i]! * (1 - out[i]!);
    }
  },
};

/** tanh x. */
export const tanh: UnaryKernel = {
  forward(x, out) {
    for (let i = 0; i < x.length; i++) out[i] = Math.tanh(x[i]!);
  },
  backward(_x, out, gradient, into) {
    for (let i = 0; i < into.length; i++) {
      if (gradient[i] !== 0) into[i]! += gradient[i]! * (1 - out[i]! * out[i]!);
    }
  },
};

/** `x` limited to `[low, high]`. The gradient is 1 inside and on the bounds, 0 outside. */
export function clip(low: number, high: number): UnaryKernel {
  return {
    forward(x, out) {
      if (ranInKernel('clip', [x, out], low, high)) return;
      for (let i = 0; i < x.length; i++) {
        out[i] = Math.min(Math.max(x[i]!, low), high);
      }
    },
    backward(x, _out, gradient, into) {
      if (ranInKernel('clipInto', [x, gradient, into], low, high)) return;
      for (let i = 0; i < into.length; i++) {
        const value = x[i]!;
        if (value >= low && value <= high) into[i]! += gradient[i]!;
      }
    },
  };
}
