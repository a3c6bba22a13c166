import { seenText } from '@rlp/answers/text';
import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { phrase } from '../../shared/schemas.ts';
import { foldedWords } from '../../shared/text.ts';
import { isVisible } from '../../shared/visible-text.ts';
import { TextVerifier } from '../text-verifier.ts';
import { scoreReport } from '../verdict.ts';

const emptySchema = z.strictObject({});

/** Fails a response in which a reader sees nothing. */
export class NonEmptyVerifier extends TextVerifier {
  readonly name = 'no-empty-response';

  constructor(options: object = {}) {
    super();
    parseOptions('NonEmptyVerifier', emptySchema, options);
  }

  override verify(_prompt: string, response: string): VerificationReport {
    const isEmpty = !isVisible(response);
    return scoreReport({
      score: isEmpty ? 0 : 1,
      message: isEmpty ? 'the response is empty' : 'the response has content',
    });
  }
}

const greetingSchema = z.strictObject({
  /** Words and phrases that count as a greeting. Default `['hello', 'hi', 'hey', 'good morning', 'good evening']`. */
  greetings: z.array(phrase).min(1).default(['hello', 'hi', 'hey', 'good morning', 'good evening']),
});

/** Options of {@link GreetingVerifier}. */
export interface GreetingVerifierOptions extends z.input<typeof greetingSchema> {}

/** Whether a response begins with a greeting, within its first sentence, as whole words, in any case. */
export class GreetingVerifier extends TextVerifier {
  readonly name = 'has-greeting';
  readonly #greetings: readonly string[];

  constructor(options: GreetingVerifierOptions = {}) {
    super();
    this.#greetings = parseOptions('GreetingVerifier', greetingSchema, options).greetings.map(foldedWords);
  }

  override verify(_prompt: string, response: string): VerificationReport {
    const text = ` ${foldedWords(response.trimStart().split(/[.!?\n]/u, 1)[0] ?? '')} `;
    const found = this.#greetings.find((greeting) => text.includes(` ${greeting} `));
    return scoreReport({
      score: found === undefined ? 0 : 1,
      details: { greeting: found ?? null },
      message: found === undefined ? 'no greeting in the first sentence' : `greets with "${found}"`,
    });
  }
}

const keywordSchema = z
  .strictObject({
    /** Words and phrases to look for. Default `[]`. */
    keywords: z.array(z.string().refine((word) => /\S/u.test(word), 'must not be empty')).default([]),
    /** Whether "art" is found in "start" (`'substring'`) or not. Default `'words'`. */
    matching: z.enum(['words', 'substring']).default('words'),
    /** Whether all keywords must occur, or one is enough. Default `'all'`. */
    require: z.enum(['all', 'any']).default('all'),
  })
  .refine(
    ({ keywords, matching }) =>
      matching === 'substring' || keywords.every((word) => foldedWords(word) !== ''),
    { path: ['keywords'], message: "must hold a word each, unless matching is 'substring'" },
  );

/** Options of {@link KeywordVerifier}. */
export interface KeywordVerifierOptions extends z.input<typeof keywordSchema> {}

/** Whether a response shows the keywords, whatever the case. The score is the share found. Without keywords it is 1. */
export class KeywordVerifier extends TextVerifier {
  readonly name = 'contains-keywords';
  readonly #options: z.output<typeof keywordSchema>;

  constructor(options: KeywordVerifierOptions = {}) {
    super();
    this.#options = parseOptions('KeywordVerifier', keywordSchema, options);
  }

  override verify(_prompt: string, response: string): VerificationReport {
    const { keywords, matching, require } = this.#options;
    const seen = seenText(response);
    const text = matching === 'words' ? ` ${foldedWords(seen)} ` : seen.toLowerCase();
    const isMissing = (keyword: string) =>
      !text.includes(matching === 'words' ? ` ${foldedWords(keyword)} ` : keyword.toLowerCase());
    const missing = keywords.filter(isMissing);
    const found = keywords.length - missing.length;
    const holds = missing.length === 0 || (require === 'any' && found > 0);
    const share = keywords.length === 0 ? 1 : found / keywords.length;
    return {
      result: holds ? 'pass' : 'fail',
      score: holds ? 1 : share * 0.5,
      details: { found, missing },
      message: holds ? `${found} of ${keywords.length} keywords found` : `missing: ${missing.join(', ')}`,
    };
  }
}
