import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { trimmed } from '../../shared/text.ts';
import { tagName } from '../format/extract-tag.ts';
import { answerInLayout, type ReasoningTags, reasoningTagsSchema } from '../format/match-format.ts';
import { requireReference } from './reference.ts';

/** What {@link checkAnswer} gives. */
export interface AnswerTable {
  /** The answer is the right one, character by character. Default 3. */
  readonly exact: number;
  /** It is once both are trimmed. Default 1.5. */
  readonly trimmed: number;
  /** Both are numbers, and `given / right` is within `1 ± share`: the first entry that holds. Default 10 % 0.5, 20 % 0.25. */
  readonly near: readonly { readonly share: number; readonly reward: number }[];
  /** Both are numbers, further apart. Default −1. */
  readonly wrong: number;
  /** One is no number, or the right one is 0. Default −0.5. */
  readonly notNumeric: number;
  /** The response has not the layout. Default 0. */
  readonly missing: number;
}

const near = z.strictObject({ share: z.number().nonnegative(), reward: z.number() }).readonly();
const nearby = [
  { share: 0.1, reward: 0.5 },
  { share: 0.2, reward: 0.25 },
];

const schema = reasoningTagsSchema.extend({
  table: z
    .strictObject({
      exact: z.number().default(3),
      trimmed: z.number().default(1.5),
      near: z.array(near).readonly().default(nearby),
      wrong: z.number().default(-1),
      notNumeric: z.number().default(-0.5),
      missing: z.number().default(0),
    })
    .prefault({}),
});

/** Options of {@link checkAnswer}. */
export interface CheckAnswerOptions<Metadata> extends ReasoningTags {
  /** The right answer, from the task's metadata. */
  readonly reference: (metadata: Metadata) => string;
  /** Entries that differ from the default table. */
  readonly table?: Partial<AnswerTable> | undefined;
}

/**
 * Scores the answer of a response in the layout of `matchFormatExactly` by a table: 3 if it is exactly the right one, 1.5 if
 * it is but for white space around it, 0.5 within 10 % and 0.25 within 20 % of it, −1 for other numbers, −0.5 for what is no
 * number, 0 without the layout.
 *
 * A task without a reference answer is an error (and so unscorable).
 *
 * @throws OptionsError for bad options.
 */
export function checkAnswer<Metadata>({
  reference,
  ...options
}: CheckAnswerOptions<Metadata>): RewardFunction<Metadata> {
  const { table, ...names } = parseOptions('checkAnswer', schema, options);
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
  answer: tagName.default('answer'),
  reward: z.number().default(1.5),
});

/** Options of {@link checkNumbers}. */
export interface CheckNumbersOptions<Metadata> extends z.input<typeof numbersSchema> {
  /** The right number, from the task's metadata. */
  readonly reference: (metadata: Metadata) => string;
}

/**
 * 1.5 if the first run of digits and points after `<answer>` is the right number, else 0. Signs and thousands separators are
 * not read; `numericMatch` reads them. As in the original, nothing equals a reference that is no number.
 *
 * @throws OptionsError for bad options.
 */
export function checkNumbers<Metadata>({
  reference,
  ...options
}: CheckNumbersOptions<Metadata>): RewardFunction<Metadata> {
  const { answer, reward } = parseOptions('checkNumbers', numbersSchema, options);
  const opening = `<${answer}>`;
  return ({ task, response }) => {
    const expected = readFloat(requireReference('checkNumbers', task.id, reference(task.metadata)));
    const start = response.indexOf(opening);
    const run = start < 0 ? undefined : /[\p{Nd}.]+/u.exec(response.slice(start + opening.length))?.[0];
    return run !== undefined && expected !== undefined && readFloat(run) === expected ? reward : 0;
  };
}

/**
 * A float as Python's `float` reads it, decimal digits of any script, `1_000`, `inf` and `nan` included; `undefined` for anything
 * else.
 */
function readFloat(text: string): number | undefined {
  if (text.length > 400) return;
  const plain = trimmed(text)
    .replaceAll(/\p{Nd}/gu, digitValue)
    .replaceAll(/(?<=\d)_(?=\d)/g, '');
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain)) return Number(plain);
  const [, sign, name] = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(plain) ?? [];
  if (name === undefined) return;
  if (name.toLowerCase() === 'nan') return Number.NaN;
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Decimal digits stand in runs of ten, from 0 to 9. */
function digitValue(digit: string): string {
  const code = digit.codePointAt(0)!;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}
