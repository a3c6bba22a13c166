import { ArgumentError, requireArguments, requireChoice, requireFields, type TensorOps } from '@rlp/core';

/** What {@link valueLoss} reads. Each is `[B, T]`. */
export interface ValueInputs<T> {
  /** Of the critic being updated. */
  readonly values: T;
  /** The critic's before the update. Needed with `clip`. */
  readonly oldValues?: T | undefined;
  readonly returns: T;
}

/** Options of {@link valueLoss}. */
export interface ValueLossOptions {
  /** Values are also judged where they may not leave `oldValues ± clip`. The worse of both counts. No clipping by default. */
  readonly clip?: number | undefined;
  /**
   * How the clipped value is written: `'bounds'`, `clip(V, V_old − c, V_old + c)`, or `'difference'`,
   * `V_old + clip(V − V_old, −c, c)` (SkyRL, OpenRLHF, slime). Equal but for rounding, which `clipped` then counts. Default `'bounds'`.
   */
  readonly clipForm?: 'bounds' | 'difference' | undefined;
  /** Factor of the squared error. Default 0.5, as verl, TRL, SkyRL, OpenRLHF and AReaL. Slime and rl_primitives have 1. */
  readonly scale?: number | undefined;
  /** Errors beyond this count linearly (Huber), `scale · 2δ·(|d| − δ/2)`. Default: squares everywhere. */
  readonly huberDelta?: number | undefined;
}

/** A token's value loss, and where clipping decided it. Each is `[B, T]`. */
export interface ValueLossResult<T> {
  readonly losses: T;
  /** 1 where the clipped error is the larger. No gradient. */
  readonly clipped: T;
}

/**
 * The critic's loss, per token.
 *
 *     L = scale · max((V − R)², (clip(V, V_old ± c) − R)²)
 *
 * @throws ArgumentError for `clip` without `oldValues`.
 * @see Schulman et al. 2017, §5, https://arxiv.org/abs/1707.06347; clipping after OpenAI baselines' ppo2
 */
export function valueLoss<T>(
  ops: TensorOps<T>,
  inputs: ValueInputs<T>,
  options: ValueLossOptions = {},
): ValueLossResult<T> {
  requireArguments('valueLoss', { ops: 'operations' }, ops);
  requireFields('valueLoss', { values: 'given', returns: 'given' }, inputs);
  const { values, oldValues, returns } = inputs;
  requireFields('valueLoss', { clip: 'number?', scale: 'number?', huberDelta: 'number?' }, options);
  const { clip, clipForm = 'bounds', scale = 0.5, huberDelta } = options;
  requireChoice('valueLoss', 'clipForm', clipForm, ['bounds', 'difference']);
  const cost = (value: T) => error(ops, ops.sub(value, returns), { scale, huberDelta });
  const plain = cost(values);
  if (clip === undefined) return { losses: plain, clipped: ops.greater(plain, plain) };
  if (oldValues === undefined) {
    throw new ArgumentError(
      'valueLoss: clip needs oldValues, the values before the update; pass them, or leave clip out',
    );
  }
  const near =
    clipForm === 'difference'
      ? ops.add(oldValues, ops.clip(ops.sub(values, oldValues), -clip, clip))
      : clampBetween(
          ops,
          values,
          ops.sub(oldValues, ops.constant(clip)),
          ops.add(oldValues, ops.constant(clip)),
        );
  const bounded = cost(near);
  return { losses: ops.maximum(plain, bounded), clipped: ops.greater(bounded, plain) };
}

/** `x` limited to bounds that are data. On a bound the gradient is whole, as with `clip`. */
function clampBetween<T>(ops: TensorOps<T>, x: T, low: T, high: T): T {
  const notBelow = ops.where(ops.greaterEqual(x, low), x, low);
  return ops.where(ops.greaterEqual(high, notBelow), notBelow, high);
}

function error<T>(
  ops: TensorOps<T>,
  difference: T,
  { scale, huberDelta }: { readonly scale: number; readonly huberDelta: number | undefined },
): T {
  const squared = ops.mul(ops.constant(scale), ops.square(difference));
  if (huberDelta === undefined) return squared;
  const size = ops.abs(difference);
  const linear = ops.mul(ops.constant(2 * scale * huberDelta), ops.sub(size, ops.constant(huberDelta / 2)));
  return ops.where(ops.greater(size, ops.constant(huberDelta)), linear, squared);
}
