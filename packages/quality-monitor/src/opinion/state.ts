import * as z from 'zod';
import { packed } from '../state/saved.ts';

/** Schema of a number of things that may fade. */
export const amount = z.number().nonnegative();

/** Schema of the fields of a detector's state that the second opinion needs. */
export const opinionSchema = z.strictObject({
  /** Products of the reward and, after it, the components: distances from the means of their batches. They fade. */
  weights: z.strictObject({ names: z.array(z.string()), count: amount, sums: z.array(z.array(z.number())) }),
  /** By opinion: what rewards promised, its scores, and the batches that they are of. By promise. */
  pairs: z.record(z.string(), z.array(z.tuple([z.number(), z.number(), z.int()]))),
  /** Batches read. */
  batches: amount,
  /** By reward component: its early values, how many equal the usual one, their sum and sum of squares. */
  components: z.record(
    z.string(),
    z.strictObject({ seen: amount, usual: z.number(), equal: amount, sum: z.number(), squares: amount }),
  ),
  evidence: z.strictObject({
    /** Nats of each test. */
    sums: packed(Float64Array, 2),
    /** Traits of the suspects, their number, and the sum of the deviations by which they score lower. */
    about: z.array(z.string()),
    suspects: amount,
    below: z.number(),
  }),
});

/** State of the second opinion. Its parts change it in place. */
export type OpinionState = z.output<typeof opinionSchema>;
