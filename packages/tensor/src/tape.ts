import { ArgumentError, described, type TensorOps } from '@rlp/core';
import { Arena } from './arena.ts';
import * as binary from './binary.ts';
import { expand, reduceInto } from './expansion.ts';
import { broadcastShape, type Matrix, type Shape } from './matrix.ts';
import * as select from './select.ts';
import * as unary from './unary.ts';

/** @throws ArgumentError for an operand that is not a matrix, such as a column that is missing. */
function requireTensors(operation: string, ...operands: readonly (Variable | undefined)[]): void {
  for (const operand of operands) {
    if (ArrayBuffer.isView(operand?.data)) continue;
    throw new ArgumentError(
      `${operation}: expected a matrix, from data, variable or constant of a Tape, got ${described(operand)}`,
    );
  }
}

/** A matrix on a {@link Tape}. */
export interface Variable extends Matrix {
  /** Whether a gradient flows to it. */
  readonly tracked: boolean;
}

interface Node extends Variable {
  /** Accumulated while {@link Tape.backward} runs. Kept for variables of the caller. */
  gradient: Float64Array | undefined;
}

/**
 * Eager {@link TensorOps} over float64 matrices, with a reverse tape.
 *
 * Gradients are exact derivatives under the conventions that {@link TensorOps} states. Only what depends on a
 * {@link Tape.variable} is recorded, so data columns cost nothing in the backward pass. A tape serves one evaluation. Its
 * temporaries live in an arena, and are gone once that is reset.
 */
export class Tape implements TensorOps<Variable> {
  /** One closure per recorded operation. It moves the gradient of its result to its operands. */
  readonly #steps: (() => void)[] = [];
  readonly #arena: Arena;
  #rowsMixed: 'no' | 'yes' = 'no';

  readonly add = this.#combining('add', binary.add);
  readonly sub = this.#combining('sub', binary.sub);
  readonly mul = this.#combining('mul', binary.mul);
  readonly div = this.#combining('div', binary.div);
  readonly minimum = this.#combining('minimum', binary.minimum);
  readonly maximum = this.#combining('maximum', binary.maximum);
  readonly greater = this.#combining('greater', binary.greater);
  readonly greaterEqual = this.#combining('greaterEqual', binary.greaterEqual);

  readonly neg = this.#applying('neg', unary.neg);
  readonly abs = this.#applying('abs', unary.abs);
  readonly square = this.#applying('square', unary.square);
  readonly sqrt = this.#applying('sqrt', unary.sqrt);
  readonly exp = this.#applying('exp', unary.exp);
  readonly log = this.#applying('log', unary.log);
  readonly sigmoid = this.#applying('sigmoid', unary.sigmoid);
  readonly tanh = this.#applying('tanh', unary.tanh);

  /** @param arena - By default a new arena, so results stay valid. */
  constructor(arena: Arena = new Arena()) {
    this.#arena = arena;
  }

  /** Whether an operation made one number of all rows. If not, results of a row depend on that row alone. */
  get rowsMixed(): 'no' | 'yes' {
    return this.#rowsMixed;
  }

  /** A matrix to differentiate by. */
  variable(matrix: Matrix): Variable {
    return node(matrix, true);
  }

  /** A matrix of data. No gradient flows to it. */
  data(matrix: Matrix): Variable {
    return node(matrix, false);
  }

  /**
   * Carries the gradient of `Σ seed · output` back to every variable. Call once.
   *
   * @param seed - Same shape as `output`.
   * @throws ArgumentError when the shapes differ.
   */
  backward(output: Variable, seed: Matrix): void {
    if (seed.rows !== output.rows || seed.columns !== output.columns) {
      throw new ArgumentError(
        `backward: the seed must have the output's shape [${output.rows}, ${output.columns}], ` +
          `got [${seed.rows}, ${seed.columns}]`,
      );
    }
    const into = this.#gradientOf(output);
    if (into === undefined) return;
    for (let index = 0; index < into.length; index++) into[index]! += seed.data[index]!;
    for (const step of this.#steps.reverse()) step();
    this.#steps.length = 0;
  }

  /** Gradient with respect to `variable`, after {@link Tape.backward}. Zeros if no gradient flowed. */
  gradient(variable: Variable): Matrix {
    const data = (variable as Node).gradient ?? new Float64Array(variable.data.length);
    return { rows: variable.rows, columns: variable.columns, data };
  }

  constant(value: number): Variable {
    const result = this.#result({ rows: 1, columns: 1 }, false);
    result.data[0] = value;
    return result;
  }

  clip(x: Variable, low: number, high: number): Variable {
    return this.#applying('clip', unary.clip(low, high))(x);
  }

  where(condition: Variable, a: Variable, b: Variable): Variable {
    requireTensors('where', condition, a, b);
    const shape = broadcastShape('where', broadcastShape('where', condition, a), b);
    const [wide, first, second] = [condition, a, b].map((operand) => this.#expanded(operand, shape)) as [
      Variable,
      Variable,
      Variable,
    ];
    const result = this.#result(shape, a.tracked || b.tracked);
    select.forward(wide.data, first.data, second.data, result.data);
    this.#record(result, (gradient) => {
      select.backward(wide.data, gradient, this.#gradientOf(first), this.#gradientOf(second));
    });
    return result;
  }

