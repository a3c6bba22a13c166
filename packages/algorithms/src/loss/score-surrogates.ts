import { requireArguments, requireFields, type TensorOps } from '@rlp/core';
import { maskedRowSum, not } from './masked.ts';

/** What a surrogate that weighs the score `A · ln π_θ` reads. Each is `[B, T]` or broadcastable to it. */
export interface ScoreInputs<T> {
  readonly logprobs: T;
  readonly advantages: T;
  /** `π_θ / π_prox`, a constant to the gradient here. */
  readonly ratio: T;
}

/**
 * The policy gradient itself, `L = −A · ln π_θ`. REINFORCE, and verl's GPG.
 *
 * @see Williams 1992, https://doi.org/10.1007/BF00992696
 */
export function policyGradient<T>(
  ops: TensorOps<T>,
  options: Pick<ScoreInputs<T>, 'logprobs' | 'advantages'>,
): T {
  requireArguments('policyGradient', { ops: 'operations' }, ops);
  requireFields('policyGradient', { logprobs: 'given', advantages: 'given' }, options);
  const { logprobs, advantages } = options;
  return ops.neg(ops.mul(advantages, logprobs));
}

/** Bounds of a ratio, `1 − clipLow` and `1 + clipHigh`. */
export interface RatioBounds {
  /** The lower bound is `1 − clipLow`. 1 means no bound. */
  readonly clipLow: number;
  /** The upper bound is `1 + clipHigh`. */
  readonly clipHigh: number;
}

/**
 * CISPO clips the weight of the policy gradient, not the gradient, so every token keeps one.
 *
 *     L = −sg[clip(ρ, 1 − clipLow, 1 + clipHigh)] · A · ln π_θ
 *
 * verl, SkyRL and slime clip on both sides. open-instruct clips only above (`clipLow` 1), TRL only above and at `epsilon_high`
 * itself, which is `clipHigh = epsilon_high − 1`.
 *
 * @see MiniMax 2025 (MiniMax-M1), eq. 4, https://arxiv.org/abs/2506.13585
 */
export function clippedWeightSurrogate<T>(
  ops: TensorOps<T>,
  inputs: ScoreInputs<T>,
  options: RatioBounds,
): T {
  requireArguments('clippedWeightSurrogate', { ops: 'operations' }, ops);
  requireFields('clippedWeightSurrogate', { logprobs: 'given', advantages: 'given', ratio: 'given' }, inputs);
  const { logprobs, advantages, ratio } = inputs;
  requireFields('clippedWeightSurrogate', { clipLow: 'number', clipHigh: 'number' }, options);
  const { clipLow, clipHigh } = options;
  const weight = ops.stopGradient(ops.clip(ratio, 1 - clipLow, 1 + clipHigh));
  return ops.neg(ops.mul(ops.mul(weight, advantages), logprobs));
}

/**
 * The policy gradient of tokens whose ratio lies strictly between the bounds, and 0 for the others. SkyRL's `rollout_is`.
 *
 *     L = −sg[ρ] · A · ln π_θ   where 1 − clipLow < ρ < 1 + clipHigh
 */
export function windowSurrogate<T>(ops: TensorOps<T>, inputs: ScoreInputs<T>, bounds: RatioBounds): T {
  requireArguments('windowSurrogate', { ops: 'operations' }, ops);
  requireFields('windowSurrogate', { logprobs: 'given', advantages: 'given', ratio: 'given' }, inputs);
  const { logprobs, advantages, ratio } = inputs;
  requireFields('windowSurrogate', { clipLow: 'number', clipHigh: 'number' }, bounds);
  const weight = ops.stopGradient(ops.where(insideWindow(ops, ratio, bounds), ratio, ops.constant(0)));
  return ops.neg(ops.mul(ops.mul(weight, advantages), logprobs));
}

function insideWindow<T>(ops: TensorOps<T>, ratio: T, { clipLow, clipHigh }: RatioBounds): T {
  const above = ops.greater(ratio, ops.constant(1 - clipLow));
  return ops.mul(above, ops.greater(ops.constant(1 + clipHigh), ratio));
}

/** One side of {@link gammaWeights}: `φ(w) = e^rate · w^power · e^(−rate · w)`. */
export interface GammaShape {
  readonly power: number;
  readonly rate: number;
}

/** What {@link gammaWeights} reads. Each is `[B, T]` unless it says otherwise. */
export interface GammaInputs<T> {
  readonly logprobs: T;
  readonly proximalLogprobs: T;
  readonly advantages: T;
  readonly mask: T;
  /** Logarithm of the sequence's sampler correction, which becomes part of its weight. `[B, 1]`. */
  readonly logCorrection?: T | undefined;
}

/** Options of {@link gammaWeights}. */
export interface GammaOptions {
  /** Of sequences with `A ≥ 0`. */
  readonly positive: GammaShape;
  /** Of sequences with `A < 0`. */
  readonly negative: GammaShape;
}

/**
 * VESPO's weight of a sequence, a constant to the gradient, `φ(w) = e^λ · w^k · e^(−λw)`, which is 1 at `w = 1` and falls to
 * 0 on both sides.
 *
 *     ln w = clip(Σ clip(δ, ±20) + logCorrection, ln 1e-8, 20)        δ = ln π_θ − ln π_prox
 *
 * Multiply `policyGradient` by it. Shape `[B, T]`, equal within a sequence whose advantages have one sign.
 *
 * @see TRL's `get_gamma_weights`, https://github.com/huggingface/trl
 */
export function gammaWeights<T>(ops: TensorOps<T>, inputs: GammaInputs<T>, options: GammaOptions): T {
  requireArguments('gammaWeights', { ops: 'operations' }, ops);
  requireFields(
    'gammaWeights',
    { logprobs: 'given', proximalLogprobs: 'given', advantages: 'given', mask: 'given' },
    inputs,
  );
  const { logprobs, proximalLogprobs, advantages, mask, logCorrection } = inputs;
  requireFields('gammaWeights', { positive: 'object', negative: 'object' }, options);
  const { positive, negative } = options;
  requireFields('gammaWeights: positive', { power: 'number', rate: 'number' }, positive);
  requireFields('gammaWeights: negative', { power: 'number', rate: 'number' }, negative);
  const lowest = Math.log(1e-8);
  const moved = maskedRowSum(ops, ops.clip(ops.sub(logprobs, proximalLogprobs), -20, 20), mask);
  const total = logCorrection === undefined ? moved : ops.add(moved, logCorrection);
  const logWeight = ops.clip(total, lowest, 20);
  const isGood = ops.greaterEqual(advantages, ops.constant(0));
  const pick = (good: number, bad: number) =>
    ops.add(ops.mul(isGood, ops.constant(good)), ops.mul(not(ops, isGood), ops.constant(bad)));
  const power = pick(positive.power, negative.power);
  const rate = pick(positive.rate, negative.rate);
  const decay = ops.mul(rate, ops.sub(ops.constant(1), ops.exp(logWeight)));
  return ops.stopGradient(ops.exp(ops.add(ops.mul(power, logWeight), decay)));
}
