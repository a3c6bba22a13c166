import { requireArguments } from '@rlp/core';
import { trimmed } from '../text.ts';
import { extractTag } from './extract-tag.ts';

const tagged = extractTag('answer');

/** The answer of a response that writes it plainly: the content of the last `<answer>…</answer>`, or else the last line. Trimmed. */
export function writtenAnswer(response: string): string {
  requireArguments('writtenAnswer', { response: 'text' }, response);
  const text = response.trimEnd();
  return tagged(text) ?? text.slice(text.lastIndexOf('\n') + 1).trim();
}

/** A text as plain answers are compared: lower case, single spaces, without a full stop at its end. */
export function plainForm(text: string): string {
  requireArguments('plainForm', { text: 'text' }, text);
  return text.trim().toLowerCase().replace(/\.$/, '').replaceAll(/\s+/g, ' ');
}

/**
 * The answer after the last `</think>`, trimmed. `undefined` without that tag. (What verifiers' ThinkParser reads,
 * with `''` in its place. Its MaybeThinkParser reads the whole text there.)
 */
export function afterThinking(text: string): string | undefined {
  requireArguments('afterThinking', { text: 'text' }, text);
  const end = text.lastIndexOf('</think>');
  return end < 0 ? undefined : trimmed(text.slice(end + '</think>'.length));
}
