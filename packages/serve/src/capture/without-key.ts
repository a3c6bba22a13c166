import { inspect } from 'node:util';
import { messageOf } from '@rlp/core';

/** A text that does not show the key of an episode. */
export function withoutKey(text: string, apiKey: string): string {
  return text.replaceAll(apiKey, '[key]');
}

/** What an agent threw. A copy if its message, stack, fields or causes show the key of the episode. */
export function errorWithoutKey(error: unknown, apiKey: string): unknown {
  if (!inspect(error, { depth: 8, maxStringLength: null, maxArrayLength: null }).includes(apiKey))
    return error;
  if (!(error instanceof Error)) return withoutKey(messageOf(error), apiKey);
  const { cause, name, stack } = error;
  const copy = new Error(withoutKey(error.message, apiKey), {
    ...(cause !== undefined && { cause: errorWithoutKey(cause, apiKey) }),
  });
  const facts = Object.entries(error).filter(([, value]) => ['number', 'boolean'].includes(typeof value));
  const texts = Object.entries({ ...error, name, stack }).flatMap(([field, value]) =>
    typeof value === 'string' ? [[field, withoutKey(value, apiKey)] as const] : [],
  );
  for (const [field, value] of [...facts, ...texts])
    Object.defineProperty(copy, field, {
      value,
      enumerable: field !== 'stack' && field !== 'name',
      configurable: true,
    });
  return copy;
}
