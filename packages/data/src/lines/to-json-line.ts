import { ArgumentError } from '@rlp/core';

/**
 * One value as a line of JSON, with its line break.
 *
 * @throws ArgumentError for a value that JSON cannot hold, such as a function or `undefined`.
 */
export function toJsonLine(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) {
    throw new ArgumentError(`toJsonLine: expected a value that JSON can hold, got ${typeof value}`);
  }
  return `${text}\n`;
}
