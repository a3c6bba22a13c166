import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { bins, rowLength, shifts, signals } from './signals.ts';

const number = z.number();
const count = number.nonnegative();
const traitCounts = z.strictObject({
  counts: z
    .array(count)
    .length(rowLength * bins)
    .readonly(),
  known: z.array(count).length(rowLength).readonly(),
});
const perSignal = z.array(number).length(signals.length).readonly();
const moments = z.tuple([count, number, count]).readonly();
const bytes = z.array(z.int().min(0).max(255)).readonly();
const pairs = z.array(z.int().nonnegative()).readonly();

const clusters = z.strictObject({ numbers: pairs, of: z.enum(['tasks', 'neighbours']) });

const generation = z.strictObject({ tasks: count, batch: count, slots: pairs });
const slidingCounts = z.strictObject({
  responses: count,
  generations: z.array(generation).min(1).readonly(),
});

const schema = z.strictObject({
  phrases: z.strictObject({
    phrases: slidingCounts,
    templates: slidingCounts,
    responses: slidingCounts,
    waiting: z.array(generation).readonly(),
    usual: pairs,
    usualTasks: count,
    batch: count,
  }),
  reference: z.strictObject({
    rewarded: traitCounts,
    others: traitCounts,
    responses: count,
    batchesKnown: z.array(count).length(rowLength).readonly(),
    waiting: z.array(
      z.strictObject({
        rows: bytes,
        weights: z.array(number.min(-1).max(1)).readonly(),
        clusters,
        taken: bytes,
      }),
    ),
  }),
  evidence: z.strictObject({
    sums: z.array(perSignal).length(shifts.length).readonly(),
    dispersion: perSignal,
    dispersionBatches: perSignal,
    designEffect: z.strictObject({ varied: perSignal, expected: perSignal }),
    shift: perSignal,
    unrewarded: perSignal,
    unrewardedCount: count,
    recent: perSignal,
    recentCount: count,
  }),
  rewards: z.strictObject({
    lately: moments,
    reward: moments,
    components: z.record(z.string(), z.tuple([moments, moments]).readonly()),
    scores: z.record(z.string(), z.tuple([moments, moments]).readonly()),
  }),
  frontier: z.array(number).length(7).readonly(),
  alarm: z.strictObject({ signals: z.array(z.string()).readonly(), batches: count, reported: z.int() }),
});

/** State of a reward-hacking detector, as JSON data. */
export type DetectorState = z.output<typeof schema>;

/** @throws FormatError naming the problems. */
export function parseDetectorState(state: unknown): DetectorState {
  const parsed = schema.safeParse(state);
  if (parsed.success) return parsed.data;
  throw new FormatError(
    `expected the state of a reward-hacking detector, as saveState returns it: ${z.prettifyError(parsed.error)}`,
  );
}
