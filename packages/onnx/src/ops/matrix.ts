import { ArgumentError, requireFields } from '@rlp/core';
import type { Attributes } from '../graph/attributes.ts';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import {
  broadcastShapes,
  type Dimension,
  formatShape,
  productDimension,
  type Shape,
} from '../graph/shape.ts';
import { mul } from './arithmetic.ts';
import { transpose } from './layout.ts';
import { applyOne, expectFloating, expectSameType, type YesNo } from './operand.ts';
import { reshape, sumTo } from './shape.ts';

interface MatrixSizes {
  readonly rows: Dimension;
  readonly columns: Dimension;
}

/** Rows and columns of `a · b` over the last two axes. Throws an ArgumentError if the inner sizes differ. */
function product(operation: string, a: Value, b: Value, transposeA: YesNo, transposeB: YesNo): MatrixSizes {
  expectFloating(operation, a);
  expectSameType(operation, [a, b]);
  if (a.shape.length < 2 || b.shape.length < 2) {
    throw new ArgumentError(
      `${operation}: operands need at least two axes, got ${formatShape(a.shape)} and ${formatShape(b.shape)}`,
    );
  }
  const [rows, innerA] = lastTwo(a.shape, transposeA);
  const [innerB, columns] = lastTwo(b.shape, transposeB);
  if (innerA !== innerB) {
    const flags = `${transposeA === 'yes' ? ' transposed' : ''} and ${formatShape(b.shape)}${transposeB === 'yes' ? ' transposed' : ''}`;
    throw new ArgumentError(
      `${operation}: inner sizes must be equal, "${innerA}" and "${innerB}" differ, got ${formatShape(a.shape)}${flags}`,
    );
  }
  return { rows, columns };
}

function lastTwo(shape: Shape, transposed: YesNo): [Dimension, Dimension] {
  const first = shape.at(-2)!;
  const second = shape.at(-1)!;
  return transposed === 'yes' ? [second, first] : [first, second];
}

function batchShape(operation: string, a: Value, b: Value): Shape {
  return broadcastShapes(operation, [a.shape.slice(0, -2), b.shape.slice(0, -2)]);
}

/** Reshapes `[…, rows, columns]` to `[rest, columns]`. */
function flattenRows(x: Value): Value {
  return reshape(x, [productDimension(x.shape.slice(0, -1)), x.shape.at(-1)!]);
}

const matmulOp = defineOp({
  type: 'MatMul',
  infer: (inputs) => {
    const [a, b] = inputs as [Value, Value];
    const { rows, columns } = product('matmul', a, b, 'no', 'no');
    return [{ type: a.type, shape: [...batchShape('matmul', a, b), rows, columns] }];
  },
  vjp: ({ inputs, gradients: [gradient], needs }) => {
    const [a, b] = inputs as [Value, Value];
    return [
      needs[0] ? sumTo(matmul(gradient!, transpose(b)), a.shape) : undefined,
      needs[1] ? matmulRightGradient(a, b, gradient!) : undefined,
    ];
  },
});

function matmulRightGradient(a: Value, b: Value, gradient: Value): Value {
  if (b.shape.length === 2 && a.shape.length > 2) {
    return gemm(flattenRows(a), flattenRows(gradient), { transposeA: 'yes' });
  }
  return sumTo(matmul(transpose(a), gradient), b.shape);
}

/** Matrix product over the last two axes, `[…, m, k] · […, k, n] → […, m, n]`. Leading axes broadcast. */
export function matmul(a: Value, b: Value): Value {
  return applyOne(matmulOp, [a, b]);
}

/** Options of {@link gemm}. */
export interface GemmOptions {
  /** Whether to transpose the first operand. Default `'no'`. */
  readonly transposeA?: YesNo;
  /** Whether to transpose the second operand. Default `'no'`. */
  readonly transposeB?: YesNo;
  /** Factor of the product. Default 1. */
  readonly alpha?: number;
  /** Added to the product, with broadcasting. Default: no bias. */
  readonly bias?: Value | undefined;
}

function defineGemm({ transposeA = 'no', transposeB = 'no', alpha = 1 }: GemmOptions) {
  return defineOp({
    type: 'Gemm',
    infer: (inputs) => {
      const [a, b, bias] = inputs as [Value, Value, Value | undefined];
      expectSameType('gemm', [a, b]);
      if (a.shape.length !== 2 || b.shape.length !== 2) {
        throw new ArgumentError(
          `gemm: operands must be matrices, got ${formatShape(a.shape)} and ${formatShape(b.shape)}`,
        );
      }
      const { rows, columns } = product('gemm', a, b, transposeA, transposeB);
      const shape = [rows, columns];
      if (bias) broadcastShapes('gemm', [shape, bias.shape]);
      return [{ type: a.type, shape }];
    },
    vjp: ({ inputs, gradients, needs }) => {
      const [a, b, bias] = inputs as [Value, Value, Value | undefined];
      const gradient = gradients[0]!;
      const { ofA, ofB } = productGradients(gemm, { transposeA, transposeB, alpha }, a, b, gradient);
      return [
        needs[0] ? ofA() : undefined,
        needs[1] ? ofB() : undefined,
        bias && needs[2] ? sumTo(gradient, bias.shape) : undefined,
      ];
    },
  });
}

