import { ArgumentError, type Message, parseOptions, type RewardFunction } from '@rlp/core';
import { z } from 'zod';
import { checkTagName } from './extract-tag.ts';

/** A field of a response: its tag, or several tags of which any will do. */
export type XmlField = string | readonly string[];

/**
 * Reads the content of each tag of the fields, trimmed; `null` where the tag has no complete pair.
 *
 * A pair reaches from an opening tag to the next closing one. Linear in the text.
 *
 * @param occurrence - Which pair of a tag: `'first'` (default) or `'last'`.
 */
export function readXmlFields(
  text: string,
  fields: readonly XmlField[],
  occurrence: 'first' | 'last' = 'first',
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(fields.flat().map((tag) => [tag, readPair(text, tag, occurrence)]));
}

function readPair(text: string, tag: string, occurrence: 'first' | 'last'): string | null {
  let found: string | null = null;
  let at = 0;
  for (;;) {
    const open = text.indexOf(`<${tag}>`, at);
    const close = open < 0 ? -1 : text.indexOf(`</${tag}>`, open);
    if (close < 0) return found;
    found = text.slice(open + tag.length + 2, close).trim();
    if (occurrence === 'first') return found;
    at = close + tag.length + 3;
  }
}

/** The field of the last assistant turn that has it, by its first pair; `null` where none has. */
export function xmlAnswer(messages: readonly Message[], field = 'answer'): string | null {
  for (const { role, content } of [...messages].reverse()) {
    if (role !== 'assistant') continue;
    const answer = readPair(content, field, 'first');
    if (answer !== null) return answer;
  }
  return null;
}

const schema = z.strictObject({
  fields: z
    .array(z.union([z.string(), z.array(z.string()).min(1).readonly()]))
    .min(1)
    .readonly()
    .refine((fields) => new Set(fields.flat()).size === fields.flat().length, 'must be different tags'),
});

/** Options of {@link xmlFormat}: `fields`, in their order. */
export type XmlFormatOptions = z.input<typeof schema>;

/**
 * How well the assistant's turns keep to a sequence of XML fields, as verifiers' XMLParser scores it; the mean over the turns, of
 * the response alone where a trajectory has no messages:
 *
 *     0.4 · (fields of which a tag occurs / fields)   if any field has a complete pair
 *   + 0.2                                             always (verifiers' spacing test cannot fail)
 *   + 0.2 if the turn begins with the first field + 0.2 if it ends with the last one
 *
 * A conversation without assistant turns gives 0.
 *
 * @throws OptionsError for no field or a tag named twice, ArgumentError for a tag that is not a plain word.
 * @see https://github.com/PrimeIntellect-ai/verifiers `XMLParser.get_format_reward_func`
 */
export function xmlFormat(options: XmlFormatOptions): RewardFunction {
  const { fields } = parseOptions('xmlFormat', schema, options);
  for (const tag of fields.flat()) checkTagName(tag);
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
  const trimmed = text.trim();
  const begins = tagsOf(fields[0]).some((tag) => trimmed.startsWith(`<${tag}>`));
  const ends = tagsOf(fields.at(-1)).some((tag) => trimmed.endsWith(`</${tag}>`));
  return (hasAny ? 0.4 * (present.length / fields.length) : 0) + 0.2 + (begins ? 0.2 : 0) + (ends ? 0.2 : 0);
}

/** @throws ArgumentError for a schema that cannot be read. */
function validatorOf(jsonSchema: unknown): z.ZodType {
  try {
    return z.fromJSONSchema(jsonSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw new ArgumentError(
      `jsonFormat: the schema cannot be read: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
}

/** Options of {@link jsonFormat}. */
export interface JsonFormatOptions<Metadata> {
  /** A JSON Schema, or where to find it in the task's metadata. Default: any JSON will do. */
  readonly schema?: object | ((metadata: Metadata) => object) | undefined;
  /** The JSON in a response. Default: the response without a Markdown fence around it. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/**
 * 1 if a response is JSON that fits the schema, else 0.
 *
 * @throws ArgumentError for a schema that cannot be read.
 */
export function jsonFormat<Metadata = unknown>({
  schema: given,
  extract = withoutFence,
}: JsonFormatOptions<Metadata> = {}): RewardFunction<Metadata> {
  const fixed = typeof given === 'object' ? validatorOf(given) : undefined;
  return ({ task, response }) => {
    const validator = typeof given === 'function' ? validatorOf(given(task.metadata)) : fixed;
    const text = extract(response);
    if (text === undefined) return 0;
    try {
      const value: unknown = JSON.parse(text);
      return validator === undefined || validator.safeParse(value).success ? 1 : 0;
    } catch {
      return 0; // No JSON, or nested more deeply than the validator can follow.
    }
  };
}

/** The text in a Markdown fence that encloses all of it; else the text itself. Trimmed. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 6) return trimmed;
  const lineEnd = trimmed.indexOf('\n');
  const isLabelled = lineEnd > 0 && /^```[\w+-]*\s*$/.test(trimmed.slice(0, Math.min(lineEnd, 64)));
  return trimmed.slice(isLabelled ? lineEnd : 3, -3).trim();
}
