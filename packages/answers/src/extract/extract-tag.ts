import { ArgumentError, passagesOf } from '@rlp/core';
import * as z from 'zod';
import { withoutComments } from '../shown-text.ts';

const plainWord = /^[\w-]+$/;
const rule = 'letters, digits, "_" and "-", without brackets';

/** Schema of a tag's name: names go into text as they are, so only plain words are taken. */
export const tagName = z.string().regex(plainWord, `must be ${rule}`);

/**
 * Reads what stands between `<tag>` and `</tag>`. Comments are not read.
 *
 * @param several - `'last'` (default): the last complete pair counts. `'agreeing'`: thoughts (`<think>…</think>`) are not read, and pairs that
 *   differ are none, because a list of guesses is no answer.
 * @returns A function from text to the trimmed content of a complete pair (its innermost opening), or `undefined` if there is none.
 * @throws `ArgumentError` for a name that is not a plain word.
 */
export function extractTag(
  tag: string,
  several: 'last' | 'agreeing' = 'last',
): (text: string) => string | undefined {
  if (!plainWord.test(tag)) {
    throw new ArgumentError(`extractTag: the tag must be ${rule}, got ${JSON.stringify(tag)}`);
  }
  if (several === 'last') return (response) => lastPair(withoutComments(response), tag)?.content;
  return (response) => {
    const said = passagesOf(withoutComments(response)).filter(({ kind }) => kind === 'said');
    let text = said.map((passage) => passage.text).join('');
    const last = lastPair(text, tag);
    for (let pair = last; pair !== undefined; pair = lastPair(text, tag)) {
      if (pair.content !== last?.content) return undefined;
      text = text.slice(0, pair.start);
    }
    return last?.content;
  };
}

/** The last complete pair of a text. */
function lastPair(
  text: string,
  tag: string,
): { readonly start: number; readonly content: string } | undefined {
  const opening = `<${tag}>`;
  const end = text.lastIndexOf(`</${tag}>`);
  const start = text.lastIndexOf(opening, end - opening.length);
  if (start < 0 || end < 0) return undefined;
  return { start, content: text.slice(start + opening.length, end).trim() };
}
