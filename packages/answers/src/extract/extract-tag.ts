import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { withoutComments } from '../shown-text.ts';

/** Schema of a tag's name: names go into text as they are, so only plain words are taken. */
export const tagName = z.string().regex(/^[\w-]+$/, 'must be letters, digits, "_" and "-", without brackets');

/**
 * Reads what stands between `<tag>` and `</tag>`. Comments are not read.
 *
 * @param several - `'last'` (default) reads the last complete pair. `'agreeing'` reads those behind the last `</think>`. If they differ, the
 *   text has no answer, because a list of guesses is none.
 * @returns A function from text to the trimmed content of a complete pair (its innermost opening), or `undefined` if there is none.
 * @throws `OptionsError` for a name that is not a plain word.
 */
export function extractTag(
  tag: string,
  several: 'last' | 'agreeing' = 'last',
): (text: string) => string | undefined {
  parseOptions('extractTag', z.strictObject({ tag: tagName }), { tag });
  return (response) => {
    const text = withoutComments(response);
    const read = several === 'last' ? text : text.slice(text.lastIndexOf('</think>') + 1);
    const [, ...opened] = read.split(`<${tag}>`);
    const found = opened.flatMap((part) => {
      const [content, ...rest] = part.split(`</${tag}>`);
      return rest.length > 0 ? content!.trim() : [];
    });
    return several === 'last' || new Set(found).size === 1 ? found.at(-1) : undefined;
  };
}
