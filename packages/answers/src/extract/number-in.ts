import type { Fraction } from 'fraction.js';
import { numberOf } from '../equal/expression-reader.ts';
import { isUnit } from '../equal/units.ts';
import { inexact, isDenied } from './denials.ts';

/** The number that an answer is, or the only one in its words. */
export function numberIn(answer: string): Fraction | undefined {
  if (answer.length > 1000) return;
  const read = numberOf(answer);
  if (read !== undefined || isDenied(answer) || answer.includes('\\') || inexact.test(answer)) {
    return read;
  }
  const glued = /(?<=\d)[a-z]\b/i.exec(answer)?.[0];
  if (/[a-z]\s?\(\s*-?\d/i.test(answer) || (glued !== undefined && !isUnit(glued))) return;
  const numbers = answer.match(/-?\d[\d,]*(?:\.\d+)?/g);
  return numbers?.length === 1 ? numberOf(numbers[0]!) : undefined;
}
