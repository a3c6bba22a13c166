import { extractTag, numberOf, textSimilarity } from '@rlp/answers';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { type AnswerSources, referenceError, requireReference, withReader } from './reference.ts';

const answerTag = () => extractTag('answer', 'agreeing');

const fuzzySchema = z.strictObject({
  /** Similarity from which the reward is 1, else 0. Default: the reward is the similarity. */
  threshold: z.number().min(0).max(1).optional(),
  /** Whether letter case counts. Default `'ignored'`. */
  letterCase: z.enum(['kept', 'ignored']).default('ignored'),
});

/** Options of {@link fuzzyMatch}. */
export interface FuzzyMatchOptions<Metadata> extends AnswerSources<Metadata>, z.input<typeof fuzzySchema> {}

/**
 * The similarity of the policy's answer and the right one by {@link textSimilarity}, white space normalised, letter case
 * ignored unless `letterCase` is `'kept'`; with a `threshold` 1 or 0. No answer: 0.
 */
export function fuzzyMatch<Metadata>(options: FuzzyMatchOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, extract = answerTag(), ...rest } = withReader('fuzzyMatch', options);
  const { threshold, letterCase } = parseOptions('fuzzyMatch', fuzzySchema, rest);
  const normalized = (text: string) => {
    const spaced = text.trim().replaceAll(/\s+/g, ' ');
    return letterCase === 'kept' ? spaced : spaced.toLowerCase();
  };
  return ({ task, response }) => {
    const expected = normalized(requireReference('fuzzyMatch', task.id, reference(task.metadata)));
    const given = extract(response);
    const similarity = given === undefined ? 0 : textSimilarity(normalized(given), expected);
    return threshold === undefined ? similarity : similarity >= threshold ? 1 : 0;
  };
}

const numericSchema = z.strictObject({
  /** Greatest difference that counts as right. Default 0. */
  absolute: z.number().nonnegative().default(0),
  /** Greatest difference that counts as right, as a share of the right answer. Default 0. */
  relative: z.number().nonnegative().default(0),
});

/** Options of {@link numericMatch}. */
export interface NumericMatchOptions<Metadata>
  extends AnswerSources<Metadata>,
    z.input<typeof numericSchema> {}

/**
 * 1 if the policy's answer is a number within `absolute + relative · |right answer|` of the right one, else 0. Numbers may be
 * signed, with thousands separators, a currency or percent sign, in scientific notation or a fraction.
 */
export function numericMatch<Metadata>(options: NumericMatchOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, extract = answerTag(), ...rest } = withReader('numericMatch', options);
  const { absolute, relative } = parseOptions('numericMatch', numericSchema, rest);
  return ({ task, response }) => {
    const text = requireReference('numericMatch', task.id, reference(task.metadata));
    const expected = numberOf(text)?.valueOf();
    if (expected === undefined) throw referenceError('numericMatch', task.id, 'a number', text);
    const answered = extract(response);
    const given = answered === undefined ? undefined : numberOf(answered)?.valueOf();
    if (given === undefined) return 0;
    return Math.abs(given - expected) <= absolute + relative * Math.abs(expected) ? 1 : 0;
  };
}
