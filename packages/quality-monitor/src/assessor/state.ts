import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { packed } from '../state/packed.ts';
import { signatureLength } from '../text/sequences.ts';
import { alertCounts } from './alert-counts.ts';
import { learningStateSchema } from './learning.ts';

const count = z.int().nonnegative();

const schema = z.strictObject({
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

/** @throws FormatError naming the problems. */
export function parseAssessorState(state: unknown): z.output<typeof schema> {
  const parsed = schema.safeParse(state);
  if (parsed.success) return parsed.data;
  throw new FormatError(
    `expected the state of a RewardQualityAssessor, as saveState returns it: ${z.prettifyError(parsed.error)}`,
  );
}
