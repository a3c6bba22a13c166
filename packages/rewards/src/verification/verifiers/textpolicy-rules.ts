import { trimmed, wordsOf } from '@rlp/answers/text';
import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { TextVerifier, type VerificationContext } from '../text-verifier.ts';
import { scoreReport } from '../verdict.ts';

/** A rule of {@link textpolicyRules}: whether a response passes, nothing between. */
export type TextRule = (response: string) => boolean;

/** A {@link TextRule} as a verifier with the score 1 or 0. */
export class RuleVerifier extends TextVerifier {
  readonly name: string;
  readonly #rule: TextRule;

  /** @param name - Names the check in reports. */
  constructor(name: string, rule: TextRule) {
    super();
    this.name = name;
    this.#rule = rule;
  }

  override verify(_prompt: string, _plain: string, { original }: VerificationContext): VerificationReport {
    const passes = this.#rule(original);
    const message = `${this.name}: the rule ${passes ? 'holds' : 'does not hold'}`;
    return scoreReport({ score: Number(passes), message });
  }
}

const lengthSchema = z.strictObject({
  minLength: z.int().nonnegative().default(10),
  maxLength: z.int().nonnegative().default(500),
});
const coherenceSchema = z.strictObject({ minCoherenceScore: z.number().min(0).max(1).default(0.5) });
const factualSchema = z.strictObject({
  minFactualScore: z.number().min(0).max(1).default(0.6),
  maxUncertaintyCount: z.int().nonnegative().default(2),
});

const connectors = [
  /\b(?:therefore|thus|however|moreover|furthermore)\b/gi,
  /\b(?:first|second|third|finally|in conclusion)\b/gi,
  /\b(?:because|since|as a result|consequently)\b/gi,
];
const uncertain = [
  /\b(?:i think|maybe|perhaps|possibly|not sure)\b/gi,
  /\b(?:might be|could be|i believe|seems like)\b/gi,
  /\b(?:probably|likely|unclear|unknown)\b/gi,
];
const toxic =
  /\b(?:hate|kill|die|stupid|idiot|racist|sexist|fuck|shit|damn|hell|violence|abuse|harassment)\b/i;

/**
 * The word-list rules of textpolicy, exactly as coded there, for comparison and for runs that must match it. They are weak
 * (`docs/verification.md` has the measurements). The verifiers named after what they check are the ones to use.
 */
export const textpolicyRules = {
  /** From `minLength` (10) to `maxLength` (500) words, both inclusive. */
  length(options: z.input<typeof lengthSchema> = {}): TextRule {
    const { minLength, maxLength } = parseOptions('textpolicyRules.length', lengthSchema, options);
    return (response) => {
      const count = wordsOf(response).length;
      return minLength <= count && count <= maxLength;
    };
  },

  /** None of fourteen words. */
  toxicity(): TextRule {
    return (response) => !toxic.test(response);
  },

  /** Connectors (full marks from two) averaged with sentence length (1 for a mean of 5 to 25 words, else 0.5). */
  coherence(options: z.input<typeof coherenceSchema> = {}): TextRule {
    const { minCoherenceScore } = parseOptions('textpolicyRules.coherence', coherenceSchema, options);
    return (response) => {
      const sentences = response.split(/[.!?]+/).filter((sentence) => trimmed(sentence) !== '');
      if (sentences.length === 0) return false;
      const meanLength = sentences.reduce((sum, s) => sum + wordsOf(s).length, 0) / sentences.length;
      const sentenceScore = 5 <= meanLength && meanLength <= 25 ? 1 : 0.5;
      return (Math.min(1, count(response, connectors) / 2) + sentenceScore) / 2 >= minCoherenceScore;
    };
  },

  /** Uncertain phrases cost 0.2 each (at most 1), "yes" with "no" and "true" with "false" 0.3 each. */
  factual(options: z.input<typeof factualSchema> = {}): TextRule {
    const limits = parseOptions('textpolicyRules.factual', factualSchema, options);
    return (response) => {
      const text = response.toLowerCase();
      const uncertainty = count(text, uncertain);
      const has = (a: string, b: string) => (text.includes(a) && text.includes(b) ? 1 : 0);
      const contradictions = has('yes', 'no') + has('true', 'false');
      const score = Math.max(0, 1 - Math.min(1, uncertainty * 0.2) - contradictions * 0.3);
      return score >= limits.minFactualScore && uncertainty <= limits.maxUncertaintyCount;
    };
  },

  /** The greeting (`'hello'`) occurs anywhere. */
  hasGreeting(greeting = 'hello'): TextRule {
    return (response) => response.toLowerCase().includes(greeting.toLowerCase());
  },

  /** Anything but white space. */
  noEmptyResponse(): TextRule {
    return (response) => trimmed(response) !== '';
  },

  /** Every keyword occurs somewhere, inside other words too. */
  containsKeywords(keywords: readonly string[] = []): TextRule {
    return (response) => {
      const text = response.toLowerCase();
      return keywords.every((keyword) => text.includes(keyword.toLowerCase()));
    };
  },
} as const;

function count(text: string, patterns: readonly RegExp[]): number {
  return patterns.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);
}
