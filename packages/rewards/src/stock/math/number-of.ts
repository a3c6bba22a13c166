import type { Fraction } from 'fraction.js';
import { writtenNumber } from './expression.ts';
import { readExpression } from './expression-reader.ts';
import { latexTokens } from './latex-tokens.ts';

/**
 * The number that an answer writes out, whatever its unit: `-12`, `1,234.50`, `$5`, `1e3`, `3/4`, `1 3/4`, `\frac{3}{4}`, `5 cm`, `50%`.
 * `undefined` for anything else, also for what is still to be computed, and beyond 200 digits.
 */
export function numberOf(text: string): Fraction | undefined {
  if (text.length > 1000) return;
  const expression = readExpression(latexTokens(text, { commas: 'thousands' }));
  return expression && writtenNumber(expression.type === 'quantity' ? expression.value : expression)?.value;
}
