import { requireArguments } from '@rlp/core';
import type { Fraction } from 'fraction.js';
import { writtenNumber } from './expression.ts';
import { readExpression } from './expression-reader.ts';
import { latexTokens } from './latex-tokens.ts';

/**
 * The number that an answer writes out, whatever its unit: `-12`, `1,234.50`, `$5`, `1e3`, `3/4`, `1 3/4`, `\frac{3}{4}`, `5 cm`, `50%`.
 * `undefined` for anything else, also for what is still to be computed, and beyond 200 digits.
 */
export function numberOf(text: string): Fraction | undefined {
  requireArguments('numberOf', { text: 'text' }, text);
  if (text.length > 1000) return;
  const expression = readExpression(latexTokens(text, { commas: 'thousands' }));
  if (expression?.type !== 'quantity') return expression && writtenNumber(expression)?.value;
  return expression.unit.startsWith('?') ? undefined : writtenNumber(expression.value)?.value;
}
