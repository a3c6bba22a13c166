import { requireArguments } from '@rlp/core';
import type { Fraction } from 'fraction.js';
import { numberOf } from '../equal/number-of.ts';
import { isUnit } from '../equal/units.ts';
import { isLeftOpen } from './offers.ts';
import { stanceAt } from './stances.ts';

/** The number that an answer is, or the only one in its words. */
export function numberIn(answer: string): Fraction | undefined {
  requireArguments('numberIn', { answer: 'text' }, answer);
  if (answer.length > 1000) return;
  const read = numberOf(answer);
  if (read !== undefined || answer.includes('\\')) return read;
  const glued = /(?<=\d)[a-z]\b/i.exec(answer)?.[0];
  if (/[a-z]\s?\(\s*-?\d/i.test(answer) || (glued !== undefined && !isUnit(glued))) return;
  // A factorial, and a calculation that breaks off.
  if (/^\W*\d+!\W*$/.test(answer) || /\d\s(?:minus|plus|times|divided by)\s(?![\d$])/.test(answer)) return;
  const numbers = [...answer.matchAll(/((?:minus|negative)\s|-)?(\d[\d,]*(?:\.\d+)?)/gi)];
  if (numbers.length !== 1) return;
  const [{ 0: whole, 1: sign, 2: digits, index }] = numbers as [RegExpExecArray];
  const isSaid = stanceAt(answer, { at: index, end: index + whole.length }) === 'asserts';
  return isSaid && !isLeftOpen(answer.slice(index + whole.length), digits!)
    ? numberOf((sign === undefined ? '' : '-') + digits)
    : undefined;
}
