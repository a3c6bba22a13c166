import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { slotCount } from './text-measures.ts';
import { bins, rowLength, type Scale, signalCount } from './traits.ts';

const count = z.number().nonnegative();

type Packed = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;
type PackedKind<Type> = { new (buffer: ArrayBuffer): Type; readonly BYTES_PER_ELEMENT: number };

/** A typed array in memory, and the base64 of its bytes in JSON. */
function packed<Type extends Packed>(kind: PackedKind<Type>, length?: number) {
  const text = z.base64({ abort: true }).refine(
    (given) => {
      const numbers = atob(given).length / kind.BYTES_PER_ELEMENT;
      return Number.isInteger(numbers) && (length === undefined || numbers === length);
    },
    `expected ${length ?? 'whole'} numbers`,
  );
  return z.codec(text, z.custom<Type>(), { decode: (given) => new kind(bytesOf(given)), encode: textOf });
}

function bytesOf(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}

function textOf(array: Packed): string {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = '';
  for (let start = 0; start < bytes.length; start += 8192) {
    // Fifteen times faster than spreading.
    text += String.fromCharCode.apply(null, bytes.subarray(start, start + 8192) as unknown as number[]);
  }
  return btoa(text);
}

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

const schema = z.strictObject({
  quick: scale,
  slow: scale,
  waiting: z.array(waitingBatch),
  responses: count,
  /** Mean of the rewards of earlier batches, and their number. */
  rewards: z.strictObject({ mean: z.number(), weight: count }),
  /** Products of the components and, last, the reward: distances from the means of their batches. They fade. */
  weights: z.strictObject({ names: z.array(z.string()), count, sums: packed(Float64Array) }),
  opinion: z.strictObject({
    /** By opinion: sums of weight, promise, score, their squares and their product. They fade. */
    fits: z.record(z.string(), packed(Float64Array, 6)),
    /** By opinion: fading number and sum of the recent scores. */
    recent: z.record(z.string(), z.tuple([count, z.number()])),
    /** By reward component: its early values, how many equal the usual one, their sum and sum of squares. */
    components: z.record(
      z.string(),
      z.strictObject({ seen: count, usual: z.number(), equal: count, sum: z.number(), squares: count }),
    ),
    /** Traits that the suspects have. */
    about: z.array(z.string()),
    /** Residuals of suspects, and of other rewarded responses, newest last. */
    suspects: z.array(z.number()),
    others: z.array(z.number()),
  }),
  opinionEvidence: z.strictObject({
    sums: z.array(count).length(2),
    /** Number, mean and mean square of the residuals of rewarded responses. */
    count,
    mean: z.number(),
    square: count,
    waiting: z.array(z.array(z.number())),
  }),
  report: z.strictObject({
    /** Traits reported, and when they became suspicious. */
    reported: z.record(z.string(), z.enum(['changed', 'alarm'])),
    since: z.record(z.string(), z.number()),
    last: z.int(),
    acquitted: count,
  }),
});

/** State of a reward-hacking detector. Its parts change it in place. */
export type DetectorState = z.output<typeof schema>;

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
    weights: { names: [], count: 0, sums: new Float64Array(1) },
    opinion: { fits: {}, recent: {}, components: {}, about: [], suspects: [], others: [] },
    opinionEvidence: { sums: [0, 0], count: 0, mean: 0, square: 0, waiting: [] },
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

/** The state of now as JSON data. It is converted when it is read, because few states are written. */
export function savedState(state: DetectorState): unknown {
  const copy = structuredClone(state);
  let json: unknown;
  return {
    get detector() {
      json ??= z.encode(schema, copy);
      return json;
    },
  };
}

/** @throws FormatError naming the problems. */
export function restoredState(saved: unknown): DetectorState {
  const parsed = z.strictObject({ detector: schema }).safeParse(saved);
  if (parsed.success) return parsed.data.detector;
  throw new FormatError(
    `expected the state of a reward-hacking detector, as saveState returns it: ${z.prettifyError(parsed.error)}`,
  );
}
