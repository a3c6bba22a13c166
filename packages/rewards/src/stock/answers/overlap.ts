import { isDenied, normalizedAnswer, type OverlapScore, rougeL, wordOverlap } from '@rlp/answers';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { seenText } from '../../shared/seen-text.ts';
import { referenceError, requireReference } from './reference.ts';

const schema = z.strictObject({
  /** Number of the overlap that is the reward. Default `'f1'`. */
  measure: z.enum(['f1', 'precision', 'recall']).default('f1'),
});

/** Options of {@link answerF1} and {@link answerRougeL}. */
export interface OverlapOptions<Metadata> extends z.input<typeof schema> {
  /** Right answer, or several of which the nearest counts, from the task's metadata. Required. */
  readonly reference: (metadata: Metadata) => string | readonly string[];
  /** Policy's answer in its response. No answer earns 0. Default: the whole response. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/** What is crossed out, commented out or set aside ("not Rome but") is not said. */
const unsaid = /~~[^~\n]+~~|^%.*|(?<![\p{L}\p{N}])not (?:[^.;\n]{1,60}?)[, ]but (?=\p{L})/gimu;
/** Other ways to say "not" before what is denied, and "wrong" behind it. */
const not =
  /(?<![\p{L}\p{N}])(?:(?:it is )?(?:a (?:lie|myth|hoax)|untrue)(?: that)?|no(?:body|[ -]one) \p{L}{3,9}(?: that)?|aldrig|nunca|jamais|nooit|non|não|niet|geen|ikke|inte|nem|nie|не)(?= )/giu;
const wrong =
  /👎|(?:では|じゃ)(?:ない|ありません)|değil|(?:(?:is|was) )?ruled out|[:,(]? ?\b(?:0 ?%|no chance|a lie)(?![\p{L}\p{N}])/giu;

function denies(given: string, expected: string): boolean {
  if (given.trim().toLowerCase() === expected.trim().toLowerCase()) return false;
  // Who asks has not said: "Paris? I doubt it".
  const said = given.slice(given.lastIndexOf('?') + 1).trim();
  if (said !== '' && said !== given.trim() && wordOverlap(said, expected).f1 === 0) return true;
  return isDenied(given, expected) || isDenied(given.replace(not, 'not').replace(wrong, ' wrong'), expected);
}

function overlapReward<Metadata>(
  owner: string,
  overlap: (given: string, expected: string) => OverlapScore,
  { reference, extract = (text) => text, ...options }: OverlapOptions<Metadata>,
): RewardFunction<Metadata> {
  const { measure } = parseOptions(owner, schema, options);
  return ({ task, response }) => {
    const expected = [reference(task.metadata)].flat().map((text) => requireReference(owner, task.id, text));
    if (expected.length === 0) throw referenceError(owner, task.id, 'at least one text', expected);
    const answer = extract(response);
    if (answer === undefined) return 0;
    const given = seenText(answer).replace(unsaid, ' ');
    return Math.max(...expected.map((text) => (denies(given, text) ? 0 : overlap(given, text)[measure])));
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

/** 1 if the policy's answer and one right answer have the same {@link normalizedAnswer}, else 0 (SQuAD's exact match). */
export function answerExactMatch<Metadata>(
  options: Omit<OverlapOptions<Metadata>, 'measure'>,
): RewardFunction<Metadata> {
  const same = (given: string, expected: string): OverlapScore => {
    const share = Number(normalizedAnswer(given) === normalizedAnswer(expected));
    return { f1: share, precision: share, recall: share };
  };
  return overlapReward('answerExactMatch', same, options);
}
