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
});

/** Options of {@link xmlFormat}. */
export interface XmlFormatOptions extends z.input<typeof schema> {}

/**
 * How well the assistant's turns keep to a sequence of XML fields, as verifiers' XMLParser scores it. The mean over the turns, of
 * the response alone where a trajectory has no messages:
 *
 *     0.4 · (fields of which a tag occurs / fields)   if any field has a complete pair
 *   + 0.2                                             always (verifiers' spacing test cannot fail)
 *   + 0.2 if the turn begins with the first field + 0.2 if it ends with the last one
 *
 * A conversation without assistant turns gives 0.
 *
 * @throws OptionsError for no field, a tag named twice, or one that is not a plain word.
 * @see https://github.com/PrimeIntellect-ai/verifiers `XMLParser.get_format_reward_func`
 */
export function xmlFormat<Metadata = unknown>(options: XmlFormatOptions): RewardFunction<Metadata> {
  const { fields } = parseOptions('xmlFormat', schema, options);
  return ({ messages, response }) => {
    const turns =
      messages.length === 0
        ? [response]
        : messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    if (turns.length === 0) return 0;
    return turns.reduce((sum, turn) => sum + turnScore(turn, fields), 0) / turns.length;
  };
}

function turnScore(text: string, fields: readonly XmlField[]): number {
  const read = readXmlFields(text, fields);
  const tagsOf = (field: XmlField | undefined) => (field === undefined ? [] : [field].flat());
  const present = fields.filter((field) =>
    tagsOf(field).some((tag) => text.includes(`<${tag}>`) || text.includes(`</${tag}>`)),
  );
  const hasAny = Object.values(read).some((content) => content !== null);
  const whole = trimmed(text);
  const begins = tagsOf(fields[0]).some((tag) => whole.startsWith(`<${tag}>`));
  const ends = tagsOf(fields.at(-1)).some((tag) => whole.endsWith(`</${tag}>`));
  return (hasAny ? 0.4 * (present.length / fields.length) : 0) + 0.2 + (begins ? 0.2 : 0) + (ends ? 0.2 : 0);
}
