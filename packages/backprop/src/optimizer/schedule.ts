import { type NamedSchema, requireArguments, requireFields } from '@rlp/core';
import * as z from 'zod';

const start = {
  /** Updates over which the factor rises linearly from `initialRatio` to 1. Default 0. */
  warmup: z.int().min(0).default(0),
  /** Factor at the first update of the warmup. Default 0. */
  initialRatio: z.number().min(0).max(1).default(0),
};
const end = {
  /** Updates of the run, warmup included. The schedule ends there. Required. */
  updates: z.int().min(1),
};
const decay = {
  /** Factor at the end of the decay. Default 0. */
  minimumRatio: z.number().min(0).max(1).default(0),
  /** Number of cosine periods. Half a period falls once. Default 0.5. */
  cycles: z.number().positive().default(0.5),
};

/** Schemas of the kinds of {@link ScheduleOptions}. */
export const scheduleKinds = [
  z.strictObject({
    /** Constant factor 1 after the warmup. Required. */
    kind: z.literal('constant'),
    ...start,
  }),
  z.strictObject({
    /** Linear decay to 0 after the warmup. Required. */
    kind: z.literal('linear'),
    ...start,
    ...end,
  }),
  z.strictObject({
    /** Cosine decay to `minimumRatio` after the warmup. Required. */
    kind: z.literal('cosine'),
    ...start,
    ...end,
    ...decay,
    /**
     * Factor after the end. `'continue'` follows the cosine up again, as transformers and verl do. Default
     * `'hold'`.
     */
    pastEnd: z.enum(['hold', 'continue']).default('hold'),
  }),
  z.strictObject({
    /** Factor 1 after the warmup, then a cosine decay. Required. */
    kind: z.literal('warmup-stable-decay'),
    ...start,
    ...end,
    ...decay,
    /** Share of the updates after the warmup that stay at factor 1 before the decay. Default 0.9. */
    stableRatio: z.number().min(0).max(1).default(0.9),
    /** Shape of the decay. `'root'` falls by the square root of the progress. Default `'cosine'`. */
    decayForm: z.enum(['cosine', 'linear', 'root']).default('cosine'),
  }),
  z.strictObject({
    /** Cosine periods after the warmup, each from 1 down to 0. Required. */
    kind: z.literal('cosine-with-restarts'),
    ...start,
    ...end,
    /** Number of periods. Default 1. */
    cycles: z.int().min(1).default(1),
  }),
  z.strictObject({
    /** Polynomial decay to `minimumRatio` after the warmup. Required. */
    kind: z.literal('polynomial'),
    ...start,
    ...end,
    /** Factor at the end of the decay. Default 0. */
    minimumRatio: z.number().min(0).max(1).default(0),
    /** Exponent of the decay. Default 1. */
    power: z.number().positive().default(1),
  }),
  z.strictObject({
    /** Decay by the inverse square root of the updates after the warmup. Has no end. Required. */
    kind: z.literal('inverse-sqrt'),
    ...start,
    /** Updates after which the factor is 1/√2. Defaults to the warmup, or 10000 without one. */
    timescale: z.int().min(1).optional(),
  }),
  z.strictObject({
    /** Your own schedule, as straight lines between points. Required. */
    kind: z.literal('points'),
    /** Pairs of updates made and factor, such as `[[0, 0], [100, 1], [1000, 0.1]]`. The ends hold before and after. Required. */
    points: z
      .array(z.tuple([z.int().min(0), z.number().min(0)]))
      .min(1)
      .refine((points) => points.every(([made], k) => k === 0 || made > points[k - 1]![0]), {
        error: 'expected points in order of their updates, each update once',
      }),
  }),
] as const;

const schema = z.discriminatedUnion('kind', scheduleKinds);

/** Schedule of the learning rate over updates. */
export type ScheduleOptions = z.input<typeof schema>;

/** {@link ScheduleOptions} with every default filled in. */
export type Schedule = z.output<typeof schema>;

/** Schema of {@link ScheduleOptions}. */
export const scheduleSchema: NamedSchema<ScheduleOptions, Schedule> = schema;

