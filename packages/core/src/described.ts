import { shownValue } from './options/wording.ts';
import { isPromiseLike } from './settle-within.ts';

/** Fields of an object that a message names. */
const shownFields = 8;

/** What a value is, for an error that says what came in place of something else. */
export function described(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (isPromiseLike(value)) return 'a promise';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return shownValue(value);
  const kind = shownValue(value);
  const fields = Object.keys(value);
  if (kind !== 'an object' && (fields.length === 0 || ArrayBuffer.isView(value) || value instanceof Error))
    return kind;
  const more = fields.length > shownFields ? ', …' : '';
  return `${kind} with ${fields.slice(0, shownFields).join(', ') || 'no fields'}${more}`;
}