/** Gradients of the operands of `multiply(a, b, options)`. */
function productGradients(
  multiply: (a: Value, b: Value, options: FusedMatmulOptions) => Value,
  { transposeA, transposeB, alpha }: Required<FusedMatmulOptions>,
  a: Value,
  b: Value,
  gradient: Value,
): { readonly ofA: () => Value; readonly ofB: () => Value } {
  return {
    ofA: () =>
      transposeA === 'yes'
        ? multiply(b, gradient, { transposeA: transposeB, transposeB: 'yes', alpha })
        : multiply(gradient, b, { transposeB: opposite(transposeB), alpha }),
    ofB: () =>
      transposeB === 'yes'
        ? multiply(gradient, a, { transposeA: 'yes', transposeB: transposeA, alpha })
        : multiply(a, gradient, { transposeA: opposite(transposeA), alpha }),
  };
}

function opposite(word: YesNo): YesNo {
  return word === 'yes' ? 'no' : 'yes';
}

/** Product of two matrices, `alpha · a b + bias`. Each operand can be transposed first. */
export function gemm(a: Value, b: Value, options: GemmOptions = {}): Value {
  const { bias } = requireFields('gemm: options', {}, options);
  return applyOne(defineGemm(options), bias ? [a, b, bias] : [a, b], productAttributes(options));
}

function productAttributes({
  transposeA = 'no',
  transposeB = 'no',
  alpha = 1,
}: FusedMatmulOptions): Attributes {
  return {
    transA: transposeA === 'yes' ? 1 : 0,
    transB: transposeB === 'yes' ? 1 : 0,
    alpha: { float: alpha },
  };
}

/** Options of {@link fusedMatmul}. */
export type FusedMatmulOptions = Omit<GemmOptions, 'bias'>;

function defineFusedMatmul({ transposeA = 'no', transposeB = 'no', alpha = 1 }: FusedMatmulOptions) {
  return defineOp({
    type: 'FusedMatMul',
    domain: 'com.microsoft',
    infer: (inputs) => {
      const [a, b] = inputs as [Value, Value];
      const { rows, columns } = product('fusedMatmul', a, b, transposeA, transposeB);
      return [{ type: a.type, shape: [...batchShape('fusedMatmul', a, b), rows, columns] }];
    },
    vjp: ({ inputs, gradients, needs }) => {
      const [a, b] = inputs as [Value, Value];
      const settings = { transposeA, transposeB, alpha };
      const { ofA, ofB } = productGradients(fusedMatmul, settings, a, b, gradients[0]!);
      return [needs[0] ? sumTo(ofA(), a.shape) : undefined, needs[1] ? sumTo(ofB(), b.shape) : undefined];
    },
  });
}

/**
 * `alpha · a b` over the last two axes by `com.microsoft.FusedMatMul`, for float32 on the CPU.
 *
 * Each operand can be transposed first.
 */
export function fusedMatmul(a: Value, b: Value, options: FusedMatmulOptions = {}): Value {
  return applyOne(
    defineFusedMatmul(requireFields('fusedMatmul: options', {}, options)),
    [a, b],
    productAttributes(options),
  );
}

/** Same result as {@link fusedMatmul}, from standard operators. */
export function standardMatmul(a: Value, b: Value, options: FusedMatmulOptions = {}): Value {
  const {
    transposeA = 'no',
    transposeB = 'no',
    alpha = 1,
  } = requireFields('standardMatmul: options', {}, options);
  const left = transposeA === 'yes' ? transpose(a) : a;
  const right = transposeB === 'yes' ? transpose(b) : b;
  return matmul(alpha === 1 ? left : mul(left, alpha), right);
}

/**
 * Linear layer, `x Wᵀ + bias`, with the weight as checkpoints store it.
 *
 * Leading axes of `x` are flattened for the product and restored.
 *
 * @param x - `[…, in]`
 * @param weight - `[out, in]`
 * @param bias - `[out]`
 */
export function linear(x: Value, weight: Value, bias?: Value): Value {
  expectValues('linear', { x, weight });
  if (x.shape.length === 2) return gemm(x, weight, { transposeB: 'yes', bias });
  const y = gemm(flattenRows(x), weight, { transposeB: 'yes', bias });
  return reshape(y, [...x.shape.slice(0, -1), weight.shape[0]!]);
}
