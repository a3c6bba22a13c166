import type { TensorOps } from '@rlp/core';
import type { SaveTensors, TensorFlow, TfTensor } from './tensorflow.ts';

type Backward = (dy: TfTensor, saved: readonly TfTensor[]) => TfTensor[];

/**
 * {@link TensorOps} with TensorFlow.js operations, differentiable by `tf.grads`.
 *
 * Uses TensorFlow.js gradients if they follow the interface's conventions. Other operations define their
 * derivative. A gradient of 0 stays 0 for any derivative, so a branch not taken never becomes NaN.
 */
export class TfTensorOps implements TensorOps<TfTensor> {
  readonly #tf: TensorFlow;

  constructor(tf: TensorFlow) {
    this.#tf = tf;
  }

  constant(value: number): TfTensor {
    return this.#tf.tensor(Float32Array.of(value), [1, 1], 'float32');
  }

  add(a: TfTensor, b: TfTensor): TfTensor {
    return this.#tf.add(a, b);
  }

  sub(a: TfTensor, b: TfTensor): TfTensor {
    return this.#tf.sub(a, b);
  }

  neg(x: TfTensor): TfTensor {
    return this.#tf.neg(x);
  }

  mul(a: TfTensor, b: TfTensor): TfTensor {
    return this.#elementwise([a, b], this.#tf.mul, ([x, y]) => [y!, x!]);
  }

