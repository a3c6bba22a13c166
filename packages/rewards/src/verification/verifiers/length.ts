import { seenTexts } from '@rlp/answers/text';
import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';

import { countMatches } from '../../shared/text.ts';
import { TextVerifier, type VerificationContext } from '../text-verifier.ts';
import { scoreReport } from '../verdict.ts';

const schema = z
  .strictObject({
    /** Least length, inclusive. Default 10. */
    minLength: z.int().nonnegative().default(10),
    /** Greatest length, inclusive. Default 500. */
    maxLength: z.int().nonnegative().default(500),
    /**
     * Unit of length: words between white space, code points, or sentences, without what a page does not show. Runs of white space, or of
     * more than three signs of punctuation, are one code point. Lines of signs alone count nothing. Default `'words'`.
     */
    unit: z.enum(['words', 'characters', 'sentences']).default('words'),
    /** Share by which a limit may be missed with a warning. Default 0. */
    tolerance: z.number().min(0).max(1).default(0),
    /** Whether `minLength` and `maxLength` of a task's metadata replace the limits for that task. Default `'metadata'`. */
    overrides: z.enum(['metadata', 'none']).default('metadata'),
  })
  .refine(({ minLength, maxLength }) => maxLength >= minLength, {
    path: ['maxLength'],
    message: 'must be at least minLength',
  });

/** Options of {@link LengthVerifier}. */
export interface LengthVerifierOptions extends z.input<typeof schema> {}

/**
 * Whether a response is neither too short nor too long.
 *
 * Within the limits the score is 1. Missed by a share `m` of the limit it is `0.7 − 0.2·m/tolerance` up to the tolerance (a
 * warning), and `0.5·(1 − m)` beyond, never below 0 (a failure). Limits of the metadata that are not whole numbers, or
 * exclude each other, fail the response with `details.problem`.
 */
export class LengthVerifier extends TextVerifier {
  readonly name = 'length';
  readonly #options: z.output<typeof schema>;

  constructor(options: LengthVerifierOptions = {}) {
    super();
    this.#options = parseOptions('LengthVerifier', schema, options);
  }

  override verify(_prompt: string, response: string, { metadata }: VerificationContext): VerificationReport {
    const { unit, tolerance } = this.#options;
    const { minLength, maxLength } = this.#limits(metadata);
    const lengths = seenTexts(response).map(counters[unit]);
    const length = lengths.find((one) => one < minLength || one > maxLength) ?? lengths[0]!;
    const details = { length, minLength, maxLength, unit };
    const limit = Math.min(maxLength, Math.max(minLength, length));
    const missed = Math.abs(length - limit) / Math.max(1, limit);
    const bounds = `${minLength} to ${maxLength}`;
    if (missed === 0)
      return scoreReport({ score: 1, details, message: `${length} ${unit}, within ${bounds}` });
    const message = `${length} ${unit}, expected ${bounds}`;
    if (missed <= tolerance) {
      return { result: 'warning', score: Math.max(0.5, 0.7 - (0.2 * missed) / tolerance), details, message };
    }
    return { result: 'fail', score: 0.5 * Math.max(0, 1 - missed), details, message };
  }

  #limits({ minLength, maxLength }: VerificationContext['metadata']): z.output<typeof schema> {
    const own = this.#options;
    if (own.overrides === 'none' || (minLength ?? maxLength) === undefined) return own;
    const limits = { minLength: minLength ?? own.minLength, maxLength: maxLength ?? own.maxLength };
    return parseOptions('metadata', schema, limits);
  }
}

/** Lines without a letter, a digit or an emoji: rules, rows of empty tables, fences. */
const bare = /^[^\p{L}\p{N}\p{So}\n]+$/gmu;

/** What blanks part and has a letter, a digit or a sign of its own, such as an emoji. */
const wordsIn = (seen: string) =>
  (seen.match(/\S+/gu) ?? []).filter((word) => /[\p{L}\p{N}\p{So}]/u.test(word)).length;

const counters = {
  words: wordsIn,
  characters: (seen: string) => countMatches(seen.replace(bare, '').trim(), /\s+|\p{P}{4,}|\p{M}{3,}|\S/gu),
  sentences: (seen: string) => seen.split(/[.!?。！？]+/u).filter((part) => wordsIn(part) > 0).length,
} as const;
