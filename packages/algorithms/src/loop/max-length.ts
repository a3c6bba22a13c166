import { ArgumentError, type TokenSequence } from '@rlp/core';
import * as z from 'zod';
import { isMasked } from './experience.ts';

/** Schema of {@link MaxLength}. */
export const maxLengthSchema = z.strictObject({
  /** Longest sequence, in tokens. */
  tokens: z.int().min(2),
  /**
   * What happens to a longer one. `'drop'` leaves it out and `'truncate'` keeps its first tokens, both with a note that counts them.
   * `'error'` ends the run before the first update. Default `'drop'`.
   */
  longer: z.enum(['drop', 'truncate', 'error']).default('drop'),
});

/** Longest sequence of a run, and what happens to longer ones. */
export interface MaxLength extends z.input<typeof maxLengthSchema> {}

/** Sequences that are short enough, and a sentence about the others. */
export interface WithinLength {
  readonly sequences: readonly TokenSequence[];
  readonly note?: string | undefined;
}

/**
 * Drops or truncates sequences that are too long. Truncated ones without a trained token are dropped.
 *
 * @param contextLength - What the model can take. Without `limit`, a longer sequence is an error.
 * @throws `ArgumentError` naming the number of long sequences and the longest one.
 */
export function withinLength(
  sequences: readonly TokenSequence[],
  limit: MaxLength | undefined,
  contextLength: number | undefined,
): WithinLength {
  const { tokens, longer = 'drop' } = limit ?? { tokens: contextLength, longer: 'error' };
  requireContext('runSftTraining', tokens, contextLength);
  if (tokens === undefined) return { sequences };
  const long = sequences.filter((sequence) => sequence.tokens.length > tokens);
  if (long.length === 0) return { sequences };
  const longest = long.reduce((most, sequence) => Math.max(most, sequence.tokens.length), 0);
  const counts = `${long.length} of ${sequences.length} sequences are longer than ${tokens} tokens (the longest has ${longest})`;
  if (longer === 'error') {
    throw new ArgumentError(
      `runSftTraining: ${counts}; shorten them, or pass maxLength: { tokens: ${tokens}, longer: 'drop' or 'truncate' }`,
    );
  }
  const isShort = (sequence: TokenSequence) => sequence.tokens.length <= tokens;
  const fitting = longer === 'drop' ? sequences.filter(isShort) : undefined;
  if (fitting !== undefined) return { sequences: fitting, note: `${counts}; they are dropped` };
  const cut = sequences.map((sequence) => truncated(sequence, tokens));
  const trained = cut.filter(({ mask }, at) => cut[at] === sequences[at] || !isMasked(mask));
  const lost = cut.length - trained.length;
  const dropped = lost === 0 ? '' : `, and ${lost} of them dropped because no trained token is left`;
  return { sequences: trained, note: `${counts}; they are truncated${dropped}` };
}

/** Refuses a limit that the model cannot take. */
export function requireContext(owner: string, tokens: number | undefined, contextLength: number | undefined) {
  if (contextLength === undefined || tokens === undefined || tokens <= contextLength) return;
  throw new ArgumentError(
    `${owner}: maxLength.tokens is ${tokens}, but the model's context holds ${contextLength}; pass at most ${contextLength}`,
  );
}

function truncated(sequence: TokenSequence, length: number): TokenSequence {
  if (sequence.tokens.length <= length) return sequence;
  const { tokens, mask, behaviorLogprobs, steps } = sequence;
  return {
    tokens: tokens.slice(0, length),
    mask: mask.slice(0, length),
    behaviorLogprobs: behaviorLogprobs.slice(0, length),
    steps: steps.slice(0, length),
  };
}
