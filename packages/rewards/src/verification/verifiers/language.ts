import { seenText, seenTexts, withoutThoughts } from '@rlp/answers/text';
import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { type LanguageDetector, loadLanguageDetector } from '../../shared/language-detector.ts';
import { lazily } from '../../shared/lazily.ts';
import { requirePackage } from '../../shared/required-package.ts';
import { countMatches } from '../../shared/text.ts';
import { windows, withoutCode } from '../model/excerpt.ts';
import { thresholdsSchema } from '../text-judge.ts';
import { TextVerifier } from '../text-verifier.ts';
import { scoreReport } from '../verdict.ts';

const schema = z.strictObject({
  /** ISO 639-1 codes of the languages that pass, such as `['en']`. Required. */
  languages: z.array(z.string().regex(/^[a-z]{2}$/, 'must be an ISO 639-1 code such as "en"')).min(1),
  /** Fewest letters that are judged. Default 20. */
  minLetters: z.int().positive().default(20),
  /** Lowest scores that pass and warn. Default `{ pass: 0.7, warning: 0.5 }`. */
  thresholds: thresholdsSchema,
});

/** Options of {@link LanguageVerifier}. */
export interface LanguageVerifierOptions extends z.input<typeof schema> {}

const withDetector = lazily(loadLanguageDetector);

/**
 * Whether a response is in one of the languages asked for. The score is the share of its letters in windows of 40 words that
 * are detected as such, so that a response that changes language on the way shows. Detection is that of `eld` (60
 * languages), loaded on first use. It errs on short texts and between close relatives (Croatian and Serbian, Marathi and
 * Hindi). An answer behind a thought and the prose around code are judged by themselves too, and the lowest score counts. Responses with fewer than `minLetters` letters pass with score 0.7 and `details.judged: false`. An empty one
 * fails. What a page does not show, such as a comment, does not count.
 */
export class LanguageVerifier extends TextVerifier {
  readonly name = 'language';
  readonly #options: z.output<typeof schema>;

  /** @throws MissingPeerError without `eld`. */
  constructor(options: LanguageVerifierOptions) {
    super();
    this.#options = parseOptions('LanguageVerifier', schema, options);
    requirePackage('LanguageVerifier', 'eld');
  }

  override verify(_prompt: string, response: string): VerificationReport | Promise<VerificationReport> {
    const { thresholds, minLetters } = this.#options;
    const text = seenText(response);
    if (!/\S/u.test(text)) return scoreReport({ score: 0, message: 'the response is empty', thresholds });
    const letters = lettersIn(text);
    if (letters < minLetters) {
      const message = `not judged: ${letters} letters are too few`;
      return { result: 'pass', score: 0.7, details: { judged: false, letters }, message };
    }
    const parts = [withoutThoughts(response), withoutCode(response)].map((part) => seenText(part));
    const long = [...seenTexts(response), ...parts].filter((part) => lettersIn(part) >= minLetters);
    return withDetector((detect) => {
      const reports = Array.from(new Set(long), (part) => this.#judge(part, detect));
      return reports.reduce((worst, report) => (report.score < worst.score ? report : worst));
    });
  }

  #judge(text: string, by: LanguageDetector): VerificationReport {
    const { languages, thresholds } = this.#options;
    const lettersOf: Record<string, number> = {};
    let [right, judged] = [0, 0];
    for (const piece of windows(text, 40)) {
      const letters = lettersIn(piece);
      const language = by(piece);
      if (language === undefined) continue;
      lettersOf[language] = (lettersOf[language] ?? 0) + letters;
      judged += letters;
      if (languages.includes(language)) right += letters;
    }
    const score = judged === 0 ? 0 : right / judged;
    return scoreReport({
      score,
      details: { judged: true, letters: lettersOf },
      message: `${Math.round(100 * score)} % in ${languages.join(' or ')}`,
      thresholds,
    });
  }
}

const lettersIn = (text: string) => countMatches(text, /\p{L}/gu);
