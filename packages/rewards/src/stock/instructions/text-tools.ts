import { ink } from '@rlp/answers/text';

import { repeatedShare } from '../text/repetition.ts';

/** Whether `count` stands in the relation to `threshold` that an instruction names. */
export function compare(relation: 'less than' | 'at least', count: number, threshold: number): boolean {
  return relation === 'less than' ? count < threshold : count >= threshold;
}

/** Whether a text says `My answer is yes.` or no or maybe, one of them alone. Words before that deny it do not say it. */
export function choosesOnce(text: string): boolean {
  const said = [...text.matchAll(/My answer is (yes|no|maybe)\./gi)].filter(
    ({ index }) =>
      !/\b(?:not|never|nobody|cannot|wrong|n['’]t)\b(?:[^.!?\n:;,—]*|:\s?)["'“‘]?$/i.test(
        text.slice(Math.max(0, index - 100), index),
      ),
  );
  const isWritten = said.some(([sentence]) => /^My answer is [a-z]/.test(sentence));
  return isWritten && new Set(said.map(([, choice]) => choice!.toLowerCase())).size === 1;
}

/** A text as part of a regular expression. */
export function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** Pairs of brackets with something inside that close on the line they open on, none inside another. Linear, because every bracket that is searched closes. */
export function countBracketed(text: string): number {
  const lines = text.split('\n').map((line) => line.slice(0, line.lastIndexOf(']') + 1));
  const pairs = lines.join('\n').match(/\[[^\]\n]*\]/g) ?? [];
  return pairs.filter((pair) => ink.test(pair.slice(1, -1))).length;
}

/** Whether a text says the same few words again and again. */
export function isLoop(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length >= 8 && repeatedShare(words, 3) > 0.8;
}

/** Whether some line holds `<<…>>` with something inside. Linear. */
export function hasTitle(text: string): boolean {
  return text.split('\n').some((line) => {
    const open = line.indexOf('<<');
    const close = line.lastIndexOf('>>');
    if (open < 0 || close < open + 3) return false;
    return line.slice(open, close).replace(/^<+/, '').replaceAll(/>/g, '').trim() !== '';
  });
}

/** Parts in single or double asterisks on one line, with something inside. */
export function countHighlights(text: string): number {
  const parts = [/\*[^\n*]*\*/g, /\*\*[^\n*]*\*\*/g].flatMap((form) => text.match(form) ?? []);
  return parts.filter((part) => part.replaceAll('*', '').trim() !== '').length;
}

/** Words in capitals, contractions taken apart as the Penn Treebank does (`DON'T` is two). */
export function countCapitalWords(text: string): number {
  let count = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+(?:[-.'’/][\p{L}\p{N}]+)*/gu)) {
    if (!isUpper(word)) continue;
    count += /^.+'(?:S|M|D|LL|RE|VE|T)$/u.test(word) ? 2 : 1;
  }
  return count;
}

/** Whether a text has capital letters and no others. */
export function isUpper(text: string): boolean {
  return /\p{Lu}/u.test(text) && !/[\p{Ll}\p{Lt}]/u.test(text);
}

/** Whether a text has small letters and no others. */
export function isLower(text: string): boolean {
  return /\p{Ll}/u.test(text) && !/[\p{Lu}\p{Lt}]/u.test(text);
}

/** The pieces between separators, blank ones at either end left out. `undefined` if one in the middle is blank. */
export function filledPieces(pieces: readonly string[]): readonly string[] | undefined {
  const filled = pieces.filter((piece) => piece.trim() !== '');
  const blankInside = pieces.slice(1, -1).some((piece) => piece.trim() === '');
  return blankInside ? undefined : filled;
}

/** The first word of a paragraph in lower case, without quotes before it and punctuation after it. */
export function firstWord(paragraph: string): string {
  const [word = ''] = paragraph.trim().split(/\s/u, 1);
  return word
    .replace(/^'*"*/, '')
    .split(/[.,?!'"]/u, 1)[0]!
    .toLowerCase();
}

/** A text without the double quotes at its ends. */
export const withoutQuotesAround = (text: string) => text.replace(/^"+|(?<!")"+$/g, '');

/** Whether a word occurs with no letter, digit or underscore right before or after it. */
export function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(word)}(?![\\p{L}\\p{N}_])`, 'u').test(text);
}
