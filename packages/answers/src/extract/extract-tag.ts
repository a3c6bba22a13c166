import { ArgumentError } from '@rlp/core';
import * as z from 'zod';

const plainWord = /^[\w-]+$/;
const rule = 'letters, digits, "_" and "-", without brackets';

/** Schema of a tag's name: names go into text as they are, so only plain words are taken. */
export const tagName = z.string().regex(plainWord, `must be ${rule}`);

/**
 * Reads what stands between `<tag>` and `</tag>`.
 *
 * @returns A function from text to the trimmed content of the last complete pair (its innermost opening), or
 *   `undefined` if there is none.
 * @throws `ArgumentError` for a name that is not a plain word.
 */
export function extractTag(tag: string): (text: string) => string | undefined {
  if (!plainWord.test(tag)) {
    throw new ArgumentError(`extractTag: the tag must be ${rule}, got ${JSON.stringify(tag)}`);
  }
  const opening = `<${tag}>`;
  const closing = `</${tag}>`;
  return (text) => {
    const end = text.lastIndexOf(closing);
    const start = end < 0 ? -1 : text.lastIndexOf(opening, end - opening.length);
    return start < 0 ? undefined : text.slice(start + opening.length, end).trim();
  };
}
