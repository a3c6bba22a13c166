import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { packedText, textOf, unpacked } from '../state/packed.ts';
import { signatureLength } from '../text/sequences.ts';
import { learningStateSchema } from './learning.ts';

const count = z.int().nonnegative();

const schema = z.strictObject({
  samples: count,
  batches: count,
  bySeverity: z.record(z.string(), count),
  byRule: z.record(z.string(), count),
  invalid: z.record(z.string(), count),
  rewards: z.record(z.string(), z.array(z.number())),
  learning: learningStateSchema,
  signatures: packedText(Uint32Array).refine(
    (text) => unpacked(Uint32Array, text).length % signatureLength === 0,
    'expected whole signatures',
  ),
});

/** State of an assessor, as JSON data. */
export type AssessorState = z.output<typeof schema>;

/** @throws FormatError naming the problems. */
export function parseAssessorState(state: unknown): AssessorState {
  const parsed = schema.safeParse(state);
  if (parsed.success) return parsed.data;
  throw new FormatError(
    `expected the state of a RewardQualityAssessor, as saveState returns it: ${z.prettifyError(parsed.error)}`,
  );
}

/** Signatures as base64 of their bytes. */
export const signaturesToText: (signatures: Uint32Array) => string = textOf;

/** The inverse of {@link signaturesToText}. */
export function signaturesFromText(text: string): Uint32Array[] {
  const entries = unpacked(Uint32Array, text);
  return Array.from({ length: entries.length / signatureLength }, (_, row) =>
    entries.slice(row * signatureLength, (row + 1) * signatureLength),
  );
}
