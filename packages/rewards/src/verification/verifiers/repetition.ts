import { seenTexts } from '@rlp/answers/text';
import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';

import { repeatedShare } from '../../stock/text/repetition.ts';
import { TextVerifier } from '../text-verifier.ts';

const schema = z
  .strictObject({
    /** Words of a run. Default 6. */
    size: z.int().min(2).max(50).default(6),
    /** Share of repeated runs above which a response warns. Default 0.1. */
    warnAt: z.number().gt(0).lt(1).default(0.1),
    /** Share of repeated runs above which a response fails. Default 0.2. */
    failAt: z.number().gt(0).lt(1).default(0.2),
  })
  .refine(({ warnAt, failAt }) => failAt >= warnAt, { path: ['failAt'], message: 'must be at least warnAt' });

/** Options of {@link RepetitionVerifier}. */
export interface RepetitionVerifierOptions extends z.input<typeof schema> {}

/**
 * Whether a response repeats itself: the share of its runs of `size` words that occurred before, whatever the case. Of fewer
 * than 40 runs, the share of 40.
 *
 * The score falls from 1 without repetition to 0.7 at `warnAt`, to 0.5 at `failAt` and to 0 where all is repeated, linearly
 * between. A refrain or a table header stays below, a loop does not. Marks, numbers between words and what a page does not show
 * make no difference. Text without spaces between words is taken by runs of `2·size` characters.
 */
export class RepetitionVerifier extends TextVerifier {
  readonly name = 'repetition';
  readonly #options: z.output<typeof schema>;

  constructor(options: RepetitionVerifierOptions = {}) {
    super();
    this.#options = parseOptions('RepetitionVerifier', schema, options);
  }

  override verify(_prompt: string, response: string): VerificationReport {
    const { size, warnAt, failAt } = this.#options;
    const [{ share, isSpaced }] = seenTexts(response)
      .map((text) => repeatedIn(text.toLowerCase(), size))
      .sort((a, b) => b.share - a.share) as [ReturnType<typeof repeatedIn>];
    const score =
      share <= warnAt
        ? 1 - (0.3 * share) / warnAt
        : share <= failAt
          ? 0.7 - (0.2 * (share - warnAt)) / (failAt - warnAt)
          : 0.5 * (1 - (share - failAt) / (1 - failAt));
    return {
      result: share <= warnAt ? 'pass' : share <= failAt ? 'warning' : 'fail',
      score: Math.max(0, score),
      details: { repeated: share, unit: isSpaced ? 'words' : 'characters' },
      message: `${Math.round(100 * share)} % of the text repeats itself`,
    };
  }
}

/** The share of a text that repeats itself, and whether it has spaces between words. */
function repeatedIn(text: string, size: number): { readonly share: number; readonly isSpaced: boolean } {
  const words = text.match(/\S+/gu) ?? [];
  const isSpaced = text.length <= 20 * words.length;
  const share = isSpaced ? repeatedWords(words, size) : repeatedShare(Array.from(text), 2 * size, fewestRuns);
  return { share, isSpaced };
}

/** The share of words, or of words without marks and numbers where most repeats: a loop may count its rounds. */
function repeatedWords(words: readonly string[], size: number): number {
  const named = words.map((word) => word.normalize('NFD').replace(/\P{L}/gu, '')).filter(Boolean);
  const [asTheyAre, bare] = [words, named].map((items) => repeatedShare(items, size, fewestRuns));
  return bare! > 0.5 && words.length < 1.5 * named.length ? Math.max(asTheyAre!, bare!) : asTheyAre!;
}

/** Few runs are weak evidence. A short answer may take up its question. */
const fewestRuns = 40;
