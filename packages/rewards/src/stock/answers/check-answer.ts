import { tagName } from '@rlp/answers';
import { readFloat, trimmed } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { answerInLayout, reasoningTagsSchema } from '../format/match-format.ts';
import { type ReferenceSource, requireReference, withReader } from './reference.ts';

const tableSchema = z.strictObject({
  /** The answer is the right one, character by character. Default 3. */
  exact: z.number().default(3),
  /** It is right once both are trimmed. Default 1.5. */
  trimmed: z.number().default(1.5),
  /** Both are numbers, and `given / right` is within `1 ± share`; the first entry that holds. Default 0.5 in 10 %, 0.25 in 20 %. */
  near: z
    .array(
      z.strictObject({
        /** Greatest difference as a share of the right answer. Required. */
        share: z.number().nonnegative(),
        /** Reward within it. Required. */
        reward: z.number(),
      }),
    )
    .readonly()
    .default([
      { share: 0.1, reward: 0.5 },
      { share: 0.2, reward: 0.25 },
    ]),
  /** Both are numbers, further apart. Default -1. */
  wrong: z.number().default(-1),
  /** One is not a number, or the right one is 0. Default -0.5. */
  notNumeric: z.number().default(-0.5),
  /** The response does not have the layout. Default 0. */
  missing: z.number().default(0),
});

/** Rewards of {@link checkAnswer}. */
export interface AnswerTable extends z.output<typeof tableSchema> {}

const schema = reasoningTagsSchema.extend({
  /** Entries that differ from the default table. */
  table: tableSchema.prefault({}),
});

/** Options of {@link checkAnswer}. */
export interface CheckAnswerOptions<Metadata> extends z.input<typeof schema>, ReferenceSource<Metadata> {}

/**
 * Scores the answer of a response in the layout of `matchFormatExactly` by a table: see {@link AnswerTable}.
 *
 * A task without a reference answer is an error (and so unscorable).
 */
export function checkAnswer<Metadata>(options: CheckAnswerOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, ...rest } = withReader('checkAnswer', options);
  const { table, ...names } = parseOptions('checkAnswer', schema, rest);
  return ({ task, response }) => {
    const expected = requireReference('checkAnswer', task.id, reference(task.metadata));
    const given = answerInLayout(response, names);
    if (given === undefined) return table.missing;
    if (given === expected) return table.exact;
    if (trimmed(given) === trimmed(expected)) return table.trimmed;
    const [a, b] = [readFloat(given), readFloat(expected)];
    if (a === undefined || b === undefined || b === 0) return table.notNumeric;
    return table.near.find(({ share }) => a / b >= 1 - share && a / b <= 1 + share)?.reward ?? table.wrong;
  };
}

const numbersSchema = z.strictObject({
  /** Tag of the answer. Default `'answer'`. */
  answer: tagName.default('answer'),
  /** Reward of the right number. Default 1.5. */
  reward: z.number().default(1.5),
});

/** Options of {@link checkNumbers}. */
export interface CheckNumbersOptions<Metadata>
  extends z.input<typeof numbersSchema>,
    ReferenceSource<Metadata> {}

/**
 * 1.5 if the first run of digits and points after `<answer>` is the right number, else 0. Signs and thousands separators are
 * not read; `numericMatch` reads them. A reference must be a number to be matched.
 */
export function checkNumbers<Metadata>(options: CheckNumbersOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, ...rest } = withReader('checkNumbers', options);
  const { answer, reward } = parseOptions('checkNumbers', numbersSchema, rest);
  const opening = `<${answer}>`;
  return ({ task, response }) => {
    const expected = readFloat(requireReference('checkNumbers', task.id, reference(task.metadata)));
    const start = response.indexOf(opening);
    const run = start < 0 ? undefined : /[\p{Nd}.]+/u.exec(response.slice(start + opening.length))?.[0];
    return run !== undefined && expected !== undefined && readFloat(run) === expected ? reward : 0;
  };
}
