import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { withoutHidden } from '../shown-text.ts';
import { isLeftOpen } from './offers.ts';
import { gaveUp, stanceAt, takesBack } from './stances.ts';
import { tagName } from './xml-fields.ts';

/**
 * Reads what stands between `<tag>` and `</tag>`. Comments are not read, nor tags in elements that a page does not show.
 *
 * @param several - `'last'` (default) reads the last complete pair. `'agreeing'` reads those behind the last `</think>`, and what follows a
 *   further tag that does not close. If they differ, or one stands in another, the text has no answer, because a list of guesses is none. So it
 *   has if the sentences around the pair deny it, ask for it, take it back or offer another one.
 * @returns A function from text to the trimmed content of a complete pair (its innermost opening), or `undefined` if there is none.
 * @throws OptionsError for a name that is not a plain word.
 */
export function extractTag(
  tag: string,
  several: 'last' | 'agreeing' = 'last',
): (text: string) => string | undefined {
  parseOptions('extractTag', z.strictObject({ tag: tagName }), { tag });
  return (response) => {
    const text = withoutHidden(response, `<${tag}>`);
    const read =
      several === 'last' ? text : text.slice(text.lastIndexOf('</think>') + 1).replace(struckOut, '');
    const found = contentsIn(read, tag, several);
    if (several === 'last' || found.length === 0) return found.at(-1);
    // Pairs in other letters or with attributes are answers too, for a reader.
    const alike = read.replace(new RegExp(`<(/?)${tag}(?:\\s[^<>]*)?>`, 'gi'), `<$1${tag}>`);
    const open = unclosed(alike, tag);
    const all = [...contentsIn(alike, tag, several), ...(open === '' ? [] : [open])];
    return new Set(all).size === 1 && isMeant(read, tag) ? found.at(-1) : undefined;
  };
}

const struckOut = /~~[^~\n]+~~|<s>(?:(?!<\/?s>)[^~])*<\/s>/g;
/** A label of what is not the answer. */
const disowned =
  /\b(?:wrong|incorrect|false|worst|bad)\s(?:answer|guess|choice|option|reply|one)\W{0,6}:\s*$/i;

/** A tag that closes another element, and a colon: what stands before does not speak of the pair. */
const parted = /<\/\w{1,40}>|:(?=\s{0,9}$)/g;
const unknownAnswer =
  /^(?:unknown|unanswerable|none|n\/a|cannot be (?:determined|answered)|not (?:given|enough information))\b/i;
/** Characters around a pair that are read. */
const nearby = 300;
const ofEarlier = /\b(?:first|earlier|previous|initial)\b/i;

/** Whether the sentence around a pair does not deny its content or ask for it, and nothing behind takes it back. */
function isMeant(text: string, tag: string): boolean {
  const [opening, closing] = [`<${tag}>`, `</${tag}>`];
  const last = text.lastIndexOf(closing);
  const rest = text.slice(last + closing.length);
  // A word on an earlier attempt is none on this one.
  const behind = ofEarlier.test(rest) ? '' : rest;
  const content = text.slice(text.lastIndexOf(opening, last) + opening.length, last).trim();
  if (takesBack(behind) || isLeftOpen(behind, content)) return false;
  if (gaveUp.test(behind.slice(-200)) && !unknownAnswer.test(content)) return false;
  for (let end = text.indexOf(closing); end >= 0; end = text.indexOf(closing, end + 1)) {
    const at = text.lastIndexOf(opening, end) + opening.length;
    if (at < opening.length) continue;
    const before = text.slice(Math.max(0, at - opening.length - nearby), at - opening.length);
    if (disowned.test(before)) continue;
    const from = Array.from(before.matchAll(parted), ({ 0: mark, index }) => index + mark.length).at(-1) ?? 0;
    const after = end < last ? text.slice(end, end + nearby) : closing + behind.slice(0, nearby);
    const sentence = before.slice(from) + text.slice(at - opening.length, end) + after;
    const moved = before.length - from + opening.length - at;
    if (!/^(?:denies|asks)$/.test(stanceAt(sentence, { at: at + moved, end: end + moved }))) return true;
  }
  return false;
}

/** What follows an opening tag directly behind the last pair, or at the start of a line behind it. Elsewhere a sentence names the tag. */
function unclosed(text: string, tag: string): string {
  const behind = text.slice(text.lastIndexOf(`</${tag}>`) + tag.length + 3);
  const [, ...opened] = behind.split(new RegExp(`<${tag}>(?<=(?:^|\\n)[^\\S\\n]*<${tag}>)`));
  return opened.map((part) => part.trim()).join('');
}

/** Every text before a closing tag, so that a pair around another counts as a second answer; or the first one behind each opening tag. */
function contentsIn(text: string, tag: string, several: 'last' | 'agreeing'): readonly string[] {
  const [, ...opened] = text.split(`<${tag}>`);
  return opened
    .flatMap((part) => part.split(`</${tag}>`, several === 'last' ? 2 : undefined).slice(0, -1))
    .map((content) => content.trim());
}
