import { requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { add, mul, sub } from '../ops/arithmetic.ts';
import { erf, exp, sigmoid, tanh } from '../ops/elementwise.ts';
import { applyOne } from '../ops/operand.ts';
import type { OperatorSet } from './variant.ts';

const quickGeluOp = defineOp({ type: 'QuickGelu', domain: 'com.microsoft' });
const geluOp = defineOp({ type: 'Gelu' });

/** Options of {@link silu}. */
export interface SiluOptions {
  /** Operators to build from. Default `'fused'`. */
  readonly ops?: OperatorSet;
}

/** SiLU activation, `x · sigmoid(x)`. */
export function silu(x: Value, options: SiluOptions = {}): Value {
  const { ops = 'fused' } = requireFields('silu: options', {}, options);
  const [y] = customGradient(
    [x],
    () => {
      if (ops === 'standard') return [mul(x, sigmoid(x))];
      return [quickSilu(x)];
    },
    ([upstream]) => {
      const gate = sigmoid(x);
      return [mul(upstream!, mul(gate, add(mul(x, sub(1, gate)), 1)))];
    },
  );
  return y;
}

/** Options of {@link swiglu}. */
export interface SwigluOptions {
  /** Operators to build from. Default `'fused'`. */
  readonly ops?: OperatorSet;
}

/**
 * Gated activation of Llama's feed-forward layers, `gate · sigmoid(gate) · up`.
 *
 * Keeps only `gate` and `up` for the backward pass. That is half of what the separate products would keep.
 *
 * @see Shazeer 2020, https://arxiv.org/abs/2002.05202
 */
export function swiglu(gate: Value, up: Value, options: SwigluOptions = {}): Value {
  const { ops = 'fused' } = requireFields('swiglu: options', {}, options);
  let parts: { readonly opened: Value; readonly activated: Value } | undefined;
  const inParts = () => {
    const opened = parts?.opened ?? sigmoid(gate);
    parts ??= { opened, activated: mul(gate, opened) };
    return parts;
  };
  const [y] = customGradient(
    [gate, up],
    () => [mul(ops !== 'standard' ? quickSilu(gate) : inParts().activated, up)],
    ([upstream], [needsGate, needsUp]) => {
      const { opened, activated } = inParts();
      const slope = () => add(opened, sub(activated, mul(activated, opened)));
      return [
        needsGate ? mul(mul(upstream!, up), slope()) : undefined,
        needsUp ? mul(upstream!, activated) : undefined,
      ];
    },
  );
  if (ops !== 'standard') y.graph.rebuild(y, () => mul(inParts().activated, up));
  return y;
}

function quickSilu(x: Value): Value {
  return applyOne(quickGeluOp, [x], { alpha: { float: 1 } }, x);
}

/** Options of {@link gelu}. */
export interface GeluOptions {
  /** `'none'` is exact; `'tanh'` is GPT-2's approximation. Default `'none'`. */
  readonly approximate?: 'none' | 'tanh';
  /** `'fused'` uses `Gelu` of ONNX opset 20, `'standard'` older operators. Default `'fused'`. */
  readonly ops?: OperatorSet;
}

const tanhScale = Math.sqrt(2 / Math.PI);
const tanhCubic = 0.044715;

/** GELU activation, `x · Φ(x)`. Φ is the normal distribution function or its tanh approximation. */
export function gelu(x: Value, options: GeluOptions = {}): Value {
  const { approximate = 'none', ops = 'fused' } = requireFields('gelu: options', {}, options);
  const parts = approximate === 'none' ? exactGate : tanhGate;
  const [y] = customGradient(
    [x],
    () => [ops !== 'standard' ? applyOne(geluOp, [x], { approximate }, x) : mul(x, parts(x).gate)],
    ([upstream]) => {
      const { gate, slope } = parts(x);
      return [mul(upstream!, add(gate, mul(x, slope)))];
    },
  );
  return y;
}

interface Gate {
  readonly gate: Value;
  /** Derivative of the gate. */
  readonly slope: Value;
}

function exactGate(x: Value): Gate {
  return {
    gate: mul(add(erf(mul(x, Math.SQRT1_2)), 1), 0.5),
    slope: mul(exp(mul(mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI)),
  };
}

function tanhGate(x: Value): Gate {
  const squared = mul(x, x);
  const turned = tanh(mul(mul(x, add(mul(squared, tanhCubic), 1)), tanhScale));
  const inner = mul(add(mul(squared, 3 * tanhCubic), 1), 0.5 * tanhScale);
  return { gate: mul(add(turned, 1), 0.5), slope: mul(sub(1, mul(turned, turned)), inner) };
}
