import { normalizedAnswer, type OverlapScore, rougeL, withoutDenied, wordOverlap } from '@rlp/answers';
import { seenTexts, withoutThoughts } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { referenceError, requireReference, withReader } from './reference.ts';

const schema = z.strictObject({
  /** Number of the overlap that is the reward. Default `'f1'`. */
  measure: z.enum(['f1', 'precision', 'recall']).default('f1'),
});

/** Options of {@link answerF1} and {@link answerRougeL}. */
export interface OverlapOptions<Metadata> extends z.input<typeof schema> {
  /** Right answer, or several of which the nearest counts, from the task's metadata. Required. */
  readonly reference: (metadata: Metadata) => string | readonly string[];
  /** Policy's answer in its response. No answer earns 0. Default: the whole response. Thoughts are not read. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/** Without quotation marks, and with the minus of a keyboard. */
const plainSigns = (text: string) => text.replace(/[“”„«»「」。]/g, '').replace(/[−﹣－](?=[\d.])/g, '-');
const struckOut = /<(del|strike|s)(?:\s[^<>]*)?>[^<]*<\/\1>/gi;
const isNumber = /^\s*-?[\d.,/]+\s*$/;
/** What SQuAD's form of an answer leaves out though it means something: numbers with their signs and points, and signs of formulas. */
const signsOf = (text: string) =>
  (text.match(/(?<!\w)-?(?:\d[\d,]*)?(?:[./]?\d)+|[+=<>%^~]|(?<=\w)#/g) ?? []).join(' ').replace(/,/g, '');

function overlapReward<Metadata>(
  owner: string,
  overlap: (given: string, expected: string) => OverlapScore,
  options: OverlapOptions<Metadata>,
): RewardFunction<Metadata> {
  const { reference, extract = (text: string) => text, ...rest } = withReader(owner, options);
  const { measure } = parseOptions(owner, schema, rest);
  return ({ task, response }) => {
    const expected = [reference(task.metadata)].flat().map((text) => requireReference(owner, task.id, text));
    if (expected.length === 0) throw referenceError(owner, task.id, 'at least one text', expected);
    const answer = extract(response);
    if (answer === undefined) return 0;
    const readings = seenTexts(withoutThoughts(answer).replace(struckOut, '')).map(plainSigns);
    const isOther = (given: string, text: string) =>
      isNumber.test(text) && !signsOf(given).split(' ').includes(signsOf(text));
    const scoreOf = (given: string, text: string) =>
      isOther(given, text) ? 0 : overlap(withoutDenied(given, text), text)[measure];
    const lowest = (text: string) => Math.min(...readings.map((given) => scoreOf(given, text)));
    return Math.max(...expected.map(plainSigns).map(lowest));
  };
}

/**
 * The {@link wordOverlap} of the policy's answer and the nearest right one. 0 if the answer denies it ("not Paris").
 *
 * An answer with several guesses earns a share, as F1 does by its definition. `answerExactMatch` takes one answer.
 */
export function answerF1<Metadata>(options: OverlapOptions<Metadata>): RewardFunction<Metadata> {
  return overlapReward('answerF1', wordOverlap, options);
}

/** The {@link rougeL} of the policy's answer and the nearest right one. 0 if the answer denies it. */
export function answerRougeL<Metadata>(options: OverlapOptions<Metadata>): RewardFunction<Metadata> {
  return overlapReward('answerRougeL', rougeL, options);
}

/** 1 if the policy's answer and one right answer have the same {@link normalizedAnswer}, with or without hyphens in words, and the same numbers and signs, else 0 (SQuAD's exact match). */
export function answerExactMatch<Metadata>(
  options: Omit<OverlapOptions<Metadata>, 'measure'>,
): RewardFunction<Metadata> {
  const same = (given: string, expected: string): OverlapScore => {
    const forms = [given, expected].map((text) =>
      [text, text.replace(/(?<=\p{L})-(?=\p{L})/gu, ' ')].map(
        (one) => `${signsOf(text)} ${normalizedAnswer(one) || one}`,
      ),
    );
    const share = Number(forms[0]!.some((one, at) => one === forms[1]![at]));
    return { f1: share, precision: share, recall: share };
  };
  return overlapReward('answerExactMatch', same, options);
}
