import * as z from 'zod';
import { packed } from '../state/packed.ts';
import type { Saved } from '../state/saved.ts';
import { signatureLength } from '../text/sequences.ts';
import { alertCounts } from './alert-counts.ts';
import { learningStateSchema } from './learning.ts';

const count = z.int().nonnegative();

/** Schema of the state of a `RewardQualityAssessor`. */
export const assessorSchema = z.strictObject({
  samples: count,
  batches: count,
  ...alertCounts,
  invalid: z.record(z.string(), count),
  rewards: z.record(z.string(), z.array(z.number())),
  learning: learningStateSchema,
  signatures: packed(Uint32Array).refine(
    ({ length }) => length % signatureLength === 0,
    'expected whole signatures',
  ),
});

/** State of a `RewardQualityAssessor`, as JSON data. */
export type SavedAssessor = Saved<typeof assessorSchema>;
