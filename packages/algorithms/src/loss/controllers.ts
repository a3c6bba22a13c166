import { parseOptions } from '@rlp/core';
import * as z from 'zod';

const klSchema = z.strictObject({
  kl: z.number(),
  target: z.number().positive(),
  horizon: z.number().positive(),
  steps: z.number().positive().default(1),
});

/**
 * What {@link nextKlCoefficient} reads.
 *
 * - `kl`: measured, in nats; `target`: wanted.
 * - `horizon`: how many `steps` of a fully wrong KL change the coefficient by a fifth.
 * - `steps` (1): made since the last call; TRL and verl count sequences.
 */
export type KlControl = z.input<typeof klSchema>;

/**
 * The adaptive KL controller's next coefficient. A fixed controller is the coefficient itself.
 *
 *     β ← β · (1 + clip(kl/target − 1, ±0.2) · steps / horizon)
 *
 * @throws OptionsError for numbers outside their ranges.
 * @see Ziegler et al. 2019, §2.2, https://arxiv.org/abs/1909.08593
 */
export function nextKlCoefficient(coefficient: number, control: KlControl): number {
  const { kl, target, horizon, steps } = parseOptions('nextKlCoefficient', klSchema, control);
  const error = Math.min(0.2, Math.max(-0.2, kl / target - 1));
  return coefficient * (1 + (error * steps) / horizon);
}

const entropySchema = z.strictObject({
  entropy: z.number(),
  target: z.number(),
  step: z.number().positive().default(0.005),
  minimum: z.number().default(0),
  maximum: z.number().positive().default(1),
});

/**
 * What {@link nextEntropyCoefficient} reads.
 *
 * - `entropy`: measured, in nats; `target`: the least that is wanted.
 * - `step` (0.005): by how much the coefficient moves; `minimum` (0), `maximum` (1): its bounds.
 */
export type EntropyControl = z.input<typeof entropySchema>;

/**
 * Adaptive entropy control: raises the coefficient by `step` while the entropy is below its target, else lowers it.
 *
 * @throws OptionsError for numbers outside their ranges.
 * @see He et al. 2025 (Skywork-OR1), §4.3, https://arxiv.org/abs/2505.22312
 */
export function nextEntropyCoefficient(coefficient: number, control: EntropyControl): number {
  const { entropy, target, step, minimum, maximum } = parseOptions(
    'nextEntropyCoefficient',
    entropySchema,
    control,
  );
  const moved = entropy < target ? coefficient + step : coefficient - step;
  return Math.min(maximum, Math.max(minimum, moved));
}
