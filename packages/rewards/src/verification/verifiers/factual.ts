import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { answerFeatures } from '../model/answer-features.ts';
import { answerWeights } from '../model/answer-weights.ts';
import { probability } from '../model/linear-model.ts';
import { JudgedVerifier, judgedSchema } from '../text-judge.ts';
import { scoreReport } from '../verdict.ts';
import { type ArithmeticStatement, arithmeticStatements } from './arithmetic.ts';

const schema = judgedSchema.extend({
  /** Whether only statements are checked, or also how answers to questions are put. Default `'statements'`. */
  scope: z.enum(['statements', 'answers']).default('statements'),
});

/** Options of {@link FactualVerifier}. */
export interface FactualVerifierOptions extends z.input<typeof schema> {}

/**
 * Whether a response states what is false, as far as that shows without knowledge of the world.
 *
 * - `scope: 'statements'`: equations are worked out and days of the month looked up. Without a false one the score is 1.
 *   With f false ones of n it is `0.5·(1 − f/n)`, a failure. With nothing to check the score is 1 as well.
 * - `scope: 'answers'`: besides, short answers to questions that invite misconceptions are judged by how they are put (hedged or
 *   absolute, denying or repeating the question): the score is the smaller of the above and the probability that people would
 *   call the answer truthful. It is calibrated for such questions alone, and fails plain true answers too.
 *
 * Neither knows facts. For those pass a `judge` with a source. Measured in `docs/verification.md`.
 */
export class FactualVerifier extends JudgedVerifier<z.output<typeof schema>> {
  readonly name = 'factual';

  constructor(options: FactualVerifierOptions = {}) {
    super(parseOptions('FactualVerifier', schema, options));
  }

  protected byModel(prompt: string, text: string): VerificationReport {
    const { scope, thresholds } = this.options;
    const statements = arithmeticStatements(text);
    const wrong = [...statements.filter(({ holds }) => !holds).map(corrected), ...impossibleDates(text)];
    const checked = Math.max(statements.length, wrong.length);
    const byStatements = wrong.length === 0 ? 1 : 0.5 * (1 - wrong.length / checked);
    const truthful =
      scope === 'answers' ? probability(answerWeights, answerFeatures(prompt, text)) : undefined;
    const score = Math.min(byStatements, truthful ?? 1);
    const details = { checked, wrong: wrong.slice(0, 20), ...(truthful !== undefined && { truthful }) };
    return scoreReport({ score, details, message: summaryOf(wrong, checked, truthful), thresholds });
  }
}

function corrected({ text, left }: ArithmeticStatement): string {
  return `${text} (it is ${Number(left.toPrecision(12))})`;
}

function summaryOf(wrong: readonly string[], checked: number, truthful: number | undefined): string {
  if (wrong.length > 0) return `${wrong.length} of ${checked} statements are false: ${wrong[0]}`;
  if (truthful !== undefined) return `put like a truthful answer with probability ${truthful.toFixed(2)}`;
  return checked === 0 ? 'nothing that can be checked' : `${checked} statements hold`;
}

const days: Readonly<Record<string, number>> = {
  ...{ January: 31, February: 29, March: 31, April: 30, May: 31, June: 30, July: 31, August: 31 },
  ...{ September: 30, October: 31, November: 30, December: 31 },
};
const months = Object.keys(days).join('|');
const datePattern = new RegExp(
  `\\b(?:(${months}) (\\d{1,2})(?:st|nd|rd|th)?(?=[\\s,.;]|$)|(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${months}))\\b`,
  'gu',
);

/** Dates with a day their month has not: "February 30". */
function impossibleDates(text: string): string[] {
  return [...text.matchAll(datePattern)].flatMap((match) => {
    const [whole, monthBefore, dayAfter, dayBefore, monthAfter] = match;
    const limit = days[(monthBefore ?? monthAfter)!]!;
    const day = Number(dayAfter ?? dayBefore);
    // "In May 45 people came": no month has so many days, so it is a count.
    const isCount =
      day > 31 &&
      /\d$/.test(whole) &&
      /^\s+\p{Ll}/u.test(text.slice(match.index + whole.length, match.index + whole.length + 8));
    return isCount || (day >= 1 && day <= limit) ? [] : [`${whole} (the month has ${limit} days)`];
  });
}
