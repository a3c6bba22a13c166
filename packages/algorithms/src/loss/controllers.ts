import { parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';

const klSchema = z.strictObject({
  /** Measured KL, in nats. */
  kl: z.number(),
  /** KL to reach, in nats. */
  target: z.number().positive(),
  /** Steps over which a fully wrong KL changes the coefficient by a fifth. */
  horizon: z.number().positive(),
  /** Steps since the last call. TRL and verl count sequences. Default 1. */
  steps: z.number().positive().default(1),
});

/** Arguments of {@link nextKlCoefficient}. */
export interface KlControl extends z.input<typeof klSchema> {}

/**
 * The adaptive KL controller's next coefficient. A fixed controller is the coefficient itself.
 *
 *     β ← β · (1 + clip(kl/target − 1, ±0.2) · steps / horizon)
 *
 * @throws OptionsError for numbers outside their ranges.
 * @see Ziegler et al. 2019, §2.2, https://arxiv.org/abs/1909.08593
 */
export function nextKlCoefficient(coefficient: number, control: KlControl): number {
  requireArguments('nextKlCoefficient', { coefficient: 'number' }, coefficient);
  const { kl, target, horizon, steps } = parseOptions('nextKlCoefficient', klSchema, control, 'KlControl');
  const error = Math.min(0.2, Math.max(-0.2, kl / target - 1));
  return coefficient * (1 + (error * steps) / horizon);
}

const entropySchema = z.strictObject({
  /** Measured entropy, in nats. */
  entropy: z.number(),
  /** Entropy to reach, in nats. */
  target: z.number(),
  /** Change of the coefficient per call. Default 0.005. */
  step: z.number().positive().default(0.005),
  /** Smallest coefficient. Default 0. */
  minimum: z.number().default(0),
  /** Largest coefficient. Default 1. */
  maximum: z.number().positive().default(1),
});

/** Arguments of {@link nextEntropyCoefficient}. */
export interface EntropyControl extends z.input<typeof entropySchema> {}

/**
 * Adaptive entropy control: raises the coefficient by `step` while the entropy is below its target, else lowers it.
 *
 * @throws OptionsError for numbers outside their ranges.
 * @see He et al. 2025 (Skywork-OR1), §4.3, https://arxiv.org/abs/2505.22312
 */
export function nextEntropyCoefficient(coefficient: number, control: EntropyControl): number {
  requireArguments('nextEntropyCoefficient', { coefficient: 'number' }, coefficient);
  const { entropy, target, step, minimum, maximum } = parseOptions(
    'nextEntropyCoefficient',
    entropySchema,
    control,
    'EntropyControl',
  );
  const moved = entropy < target ? coefficient + step : coefficient - step;
  return Math.min(maximum, Math.max(minimum, moved));
}
