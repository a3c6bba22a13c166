import { parsedJson, type RewardFunction } from '@rlp/core';
import { jsonSchemaCheck } from '../../shared/json-schema.ts';
import { withoutFence } from '../../shared/text.ts';

/** Options of {@link jsonFormat}. */
export interface JsonFormatOptions<Metadata> {
  /** JSON Schema, or a function that finds it in the task's metadata. Default: any JSON passes. */
  readonly schema?: object | ((metadata: Metadata) => object) | undefined;
  /** JSON in a response. Default: the response without a Markdown fence around it. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/**
 * 1 if a response is JSON that fits the schema, else 0.
 *
 * Schemas are read as `FormatVerifier` of `@rlp/rewards/verification` reads them. `uniqueItems` compares every pair: give
 * `maxItems` with it.
 *
 * @throws `OptionsError` for a schema that cannot be read.
 */
export function jsonFormat<Metadata = unknown>({
  schema: given,
  extract = withoutFence,
}: JsonFormatOptions<Metadata> = {}): RewardFunction<Metadata> {
  const read = (schema: object) => jsonSchemaCheck('jsonFormat', schema, 'first');
  const fixed = typeof given === 'object' ? read(given) : undefined;
  return ({ task, response }) => {
    const check = typeof given === 'function' ? read(given(task.metadata)) : fixed;
    const text = extract(response);
    if (text === undefined) return 0;
    let value: unknown;
    try {
      value = parsedJson(text);
    } catch {
      return 0;
    }
    return check === undefined || check(value).length === 0 ? 1 : 0;
  };
}