  div(a: TfTensor, b: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#elementwise([a, b], tf.div, ([, y, quotient]) => [
      tf.div(tf.scalar(1), y!),
      tf.neg(tf.div(quotient!, y!)),
    ]);
  }

  abs(x: TfTensor): TfTensor {
    return this.#elementwise([x], this.#tf.abs, ([input]) => [this.#tf.sign(input!)]);
  }

  square(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#elementwise([x], tf.square, ([input]) => [tf.mul(input!, tf.scalar(2))]);
  }

  sqrt(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#elementwise([x], tf.sqrt, ([, root]) => [tf.div(tf.scalar(0.5), root!)]);
  }

  exp(x: TfTensor): TfTensor {
    return this.#elementwise([x], this.#tf.exp, ([, power]) => [power!]);
  }

  log(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#elementwise([x], tf.log, ([input]) => [tf.div(tf.scalar(1), input!)]);
  }

  sigmoid(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#elementwise([x], tf.sigmoid, ([, y]) => [tf.mul(y!, tf.sub(tf.scalar(1), y!))]);
  }

  tanh(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#elementwise([x], tf.tanh, ([, y]) => [tf.sub(tf.scalar(1), tf.square(y!))]);
  }

  minimum(a: TfTensor, b: TfTensor): TfTensor {
    return this.#elementwise([a, b], this.#tf.minimum, ([x, y]) => this.#shares(y!, x!));
  }

  maximum(a: TfTensor, b: TfTensor): TfTensor {
    return this.#elementwise([a, b], this.#tf.maximum, ([x, y]) => this.#shares(x!, y!));
  }

  clip(x: TfTensor, low: number, high: number): TfTensor {
    const tf = this.#tf;
    const limit = (input: TfTensor) => {
      const raised = low === Number.NEGATIVE_INFINITY ? input : tf.maximum(input, tf.scalar(low));
      return high === Number.POSITIVE_INFINITY ? tf.clone(raised) : tf.minimum(raised, tf.scalar(high));
    };
    const inside = (input: TfTensor) => {
      const above = this.#number(tf.greaterEqual(input, tf.scalar(low)));
      return tf.mul(above, this.#number(tf.greaterEqual(tf.scalar(high), input)));
    };
    return this.#elementwise([x], limit, ([input]) => [inside(input!)]);
  }

  greater(a: TfTensor, b: TfTensor): TfTensor {
    const compare = (x: TfTensor, y: TfTensor) => this.#number(this.#tf.greater(x, y));
    return this.#elementwise([a, b], compare, (saved) => this.#zeros(saved, 2));
  }

  greaterEqual(a: TfTensor, b: TfTensor): TfTensor {
    const compare = (x: TfTensor, y: TfTensor) => this.#number(this.#tf.greaterEqual(x, y));
    return this.#elementwise([a, b], compare, (saved) => this.#zeros(saved, 2));
  }

  where(condition: TfTensor, a: TfTensor, b: TfTensor): TfTensor {
    const tf = this.#tf;
    const isTaken = (x: TfTensor) => tf.notEqual(x, tf.scalar(0));
    return this.#custom(
      this.#broadcast([condition, a, b]),
      (test, x, y) => tf.where(isTaken(test!), x!, y!),
      (dy, [test]) => {
        const zero = tf.zerosLike(dy);
        return [zero, tf.where(isTaken(test!), dy, zero), tf.where(isTaken(test!), zero, dy)];
      },
    );
  }

  sum(x: TfTensor): TfTensor {
    return this.#tf.reshape(this.#tf.sum(x), [1, 1]);
  }

  rowSum(x: TfTensor): TfTensor {
    return this.#tf.sum(x, 1, true);
  }

  rowMax(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#custom(
      [x],
      (input) => tf.max(input!, 1, true),
      (dy, [input, largest]) => {
        const isLargest = this.#number(tf.greaterEqual(input!, largest!));
        return [this.#scaled(dy, tf.div(isLargest, tf.sum(isLargest, 1, true)))];
      },
    );
  }

  stopGradient(x: TfTensor): TfTensor {
    const tf = this.#tf;
    return this.#custom(
      [x],
      (input) => tf.clone(input!),
      (dy) => [tf.zerosLike(dy)],
    );
  }

  /** @param derivatives - Derivative of each input, from the inputs and the value. */
  #elementwise(
    inputs: readonly TfTensor[],
    value: (...inputs: [TfTensor, TfTensor]) => TfTensor,
    derivatives: (inputsAndValue: readonly TfTensor[]) => readonly TfTensor[],
  ): TfTensor {
    return this.#custom(
      this.#broadcast(inputs),
      (...all) => value(...(all as [TfTensor, TfTensor])),
      (dy, saved) => derivatives(saved).map((derivative) => this.#scaled(dy, derivative)),
    );
  }

  /** A function with a custom gradient. The backward pass gets the inputs and the value. */
  #custom(
    inputs: readonly TfTensor[],
    forward: (...inputs: TfTensor[]) => TfTensor,
    backward: Backward,
  ): TfTensor {
    const compute = this.#tf.customGrad((...given) => {
      const save = given.at(-1) as SaveTensors;
      const arrived = given.slice(0, -1) as TfTensor[];
      const value = forward(...arrived);
      save([...arrived, value]);
      return { value, gradFunc: backward };
    });
    return compute(...inputs);
  }

  /** `dy · derivative`, and 0 if `dy` is 0. A column `dy` broadcasts. */
  #scaled(dy: TfTensor, derivative: TfTensor): TfTensor {
    const tf = this.#tf;
    return tf.where(tf.notEqual(dy, tf.scalar(0)), tf.mul(dy, derivative), tf.zerosLike(dy));
  }

  /** Shares of the gradient for the larger of two: 1 and 0, or one half each. */
  #shares(a: TfTensor, b: TfTensor): TfTensor[] {
    const tf = this.#tf;
    const share = (x: TfTensor, y: TfTensor) => {
      const twice = tf.add(this.#number(tf.greater(x, y)), this.#number(tf.greaterEqual(x, y)));
      return tf.mul(twice, tf.scalar(0.5));
    };
    return [share(a, b), share(b, a)];
  }

  #number(condition: TfTensor): TfTensor {
    return this.#tf.cast(condition, 'float32');
  }

  #zeros([like]: readonly TfTensor[], count: number): TfTensor[] {
    return Array.from({ length: count }, () => this.#tf.zerosLike(like!));
  }

  /** Expands matrices to one shape. They are multiplied by 1, so TensorFlow.js sums their gradients. */
  #broadcast(inputs: readonly TfTensor[]): TfTensor[] {
    const size = (axis: number) => {
      const lengths = inputs.map(({ shape }) => shape[axis]!);
      return lengths.find((length) => length !== 1) ?? 1;
    };
    const shape = [size(0), size(1)];
    return inputs.map((x) => (x.shape.join() === shape.join() ? x : this.#tf.mul(x, this.#tf.ones(shape))));
  }
}
