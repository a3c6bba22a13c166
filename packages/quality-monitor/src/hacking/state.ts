import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { shifts } from './evidence.ts';
import { bins, rowLength, signals } from './signals.ts';

const number = z.number();
const count = number.nonnegative();
const traitCounts = z.strictObject({
  counts: z.array(count).length(rowLength * bins),
  known: z.array(count).length(rowLength),
});
const perSignal = z.array(number).length(signals.length);
const moments = z.tuple([count, number, count]);
const bytes = z.array(z.int().min(0).max(255));
const pairs = z.array(z.int().nonnegative());

const clusters = z.strictObject({ numbers: pairs, of: z.enum(['tasks', 'neighbours']) });

const generation = z.strictObject({ tasks: count, batch: count, slots: pairs });
const slidingCounts = z.strictObject({ responses: count, generations: z.array(generation).min(1) });

const schema = z.strictObject({
  phrases: z.strictObject({
    phrases: slidingCounts,
    templates: slidingCounts,
    responses: slidingCounts,
    waiting: z.array(generation),
    usual: pairs,
    usualTasks: count,
    batch: count,
  }),
  reference: z.strictObject({
    rewarded: traitCounts,
    others: traitCounts,
    responses: count,
    batchesKnown: z.array(count).length(rowLength),
    waiting: z.array(
      z.strictObject({ rows: bytes, standings: z.array(number.min(-1).max(1)), clusters, taken: bytes }),
    ),
  }),
  evidence: z.strictObject({
    sums: z.array(perSignal).length(shifts.length),
    dispersion: perSignal,
    dispersionBatches: perSignal,
    likeness: z.strictObject({ varied: perSignal, expected: perSignal }),
    upheaval: perSignal,
    unrewarded: perSignal,
    unrewardedCount: count,
    recent: perSignal,
    recentCount: count,
  }),
  rewards: z.strictObject({
    lately: moments,
    reward: moments,
    components: z.record(z.string(), z.tuple([moments, moments])),
    scores: z.record(z.string(), z.tuple([moments, moments])),
  }),
  frontier: z.array(number).length(7),
  alarm: z.strictObject({ signals: z.array(z.string()), batches: count, reported: z.int() }),
});

/** What a reward-hacking detector remembers, as JSON data. */
export type DetectorState = z.output<typeof schema>;

/** @throws FormatError naming what is wrong. */
export function parseDetectorState(state: unknown): DetectorState {
  const parsed = schema.safeParse(state);
  if (parsed.success) return parsed.data;
  throw new FormatError(
    `expected the state of a reward-hacking detector, as saveState gives it: ${z.prettifyError(parsed.error)}`,
  );
}
