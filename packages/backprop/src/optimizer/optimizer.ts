import {
  ArgumentError,
  type ArgumentKind,
  described,
  type ReferenceUpdate,
  requireArguments,
  requireFields,
} from '@rlp/core';

/** Typed array of either precision. */
export type NumericArray = Float32Array | Float64Array;

/** Constants of one Adam update. */
export interface AdamStep {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Number of the update. 1 for the first. */
  readonly update: number;
}

/** Adam's state of one parameter. */
export interface AdamState {
  readonly moment1: NumericArray;
  readonly moment2: NumericArray;
  /** Largest second moment so far. If present, AMSGrad is on. */
  readonly maximum?: NumericArray | undefined;
}

const adamNumbers = {
  ...({ learningRate: 'number', beta1: 'number', beta2: 'number', epsilon: 'number' } as const),
  ...({ weightDecay: 'number', update: 'number' } as const),
};

function adamArrays(owner: string, value: NumericArray, gradient: NumericArray, state: AdamState) {
  const { moment1, moment2, maximum } = requireFields(owner, {}, state);
  return { value, gradient, moment1, moment2, maximum };
}

/** Checks the arrays and the numbers of an update. Arrays are as long as the first. */
function checkUpdate(
  owner: string,
  numbers: Readonly<Record<string, ArgumentKind>>,
  arrays: Readonly<Record<string, NumericArray | undefined>>,
  step: object,
): void {
  requireFields(owner, numbers, step);
  const [first] = Object.values(arrays);
  for (const [name, array] of Object.entries(arrays)) {
    if (name === 'maximum' && array === undefined) continue;
    if (ArrayBuffer.isView(array) && array.length === first?.length) continue;
    throw new ArgumentError(
      `${owner}: ${name} must be an array of floats of one length, got ${described(array)}`,
    );
  }
}

/**
 * One AdamW update of `value` in place. Reference implementation of the engine's kernel.
 *
 * `p ← p·(1 − lr·decay)`, `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`, `p ← p − lr·m̂/(√v̂ + ε)` with `m̂ =
 * m/(1 − β₁ᵗ)`, `v̂ = v/(1 − β₂ᵗ)`.
 *
 * @see Loshchilov & Hutter 2019, https://arxiv.org/abs/1711.05101
 */
export function adamw(value: NumericArray, gradient: NumericArray, state: AdamState, step: AdamStep): void {
  checkUpdate('adamw', adamNumbers, adamArrays('adamw', value, gradient, state), step);
  const shrink = 1 - step.learningRate * step.weightDecay;
  if (shrink !== 1) for (let i = 0; i < value.length; i++) value[i] = value[i]! * shrink;
  adam(value, gradient, state, { ...step, weightDecay: 0 });
}

/** One Adam update of `value` in place. `weightDecay` is an L2 penalty, added to the gradient. */
export function adam(value: NumericArray, gradient: NumericArray, state: AdamState, step: AdamStep): void {
  checkUpdate('adam', adamNumbers, adamArrays('adam', value, gradient, state), step);
  const { moment1, moment2, maximum } = state;
  const correction1 = 1 - step.beta1 ** step.update;
  const correction2 = 1 - step.beta2 ** step.update;
  for (let i = 0; i < value.length; i++) {
    const g = gradient[i]! + step.weightDecay * value[i]!;
    // Most cells of a table are never seen. Their update is 0.
    if (g === 0 && moment1[i] === 0 && moment2[i] === 0) continue;
    const m = step.beta1 * moment1[i]! + (1 - step.beta1) * g;
    const v = step.beta2 * moment2[i]! + (1 - step.beta2) * g * g;
    moment1[i] = m;
    moment2[i] = v;
    let second = v;
    if (maximum) {
      second = Math.max(maximum[i]!, v);
      maximum[i] = second;
    }
    value[i] =
      value[i]! - (step.learningRate * (m / correction1)) / (Math.sqrt(second / correction2) + step.epsilon);
  }
}

/** Constants of one update of stochastic gradient descent. */
export interface SgdStep {
  readonly learningRate: number;
  readonly momentum: number;
  readonly weightDecay: number;
  readonly momentumForm: 'heavy-ball' | 'nesterov';
}

/**
 * One update of stochastic gradient descent in place, with PyTorch's momentum.
 *
 * `b ← μb + g` (the first `b` is `g`), then `p ← p − lr·b` (`heavy-ball`) or `p ← p − lr·(g + μb)`
 * (`nesterov`). `weightDecay` is an L2 penalty.
 *
 * @param velocity - `b`, zero before the first update.
 */
export function sgd(
  value: NumericArray,
  gradient: NumericArray,
  velocity: NumericArray,
  step: SgdStep,
): void {
  checkUpdate(
    'sgd',
    { learningRate: 'number', momentum: 'number', weightDecay: 'number' },
    { value, gradient, velocity },
    step,
  );
  for (let i = 0; i < value.length; i++) {
    const g = gradient[i]! + step.weightDecay * value[i]!;
    const b = step.momentum * velocity[i]! + g;
    velocity[i] = b;
    const direction = step.momentumForm === 'nesterov' ? g + step.momentum * b : b;
    value[i] = value[i]! - step.learningRate * direction;
  }
}

/** Global L2 norm `√ΣΣ g²` over all tensors. */
export function globalNorm(gradients: readonly NumericArray[]): number {
  requireArguments('globalNorm', { gradients: 'lists' }, gradients);
  let sum = 0;
  for (const gradient of gradients) for (const g of gradient) sum += g * g;
  return Math.sqrt(sum);
}

/** Factor that clips a gradient of this norm: `min(1, maximum/(norm + 1e-6))`, as PyTorch's `clip_grad_norm_`. */
export function clipFactor(norm: number, maximum: number): number {
  requireArguments('clipFactor', { norm: 'number', maximum: 'number' }, norm, maximum);
  return Math.min(1, maximum / (norm + 1e-6));
}

/** Decay of a reference policy's update. 0 for a copy. Throws an ArgumentError outside 0 … 1. */
export function referenceDecay(update: ReferenceUpdate): number {
  const decay = update.method === 'copy' ? 0 : update.decay;
  if (decay >= 0 && decay <= 1) return decay;
  throw new ArgumentError(`updateReference: decay must lie between 0 and 1, got ${decay}`);
}

/**
 * Updates a moving average in place: `average ← decay · average + (1 − decay) · values`. A decay of 0 copies.
 *
 * @param decay - In [0, 1].
 */
export function movingAverage(average: NumericArray, values: NumericArray, decay: number): void {
  checkUpdate('movingAverage', { decay: 'number' }, { average, values }, { decay });
  for (let i = 0; i < average.length; i++) {
    average[i] = decay === 0 ? values[i]! : decay * average[i]! + (1 - decay) * values[i]!;
  }
}
