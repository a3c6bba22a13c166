import { FormatError } from '@rlp/core';
import { z } from 'zod';
import { signatureLength } from '../text/words.ts';

const count = z.int().nonnegative();

const schema = z.strictObject({
  samples: count,
  alerts: count,
  bySeverity: z.record(z.string(), count),
  byType: z.record(z.string(), count),
  invalid: z.record(z.string(), count),
  rewards: z.record(z.string(), z.array(z.number())),
  signatures: z.array(z.array(z.int().nonnegative()).length(signatureLength)),
});

/** What an assessor remembers, as JSON data. */
export type AssessorState = z.output<typeof schema>;

/** @throws FormatError naming what is wrong. */
export function parseAssessorState(state: unknown): AssessorState {
  const parsed = schema.safeParse(state);
  if (parsed.success) return parsed.data;
  throw new FormatError(
    `expected the state of a RewardQualityAssessor, as saveState gives it: ${z.prettifyError(parsed.error)}`,
  );
}
