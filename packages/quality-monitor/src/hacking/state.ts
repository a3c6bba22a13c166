import * as z from 'zod';
import { amount, opinionSchema } from '../opinion/state.ts';
import { packed } from '../state/saved.ts';
import { slotCount } from './text-measures.ts';
import { bins, rowLength, type Scale, signalCount } from './traits.ts';

/** A batch that has not joined the references. `slots` has its phrases, each once for a task that was rewarded, `nats` the clearest new one's. */
const waitingBatch = z.strictObject({
  /** Traits, one row per response, with its weight and the number of its task. */
  rows: packed(Uint8Array),
  weights: packed(Float32Array),
  clusters: packed(Uint32Array),
  slots: packed(Uint16Array),
  /** Hash of each rewarded task, followed by the end of its slots. */
  tasks: packed(Int32Array),
  /** Hashes of the rewarded texts, each followed by that of its task. */
  texts: packed(Int32Array),
  nats: amount,
});

const signals = packed(Float64Array, signalCount);
const histogram = packed(Float64Array, rowLength * bins);

const scale = z.strictObject({
  /** Weight of the responses in a bin or above. Shapes: `[traits × bins]`. */
  rewarded: histogram,
  others: histogram,
  batchesKnown: packed(Float64Array, rowLength),
  sums: z.tuple([signals, signals]),
  dispersion: signals,
  dispersionBatches: signals,
  unrewarded: signals,
  unrewardedCount: amount,
  recent: signals,
  recentCount: amount,
});

/** What was reported: traits, when they became suspicious, and the iteration of the last report. */
export const reportSchema = z.strictObject({
  reported: z.record(z.string(), z.enum(['changed', 'alarm'])),
  since: z.record(z.string(), z.number()),
  last: z.int().nullable(),
  acquitted: amount,
});

/** Usual tasks with each phrase, and all usual tasks. */
export const phrasesSchema = z.strictObject({ phrases: packed(Uint16Array, slotCount), tasks: amount });

/** Schema of the state of a reward-hacking detector. */
export const detectorSchema = z.strictObject({
  ...opinionSchema.shape,
  quick: scale,
  slow: scale,
  ...phrasesSchema.shape,
  waiting: z.array(waitingBatch),
  /** Most nats of a new phrase in the batches that joined the references. 0 if unknown. */
  usualNats: amount,
  /** Mean of the rewards of earlier batches, and their number. */
  rewards: z.strictObject({ mean: z.number(), weight: amount }),
  report: reportSchema,
});

/** State of a reward-hacking detector. Its parts change it in place. */
export type DetectorState = z.output<typeof detectorSchema>;

/** State of one time scale. */
export type ScaleState = DetectorState[Scale];

/** A batch whose responses have not joined the references. */
export type WaitingBatch = DetectorState['waiting'][number];
