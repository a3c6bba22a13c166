import * as z from 'zod';

const count = z.number().nonnegative();

/** Fields of a detector's state that the second opinion needs. */
export const opinionState = {
  /** Products of the reward and, after it, the components: distances from the means of their batches. They fade. */
  weights: z.strictObject({ names: z.array(z.string()), count, sums: z.array(z.array(z.number())) }),
  /** By opinion: what rewards promised, its scores, and the batches that they are of. By promise. */
  pairs: z.record(z.string(), z.array(z.tuple([z.number(), z.number(), z.int()]))),
  /** Batches read. */
  batches: count,
  /** By reward component: its early values, how many equal the usual one, their sum and sum of squares. */
  components: z.record(
    z.string(),
    z.strictObject({ seen: count, usual: z.number(), equal: count, sum: z.number(), squares: count }),
  ),
  evidence: z.strictObject({
    /** Nats of each test. */
    sums: z.array(count).length(2),
    /** Traits of the suspects, their number, and the sum of the deviations by which they score lower. */
    about: z.array(z.string()),
    suspects: count,
    below: z.number(),
  }),
};

const schema = z.strictObject(opinionState);

/** State of the second opinion. Its parts change it in place. */
export type OpinionState = z.output<typeof schema>;

/** The state before the first batch. */
export function initialOpinion(): OpinionState {
  return {
    weights: { names: [], count: 0, sums: [] },
    pairs: {},
    batches: 0,
    components: {},
    evidence: { sums: [0, 0], about: [], suspects: 0, below: 0 },
  };
}
