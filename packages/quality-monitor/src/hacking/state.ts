import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { bins, shifts, signals, traits } from './signals.ts';

/** The table of usual phrases has 2 to this power slots. */
export const phraseBits = 17;

const count = z.number().nonnegative().prefault(0);
const number = z.number().prefault(0);
const integers = z.array(z.int().nonnegative());

/** A list in JSON, and an array of fixed width in memory. */
function packed<Packed extends Iterable<number>>(
  kind: { from(list: Iterable<number>): Packed },
  list: z.ZodType<number[], number[]>,
) {
  return z.codec(list, z.custom<Packed>(), {
    decode: (numbers) => kind.from(numbers),
    encode: (numbers) => [...numbers],
  });
}

/** Zeros at first. */
function floats(length: number) {
  const list = z.array(z.number()).length(length);
  return packed(Float64Array, list).prefault(() => new Array<number>(length).fill(0));
}

const perSignal = floats(signals.length);
const bytes = packed(Uint8Array, z.array(z.int().min(0).max(255)));
const moments = z.strictObject({ weight: z.number().nonnegative(), mean: z.number(), square: z.number() });
const noMoments = moments.prefault({ weight: 0, mean: 0, square: 0 });
const twoMoments = z.tuple([moments, moments]);
const momentsByName = z
  .codec(z.record(z.string(), twoMoments), z.map(z.string(), twoMoments), {
    decode: (record) => new Map(Object.entries(record)),
    encode: (map) => Object.fromEntries(map),
  })
  .prefault({});

/** `used` slots are filled. */
const generation = z.codec(
  z.strictObject({ tasks: count, batch: count, slots: integers }),
  z.custom<{ tasks: number; batch: number; slots: Int32Array; used: number }>(),
  {
    decode: ({ slots, ...rest }) => ({ ...rest, slots: Int32Array.from(slots), used: slots.length }),
    encode: ({ slots, used, ...rest }) => ({ ...rest, slots: [...slots.subarray(0, used)] }),
  },
);
const slidingCounts = z
  .strictObject({ responses: count, generations: z.array(generation).prefault([]) })
  .prefault({});

/** `[slot, count, …]` of what is not 0. */
const usualPhrases = z
  .codec(integers, z.custom<Uint16Array>(), {
    decode: (pairs) => {
      const table = new Uint16Array(2 ** phraseBits);
      for (let at = 0; at < pairs.length; at += 2) table[pairs[at]!] = pairs[at + 1]!;
      return table;
    },
    encode: (table) => [...table.entries()].filter(([, times]) => times > 0).flat(),
  })
  .prefault([]);

const waitingBatch = z.strictObject({
  rows: bytes,
  weights: packed(Float32Array, z.array(z.number().min(-1).max(1))),
  clusters: z.strictObject({ numbers: packed(Uint32Array, integers), of: z.enum(['tasks', 'neighbours']) }),
  taken: bytes,
});

const schema = z.strictObject({
  phrases: z.strictObject({
    phrases: slidingCounts,
    templates: slidingCounts,
    responses: slidingCounts,
    waiting: z.array(generation).prefault([]),
    usual: usualPhrases,
    usualTasks: count,
    batch: count,
  }),
  reference: z.strictObject({
    rewarded: floats(traits.length * bins),
    others: floats(traits.length * bins),
    responses: count,
    batchesKnown: floats(traits.length),
    waiting: z.array(waitingBatch).prefault([]),
  }),
  evidence: z.strictObject({
    sums: z
      .array(perSignal)
      .length(shifts.length)
      .prefault(() => shifts.map(() => undefined)),
    dispersion: perSignal,
    dispersionBatches: perSignal,
    designEffect: z.strictObject({ varied: perSignal, expected: perSignal }).prefault({}),
    shift: perSignal,
    unrewarded: perSignal,
    unrewardedCount: count,
    recent: perSignal,
    recentCount: count,
  }),
  rewards: z.strictObject({
    lately: noMoments,
    reward: noMoments,
    components: momentsByName,
    scores: momentsByName,
  }),
  frontier: z.strictObject({
    batches: count,
    previous: number,
    variance: number,
    smoothed: number,
    best: number,
    klAtBest: number,
    evidence: count,
  }),
  alarm: z.strictObject({
    signals: z.array(z.string()).prefault([]),
    batches: count,
    reported: z.int().prefault(-1),
  }),
});

/** State of a reward-hacking detector. Its parts change it in place. */
export type DetectorState = z.output<typeof schema>;

const parts = Object.entries(schema.shape);

/** The state before the first batch. */
export function initialState(): DetectorState {
  return schema.parse(Object.fromEntries(parts.map(([name]) => [name, {}])));
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
  const given = (saved as { detector: Record<string, object> } | undefined)?.detector;
  const missing = parts.flatMap(([name, { shape }]) =>
    Object.keys(shape).filter((key) => given?.[name]?.[key as never] === undefined),
  );
  if (parsed.success && missing.length === 0) return parsed.data.detector;
  const problem = parsed.success ? `${missing.join(', ')} missing` : z.prettifyError(parsed.error);
  throw new FormatError(
    `expected the state of a reward-hacking detector, as saveState returns it: ${problem}`,
  );
}
