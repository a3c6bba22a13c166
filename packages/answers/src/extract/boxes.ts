import { requireArguments } from '@rlp/core';
import type { Candidate } from './candidate.ts';

/** A boxed answer found in a text. */
export interface BoxedAnswer {
  /** The LaTeX command that made the box. */
  readonly command: 'boxed' | 'fbox';
  /** What stands in the box. */
  readonly content: string;
  /** The command with its argument, as written. */
  readonly text: string;
}

/**
 * The last `\boxed{…}` of a text, braces matched; where there is none, the last `\fbox{…}`. `\boxed 5` without braces
 * counts too: it reaches up to the next `$`, or the end.
 *
 * Linear in the text. A last box whose braces do not close is not an answer.
 *
 * @param forms - `'braced'`: only `\boxed{…}` is a box (DAPO, verifiers). Default `'all'`.
 * @see Hendrycks et al. 2021, https://arxiv.org/abs/2103.03874 (the boxes of the MATH data set)
 */
export function lastBoxed(text: string, forms: 'all' | 'braced' = 'all'): BoxedAnswer | undefined {
  requireArguments('lastBoxed', { text: 'text', forms: 'text?' }, text, forms);
  const boxed = text.lastIndexOf(forms === 'all' ? '\\boxed' : '\\boxed{');
  const start = boxed >= 0 || forms === 'braced' ? boxed : text.lastIndexOf('\\fbox');
  if (start < 0) return;
  const command = boxed >= 0 ? 'boxed' : 'fbox';
  const unbraced = '\\boxed ';
  if (text.startsWith(unbraced, start)) {
    const end = text.indexOf('$', start);
    const whole = text.slice(start, end < 0 ? undefined : end);
    return { command, content: whole.slice(unbraced.length), text: whole };
  }
  const open = start + command.length + 1;
  const close = matchingBrace(text, open);
  if (close === undefined) return;
  return { command, content: text.slice(open + 1, close), text: text.slice(start, close + 1) };
}

/** Where the brace that opens at `open` closes. */
function matchingBrace(text: string, open: number): number | undefined {
  if (text[open] !== '{') return;
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  return;
}

/** What joins the boxes of one answer: `\boxed{1}, \boxed{2}`, `x = \boxed{1} \text{ or } x = \boxed{2}`, and whatever has no word. */
const joiner =
  /(?:[\s$.]|\\q?quad|\\[()])*(?:[,;/]|\b(?:and|or|[Aa]lternatively)\b|\\text\s*\{\s*(?:and|or)\s*\})(?:[\s$,]|\\q?quad|\\[()]|\band\b|\bor\b)*(?:[a-zA-Z](?:_\{?\w\}?)?\s*=\s*)?$|(?:[^\p{L}{}\\=+*×÷/<>-]|\\q?quad|\\[()[\],;! ])*$/u;
const maximumBoxes = 20;

/** The contents of the last boxes that are joined, as a list; `null` for a box that is not closed. */
export function boxedAnswer(text: string): Candidate | null | undefined {
  let box = lastBoxed(text);
  if (box === undefined) return text.includes('\\boxed') ? null : undefined;
  let at = text.lastIndexOf(box.text);
  const end = at + box.text.length;
  const contents = [box.content];
  while (contents.length < maximumBoxes) {
    const joined = joiner.exec(text.slice(Math.max(0, at - 60), at))?.[0];
    if (joined === undefined) break;
    const before = text.slice(0, at - joined.length);
    box = lastBoxed(before);
    if (box === undefined || !before.endsWith(box.text)) break;
    at = before.length - box.text.length;
    if (!contents.includes(box.content)) contents.unshift(box.content);
  }
  return { answer: contents.join(', '), at, end };
}
