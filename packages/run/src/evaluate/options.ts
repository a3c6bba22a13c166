import { parseOptions, timerMs } from '@rlp/core';
import { rolloutSchema } from '@rlp/rollout';
import * as z from 'zod';

const measuring = z.strictObject({
  /** Name of the evaluation in its record. Default `'evaluation'`. */
  name: z.string().min(1).default('evaluation'),
  /** Names the random streams. Equal seeds sample equal responses. Default `'evaluation'`. */
  seed: z.string().default('evaluation'),
  /** Responses per task. Default 1. */
  samples: z.int().min(1).default(1),
  /** Values of k for pass@k and maj@k, each at most `samples`. Default none. */
  k: z.array(z.int().min(1)).readonly().default([]),
  /** Level of the confidence intervals. Default 0.95. */
  confidence: z.number().gt(0).lt(1).default(0.95),
  /** Part of the reward that says whether a response is right. Default the reward itself. */
  metric: z.string().min(1).optional(),
  /** Lowest score of a right response. By default 1 is right and 0 is wrong, and other scores give no accuracy. */
  correctFrom: z.number().optional(),
  /** Key of the tasks' metadata that names their category. Default none. */
  category: z.string().min(1).optional(),
  /**
   * Milliseconds for the whole evaluation. Responses that are missing then are counted as unscored. Default no limit.
   */
  timeoutMs: timerMs.optional(),
});

const sampling = rolloutSchema.omit({ groupSize: true, onFailure: true }).extend(measuring.shape);

function requireSamples({ k, samples }: z.output<typeof measuring>, { addIssue }: z.RefinementCtx): void {
  const most = Math.max(0, ...k);
  if (most <= samples) return;
  const message = `must not be larger than samples, which is ${samples}; raise samples to ${most}, or leave ${most} out`;
  addIssue({ code: 'custom', path: ['k'], message });
}

const measuringSchema = measuring.superRefine(requireSamples);
const samplingSchema = sampling.superRefine(requireSamples);

/** What is measured. */
export interface MeasuringSettings extends Omit<z.input<typeof measuring>, 'samples' | 'seed'> {}

/** Numbers and names among the options of `evaluate`. The temperature is 0 by default if `samples` is 1. */
export interface EvaluateSettings extends z.input<typeof sampling> {}

/** What is measured, with defaults. */
export type ResolvedSettings = z.output<typeof measuring>;

/**
 * Applies the defaults of an evaluation whose groups are collected already.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveMeasuring(settings: z.input<typeof measuring>): ResolvedSettings {
  return parseOptions('evaluate', measuringSchema, settings, 'EvaluateCollectedOptions');
}

/**
 * Applies the defaults.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveSettings(settings: EvaluateSettings): z.output<typeof sampling> {
  const resolved = parseOptions('evaluate', samplingSchema, settings, 'EvaluateOptions');
  const temperature = settings.sampling?.temperature ?? (resolved.samples === 1 ? 0 : 1);
  return { ...resolved, sampling: { ...resolved.sampling, temperature } };
}