/**
 * Factor of the base learning rate after `made` updates.
 *
 * Warmup: `i + (1 − i)·made/warmup`. After it, with progress `p = (made − warmup)/(updates − warmup)`:
 *
 * - linear: `max(0, (updates − made)/(updates − warmup))`
 * - cosine: `max(m, m + (1 − m)·½(1 + cos 2π·cycles·p))`
 * - cosine-with-restarts: `½(1 + cos π·frac(cycles·p))`, 0 from the end on
 * - polynomial: `m + (1 − m)(1 − p)^power`
 * - inverse-sqrt: `√(timescale/(made − warmup + timescale))`
 * - points: linear between the neighbours of `made`
 *
 * The cosine of verl and transformers is `{ kind: 'cosine', pastEnd: 'continue' }`. For PyTorch's
 * `CosineAnnealingLR` add `minimumRatio = eta_min / lr`. For a linear warmup from a tenth (`LinearLR`) use
 * `initialRatio: 0.1`.
 */
export function scheduleFactor(schedule: Schedule, made: number): number {
  requireArguments('scheduleFactor', { made: 'number' }, made);
  requireFields('scheduleFactor', { kind: 'text' }, schedule);
  if (schedule.kind === 'points') return factorBetween(schedule.points, made);
  requireFields('scheduleFactor', { warmup: 'number', initialRatio: 'number' }, schedule);
  if (made < schedule.warmup) {
    return schedule.initialRatio + (1 - schedule.initialRatio) * (made / schedule.warmup);
  }
  switch (schedule.kind) {
    case 'constant':
      return 1;
    case 'linear':
      return Math.max(0, (schedule.updates - made) / Math.max(1, schedule.updates - schedule.warmup));
    case 'cosine': {
      const progress = progressOf(made - schedule.warmup, schedule.updates - schedule.warmup);
      return cosine(schedule.pastEnd === 'hold' ? Math.min(1, progress) : progress, schedule);
    }
    case 'warmup-stable-decay':
      return stableThenDecay(schedule, made - schedule.warmup);
    case 'cosine-with-restarts': {
      const progress = progressOf(made - schedule.warmup, schedule.updates - schedule.warmup);
      return progress >= 1 ? 0 : 0.5 * (1 + Math.cos(Math.PI * ((schedule.cycles * progress) % 1)));
    }
    case 'polynomial': {
      const left = 1 - Math.min(1, progressOf(made - schedule.warmup, schedule.updates - schedule.warmup));
      return schedule.minimumRatio + (1 - schedule.minimumRatio) * left ** schedule.power;
    }
    case 'inverse-sqrt': {
      const { warmup, timescale = warmup || 10_000 } = schedule;
      return Math.sqrt(timescale / (made - warmup + timescale));
    }
  }
}

function factorBetween(points: readonly (readonly [number, number])[], made: number): number {
  const next = points.findIndex(([at]) => at > made);
  const [from, low] = points.at(next < 0 ? -1 : Math.max(0, next - 1))!;
  if (next <= 0) return low;
  const [to, high] = points[next]!;
  return low + ((high - low) * (made - from)) / (to - from);
}

function stableThenDecay(
  schedule: Extract<Schedule, { kind: 'warmup-stable-decay' }>,
  afterWarmup: number,
): number {
  const span = schedule.updates - schedule.warmup;
  const stable = Math.trunc(span * schedule.stableRatio);
  if (afterWarmup < stable) return 1;
  if (afterWarmup >= span) return schedule.minimumRatio;
  const progress = progressOf(afterWarmup - stable, span - stable);
  if (schedule.decayForm === 'cosine') return cosine(progress, schedule);
  const fallen = schedule.decayForm === 'linear' ? progress : Math.sqrt(progress);
  return schedule.minimumRatio + (1 - schedule.minimumRatio) * (1 - fallen);
}

function progressOf(made: number, span: number): number {
  return made / Math.max(1, span);
}

function cosine(progress: number, shape: { readonly minimumRatio: number; readonly cycles: number }): number {
  const height = 0.5 * (1 + Math.cos(2 * Math.PI * shape.cycles * progress));
  return Math.max(shape.minimumRatio, shape.minimumRatio + (1 - shape.minimumRatio) * height);
}
