/** A tensor of TensorFlow.js, as far as this backend uses it. */
export interface TfTensor {
  readonly id: number;
  readonly shape: number[];
  /** Values of the tensor, row-major. */
  data(): Promise<Float32Array | Int32Array | Uint8Array>;
  dispose(): void;
}

/** Keeps tensors for the backward pass of a custom gradient. */
export type SaveTensors = (tensors: TfTensor[]) => void;

/** Result of a function with a custom gradient. */
export interface TfCustomGradient<T extends TfTensor = TfTensor> {
  readonly value: T;
  /** Gradients of the inputs in order. `dy` is the gradient of the value, `saved` the tensors given to `save`. */
  gradFunc(dy: T, saved: T[]): T[];
}

/**
 * The part of TensorFlow.js that this backend uses.
 *
 * Pass the namespace of `@tensorflow/tfjs`, `@tensorflow/tfjs-node`, `@tensorflow/tfjs-node-gpu`, or
 * `@tensorflow/tfjs-core` with a backend.
 *
 * @see https://js.tensorflow.org/api/latest/
 */
export interface TensorFlow<T extends TfTensor = TfTensor> {
  tensor(values: Float32Array | Int32Array, shape: number[], dtype: 'float32' | 'int32'): T;
  scalar(value: number): T;
  clone(x: T): T;
  keep(x: T): T;
  dispose(tensors: T[]): void;
  tidy<Result extends T | T[]>(compute: () => Result): Result;
  /** Resolves after one turn of the event loop. */
  nextFrame(): Promise<void>;

  valueAndGrads(compute: (...inputs: T[]) => T): (inputs: T[]) => { value: T; grads: T[] };
  /** `compute` gets the inputs, then a {@link SaveTensors}. */
  customGrad(compute: (...inputsAndSave: unknown[]) => TfCustomGradient<T>): (...inputs: T[]) => T;

  add(a: T, b: T): T;
  sub(a: T, b: T): T;
  mul(a: T, b: T): T;
  div(a: T, b: T): T;
  neg(x: T): T;
  sign(x: T): T;
  abs(x: T): T;
  square(x: T): T;
  sqrt(x: T): T;
  rsqrt(x: T): T;
  exp(x: T): T;
  log(x: T): T;
  sigmoid(x: T): T;
  tanh(x: T): T;
  erf(x: T): T;
  minimum(a: T, b: T): T;
  maximum(a: T, b: T): T;

  greater(a: T, b: T): T;
  greaterEqual(a: T, b: T): T;
  notEqual(a: T, b: T): T;
  where(condition: T, a: T, b: T): T;
  cast(x: T, dtype: 'float32'): T;
  zerosLike(x: T): T;
  ones(shape: number[]): T;

  sum(x: T, axis?: number, keepDims?: boolean): T;
  max(x: T, axis: number, keepDims: boolean): T;
  mean(x: T, axis: number, keepDims: boolean): T;
  softmax(x: T): T;
  logSoftmax(x: T): T;
  matMul(a: T, b: T, transposeA?: boolean, transposeB?: boolean): T;
  gather(table: T, indices: T): T;
  oneHot(indices: T, depth: number): T;
  reshape(x: T, shape: number[]): T;
  broadcastTo(x: T, shape: number[]): T;
  transpose(x: T, permutation: number[]): T;
  concat(parts: T[], axis: number): T;
  slice(x: T, begin: number[], size: number[]): T;
}
