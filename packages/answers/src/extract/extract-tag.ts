import { ArgumentError } from '@rlp/core';
import * as z from 'zod';
import { withoutComments } from '../shown-text.ts';

const plainWord = /^[\w-]+$/;
const rule = 'letters, digits, "_" and "-", without brackets';

/** Schema of a tag's name: names go into text as they are, so only plain words are taken. */
export const tagName = z.string().regex(plainWord, `must be ${rule}`);

/**
 * Reads what stands between `<tag>` and `</tag>`. Comments are not read.
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
  return (response) => {
    const text = withoutComments(response);
    const end = text.lastIndexOf(closing);
    const start = text.lastIndexOf(opening, end - opening.length);
    return start < 0 || end < 0 ? undefined : text.slice(start + opening.length, end).trim();
  };
}