  sum(x: Variable): Variable {
    requireTensors('sum', x);
    this.#rowsMixed = 'yes';
    let total = 0;
    for (let index = 0; index < x.data.length; index++) total += x.data[index]!;
    const result = this.#result({ rows: 1, columns: 1 }, x.tracked);
    result.data[0] = total;
    this.#record(result, (gradient) => {
      const into = this.#gradientOf(x)!;
      const incoming = gradient[0]!;
      for (let index = 0; index < into.length; index++) into[index]! += incoming;
    });
    return result;
  }

  rowSum(x: Variable): Variable {
    requireTensors('rowSum', x);
    const { rows, columns, data } = x;
    const result = this.#result({ rows, columns: 1 }, x.tracked);
    for (let row = 0, at = 0; row < rows; row++) {
      let total = 0;
      for (let column = 0; column < columns; column++, at++) total += data[at]!;
      result.data[row] = total;
    }
    this.#record(result, (gradient) => {
      const into = this.#gradientOf(x)!;
      for (let row = 0, at = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++, at++) into[at]! += gradient[row]!;
      }
    });
    return result;
  }

  rowMax(x: Variable): Variable {
    requireTensors('rowMax', x);
    const { rows, columns, data } = x;
    const result = this.#result({ rows, columns: 1 }, x.tracked);
    for (let row = 0; row < rows; row++) {
      let largest = Number.NEGATIVE_INFINITY;
      for (let at = row * columns; at < (row + 1) * columns; at++) largest = Math.max(largest, data[at]!);
      result.data[row] = largest;
    }
    this.#record(result, (gradient) => shareAmongLargest(x, result.data, gradient, this.#gradientOf(x)!));
    return result;
  }

  stopGradient(x: Variable): Variable {
    requireTensors('stopGradient', x);
    return node(x, false);
  }

  /** The operation that a kernel of one operand is. */
  #applying(operation: string, kernel: unary.UnaryKernel): (x: Variable) => Variable {
    return (x) => {
      requireTensors(operation, x);
      const result = this.#result(x, x.tracked);
      kernel.forward(x.data, result.data);
      this.#record(result, (gradient) =>
        kernel.backward(x.data, result.data, gradient, this.#gradientOf(x)!),
      );
      return result;
    };
  }

  /** The operation that a kernel of two operands is. */
  #combining(operation: string, kernel: binary.BinaryKernel): (a: Variable, b: Variable) => Variable {
    return (a, b) => {
      requireTensors(operation, a, b);
      const shape = broadcastShape(operation, a, b);
      const [first, second] = [this.#expanded(a, shape), this.#expanded(b, shape)];
      const result = this.#result(shape, kernel.intoA !== undefined && (a.tracked || b.tracked));
      kernel.forward(first.data, second.data, result.data);
      this.#record(result, (gradient) => {
        const [intoA, intoB] = [this.#gradientOf(first), this.#gradientOf(second)];
        if (intoA !== undefined) kernel.intoA?.(first.data, second.data, gradient, intoA);
        if (intoB !== undefined) kernel.intoB?.(first.data, second.data, gradient, intoB);
      });
      return result;
    };
  }

  /** An operand in the shape of the result. */
  #expanded(x: Variable, shape: Shape): Variable {
    if (x.rows === shape.rows && x.columns === shape.columns) return x;
    const result = this.#result(shape, x.tracked);
    expand(x, result);
    this.#record(result, (gradient) => reduceInto({ ...shape, data: gradient }, x, this.#gradientOf(x)!));
    return result;
  }

  /** A node to write a result to. */
  #result({ rows, columns }: Shape, tracked: boolean): Node {
    return { rows, columns, data: this.#arena.take(rows * columns), tracked, gradient: undefined };
  }

  /** Buffer to add a gradient to, or nothing if none flows. */
  #gradientOf(variable: Variable): Float64Array | undefined {
    if (!variable.tracked) return undefined;
    const own = variable as Node;
    own.gradient ??= this.#arena.zeros(own.data.length);
    return own.gradient;
  }

  /** Remembers how the gradient of `result` moves on. Its own buffer is freed once it has. */
  #record(result: Node, move: (gradient: Float64Array) => void): void {
    if (!result.tracked) return;
    this.#steps.push(() => {
      if (result.gradient === undefined) return;
      move(result.gradient);
      this.#arena.release(result.gradient);
      result.gradient = undefined;
    });
  }
}

/** Splits the gradient of each row's largest element among the elements equal to it. */
function shareAmongLargest(
  x: Matrix,
  largest: Float64Array,
  gradient: Float64Array,
  into: Float64Array,
): void {
  for (let row = 0; row < x.rows; row++) {
    if (gradient[row] === 0) continue;
    const [start, end] = [row * x.columns, (row + 1) * x.columns];
    let equals = 0;
    for (let at = start; at < end; at++) if (x.data[at] === largest[row]) equals += 1;
    for (let at = start; at < end; at++) {
      if (x.data[at] === largest[row]) into[at]! += gradient[row]! / equals;
    }
  }
}

function node({ rows, columns, data }: Matrix, tracked: boolean): Node {
  return { rows, columns, data, tracked, gradient: undefined };
}
