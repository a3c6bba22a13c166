import * as z from 'zod';
import { initialOpinion, opinionState } from '../opinion/state.ts';
import { packed } from '../state/packed.ts';
import { slotCount } from './text-measures.ts';
import { bins, rowLength, type Scale, signalCount } from './traits.ts';

const count = z.number().nonnegative();

/** A batch that has not joined the references. `slots` has its phrases, each once for a task that was rewarded. */
const waitingBatch = z.strictObject({
  rows: packed(Uint8Array),
  weights: packed(Float32Array),
  clusters: packed(Uint32Array),
  slots: packed(Uint16Array),
  tasks: count,
  /** Hashes of the rewarded texts, each followed by that of its task. */
  texts: packed(Int32Array),
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
  unrewardedCount: count,
  recent: signals,
  recentCount: count,
  /** Tasks with each phrase, and all tasks. */
  phrases: packed(Uint16Array, slotCount),
  tasks: count,
});

/** Schema of the state of a reward-hacking detector. */
export const detectorSchema = z.strictObject({
  quick: scale,
  slow: scale,
  waiting: z.array(waitingBatch),
  responses: count,
  /** Mean of the rewards of earlier batches, and their number. */
  rewards: z.strictObject({ mean: z.number(), weight: count }),
  ...opinionState,
  report: z.strictObject({
    /** Traits reported, and when they became suspicious. */
    reported: z.record(z.string(), z.enum(['changed', 'alarm'])),
    since: z.record(z.string(), z.number()),
    last: z.int(),
    acquitted: count,
  }),
});

/** State of a reward-hacking detector. Its parts change it in place. */
export type DetectorState = z.output<typeof detectorSchema>;

/** State of one time scale. */
export type ScaleState = DetectorState[Scale];

/** A batch whose responses have not joined the references. */
export type WaitingBatch = DetectorState['waiting'][number];

/** The state before the first batch. */
export function initialState(): DetectorState {
  return {
    quick: initialScale(),
    slow: initialScale(),
    waiting: [],
    responses: 0,
    rewards: { mean: 0, weight: 0 },
    ...initialOpinion(),
    report: { reported: {}, since: {}, last: -1000, acquitted: 0 },
  };
}

function initialScale(): ScaleState {
  const ofSignals = () => new Float64Array(signalCount);
  return {
    rewarded: new Float64Array(rowLength * bins),
    others: new Float64Array(rowLength * bins),
    batchesKnown: new Float64Array(rowLength),
    sums: [ofSignals(), ofSignals()],
    dispersion: ofSignals(),
    dispersionBatches: ofSignals(),
    unrewarded: ofSignals(),
    unrewardedCount: 0,
    recent: ofSignals(),
    recentCount: 0,
    phrases: new Uint16Array(slotCount),
    tasks: 0,
  };
}
