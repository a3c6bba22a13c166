import * as z from 'zod';
import { packed } from '../state/packed.ts';

const count = z.number().nonnegative();

/** Fields of a detector's state that the second opinion needs. */
export const opinionState = {
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
    /** Number, mean and mean square of the residuals of rewarded responses, and the batches that they are of. */
    count,
    batches: count,
    mean: z.number(),
    square: count,
    waiting: z.array(z.array(z.number())),
  }),
};

const schema = z.strictObject(opinionState);

/** State of the second opinion. Its parts change it in place. */
export type OpinionState = z.output<typeof schema>;

/** The state before the first batch. */
export function initialOpinion(): OpinionState {
  return {
    weights: { names: [], count: 0, sums: new Float64Array(1) },
    opinion: { fits: {}, recent: {}, components: {}, about: [], suspects: [], others: [] },
    opinionEvidence: { sums: [0, 0], count: 0, batches: 0, mean: 0, square: 0, waiting: [] },
  };
}
