import { readXmlFields, tagName, type XmlField } from '@rlp/answers';
import { trimmed } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({
  /** Fields in their order: a tag, or several tags of which any will do. Required. */
  fields: z
    .array(z.union([tagName, z.array(tagName).min(1).readonly()]))
    .min(1)
    .readonly()
    .refine((fields) => new Set(fields.flat()).size === fields.flat().length, 'must be different tags'),
  /** Whether tags count that have no other one, as for verifiers. Default `'complete'`: only pairs count. */
  pairs: z.enum(['complete', 'any']).default('complete'),
});

/** Options of {@link xmlFormat}. */
export interface XmlFormatOptions extends z.input<typeof schema> {}

/**
 * How well the assistant's turns keep to a sequence of XML fields, as verifiers' XMLParser scores it. The mean over the turns, of
 * the response alone where a trajectory has no messages:
 *
 *     0.4 · (fields with a tag / fields) + 0.2 if the turn begins with the first field + 0.2 if it ends with the last one + 0.2
 *
 * The last 0.2 are verifiers' spacing test, which cannot fail. A turn without a pair gives 0 unless single tags count, and so does a
 * conversation without assistant turns.
 *
 * @throws OptionsError for no field, a tag named twice, or one that is not a plain word.
 * @see https://github.com/PrimeIntellect-ai/verifiers `XMLParser.get_format_reward_func`
 */
export function xmlFormat<Metadata = unknown>(options: XmlFormatOptions): RewardFunction<Metadata> {
  const { fields, pairs } = parseOptions('xmlFormat', schema, options);
  return ({ messages, response }) => {
    const turns =
      messages.length === 0
        ? [response]
        : messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    if (turns.length === 0) return 0;
    return turns.reduce((sum, turn) => sum + turnScore(turn, fields, pairs), 0) / turns.length;
  };
}

function turnScore(text: string, fields: readonly XmlField[], pairs: 'complete' | 'any'): number {
  const read = readXmlFields(text, fields);
  const hasAny = Object.values(read).some((content) => content !== null);
  if (pairs === 'complete' && !hasAny) return 0;
  const counts = (field: XmlField | undefined, holds: (tag: string) => boolean) =>
    [field ?? []].flat().some((tag) => (pairs === 'any' || read[tag] !== null) && holds(tag));
  const present = fields.filter((field) =>
    counts(field, (tag) => text.includes(`<${tag}>`) || text.includes(`</${tag}>`)),
  );
  const whole = trimmed(text);
  const begins = counts(fields[0], (tag) => whole.startsWith(`<${tag}>`));
  const ends = counts(fields.at(-1), (tag) => whole.endsWith(`</${tag}>`));
  return (hasAny ? 0.4 * (present.length / fields.length) : 0) + 0.2 + (begins ? 0.2 : 0) + (ends ? 0.2 : 0);
}
