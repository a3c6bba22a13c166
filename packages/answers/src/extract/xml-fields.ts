import { type Message, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { trimmed } from '../white-space.ts';

/** Schema of a tag's name: names go into text as they are, so only plain words are taken. */
export const tagName = z.string().regex(/^[\w-]+$/, 'must be letters, digits, "_" and "-", without brackets');

/** A field of a response: its tag, or several tags of which any will do. */
export type XmlField = string | readonly string[];

/**
 * Reads the content of each tag of the fields, trimmed. `null` if the tag has no complete pair.
 *
 * A pair reaches from an opening tag to the next closing one. Linear in the text.
 *
 * @param occurrence - Which pair of a tag: `'first'` (default) or `'last'`.
 */
export function readXmlFields(
  text: string,
  fields: readonly XmlField[],
  occurrence: 'first' | 'last' = 'first',
): Readonly<Record<string, string | null>> {
  requireArguments(
    'readXmlFields',
    { text: 'text', fields: 'list', occurrence: 'text?' },
    text,
    fields,
    occurrence,
  );
  return Object.fromEntries(fields.flat().map((tag) => [tag, readPair(text, marksOf(tag), occurrence)]));
}

/** Reads the content of the first pair of a tag in one text after the other, as {@link readXmlFields} does. */
export function pairReader(tag: string): (text: string) => string | null {
  const marks = marksOf(tag);
  return (text) => readPair(text, marks, 'first');
}

type Marks = readonly [opening: string, closing: string];

function marksOf(tag: string): Marks {
  return [`<${tag}>`, `</${tag}>`];
}

function readPair(text: string, [opening, closing]: Marks, occurrence: 'first' | 'last'): string | null {
  let found: string | null = null;
  let at = 0;
  for (;;) {
    const open = text.indexOf(opening, at);
    const close = open < 0 ? -1 : text.indexOf(closing, open);
    if (close < 0) return found;
    found = trimmed(text.slice(open + opening.length, close));
    if (occurrence === 'first') return found;
    at = close + closing.length;
  }
}

/** The field of the last assistant turn that has it, by its first pair. `null` if none has. */
export function xmlAnswer(messages: readonly Message[], field = 'answer'): string | null {
  requireArguments('xmlAnswer', { messages: 'objects', field: 'text?' }, messages, field);
  for (const { role, content } of [...messages].reverse()) {
    if (role !== 'assistant') continue;
    const answer = readPair(content, marksOf(field), 'first');
    if (answer !== null) return answer;
  }
  return null;
}
