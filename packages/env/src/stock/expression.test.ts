import { expect, it } from 'vitest';
import { evaluate, fractionText } from './expression.ts';

const valueText = (text: string) => {
  const evaluated = evaluate(text);
  return typeof evaluated === 'string' ? evaluated : fractionText(evaluated.value);
};

it.each([
  ['7', '7'],
  ['007', '7'],
  ['8 - 3 - 2', '3'],
  ['24 / 4 / 2', '3'],
  ['2 + 3 * 4', '14'],
  ['(2 + 3) * 4', '20'],
  ['10 / 4 * 2', '5'],
  ['1/3 + 1/6', '1/2'],
  ['1/6 - 1/2', '-1/3'],
  ['2/4', '1/2'],
  ['0/5', '0'],
  ['1 / -2', '-1/2'],
  ['-1 / -2', '1/2'],
  ['--3', '3'],
  ['2 * -(1 + 1)', '-4'],
  ['6 × 4 ÷ 8 − 5', '-2'],
  ['99999999999999999999 * 99999999999999999999', '9999999999999999999800000000000000000001'],
  [`${'('.repeat(64)}1${')'.repeat(64)}`, '1'],
  [`${'('.repeat(65)}1${')'.repeat(65)}`, 'the expression is nested too deeply'],
  [`${'-'.repeat(64)}1`, '1'],
  [`${'-'.repeat(65)}1`, 'the expression is nested too deeply'],
  [`1${' '.repeat(1999)}`, '1'],
  [`1${' '.repeat(2000)}`, 'an expression has at most 2000 characters'],
  ['', 'the expression ends too early'],
  ['2 +', 'the expression ends too early'],
  ['-', 'the expression ends too early'],
  ['(', 'the expression ends too early'],
  ['(1', 'a ")" is missing'],
  ['(1 2)', 'a ")" is missing'],
  ['1)', '")" is not expected there'],
  ['1 2', '"2" is not expected there'],
  ['1 ^ 2', '"^" is not expected there'],
  ['* 2', '"*" is not a number'],
  ['1 + x', '"x" is not a number'],
  ['-x', '"x" is not a number'],
  ['(x)', '"x" is not a number'],
  ['1 / (2 - 2)', 'it divides by zero'],
  ['1 + 1 / 0 + 1', 'it divides by zero'],
])('%s is %s', (text, value) => {
  expect(valueText(text)).toBe(value);
});

it('names the numbers in their order', () => {
  expect(evaluate('8 / (03 - 8 / 3)')).toMatchObject({ numbers: ['8', '03', '8', '3'] });
});
