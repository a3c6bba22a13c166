import { parsedJson, type RewardFunction, requireFields } from '@rlp/core';
import { jsonSchemaCheck } from '../../shared/json-schema.ts';
import { withoutFence } from '../../shared/text.ts';
import { hasInk } from '../../shared/visible-text.ts';

/** Keys of values that may be blanks: separators, room and characters. */
const ofBlanks =
  /(?:^|[^a-z])(?:sep(?:arator)?|delim(?:iter)?|join(?:er)?|glue|indent(?:ation)?|pad(?:ding)?|fill(?:er)?|(?:white)?space|blank|eol|newline|break|ending|terminator|char(?:acter)?|letter|symbol|token|prefix|suffix)s?(?![a-z])/i;

/** A value as a reader sees it. A text of invisible characters is none, and one that repeats its key, or says its type, is empty. So are blanks, unless the key or the schema speaks of them. */
function asSeen(key: string, value: unknown, schema: string): unknown {
  if (Array.isArray(value)) return value.map((item) => asSeen(key, item, schema));
  if (typeof value !== 'string') return value;
  if (/^\p{DI}+$/u.test(value)) return null;
  const [, name = value] = /^[<{[(]+([^<>{}[\]()]{1,40}?)(?: ?\d+)?[>}\])]+$/.exec(value) ?? [];
  const [own, other] = [key, name].map((one) => one.toLowerCase().replace(/[\s_-]|s$/g, ''));
  const mayEcho = name === value ? /type|^(?:\d*|key|name|kind|tag)$/i.test(key) : /^\d*$/.test(key);
  const isEcho = !mayEcho && (own === other || name === 'string');
  const isMeant = () =>
    /^\s+$/.test(value) &&
    (schema.includes(JSON.stringify(value)) || ofBlanks.test(key.replace(/(?<=[a-z])(?=[A-Z])/g, '_')));
  return isEcho || !(hasInk(value) || isMeant()) ? '' : value.replace(/\p{DI}+/gu, '').trim() || value;
}

/** Options of {@link jsonFormat}. */
export interface JsonFormatOptions<Metadata> {
  /** JSON Schema, or a function that finds it in the task's metadata. Default: any JSON passes. */
  readonly schema?: object | ((metadata: Metadata) => object) | undefined;
  /** JSON in a response. Default: the response without a Markdown fence around it. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/**
 * 1 if a response is JSON that fits the schema, else 0. It must also fit as a reader sees it: a text without ink, a gap such as
 * `{{title}}`, or a value that only repeats its key is an empty one. Whether values are true is not checked: `N/A`, `TODO` and invented ones pay.
 *
 * Schemas are read as `FormatVerifier` of `@rlp/rewards/verification` reads them. `uniqueItems` compares every pair: give
 * `maxItems` with it.
 *
 * @throws OptionsError for a schema that cannot be read.
 */
export function jsonFormat<Metadata = unknown>(
  options: JsonFormatOptions<Metadata> = {},
): RewardFunction<Metadata> {
  const { schema: given, extract = withoutFence } = requireFields('jsonFormat', {}, options);
  const read = (schema: object) => jsonSchemaCheck('jsonFormat', schema, 'first');
  const fixed = typeof given === 'object' ? read(given) : undefined;
  return ({ task, response }) => {
    const schema = typeof given === 'function' ? given(task.metadata) : given;
    const check = typeof given === 'function' ? read(schema!) : fixed;
    const text = extract(response);
    if (text === undefined || /^[^\S \t\r\n]/.test(response)) return 0;
    try {
      const value = parsedJson(text);
      if (check === undefined) return 1;
      const written = JSON.stringify(schema);
      // Items are seen with the key of their list.
      const seen = JSON.parse(text, function (this: unknown, key, part) {
        return Array.isArray(this) ? part : asSeen(key, part, written);
      });
      return [value, seen].every((one) => check(one).length === 0) ? 1 : 0;
    } catch {
      return 0;
    }
  };
}
