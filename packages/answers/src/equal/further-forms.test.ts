import { describe, expect, it } from 'vitest';
import { mathAnswersAgree } from './math-equivalence.ts';

describe('a union', () => {
  it.each([
    ['[0,1] ∪ [1,2]', '[0,2]', true],
    ['[1,2] \\cup [0,1)', '[0,2]', true],
    ['[0,1) ∪ (1,2]', '[0,2]', false],
    ['(0,1) \\cup \\{1\\} \\cup (1,2)', '(0,2)', true],
    ['[0,3] \\cup [1,2]', '[0,3]', true],
    ['(-\\infty, 0] \\cup (0, \\infty)', '\\mathbb{R}', true],
    ['(-\\infty, 0) \\cup (0, \\infty)', '\\mathbb{R}', false],
    ['[0,1] \\cup [2,3]', '[0,3]', false],
    ['[0,\\frac12] \\cup [0.5,1]', '[0,1]', true],
    ['x<1 \\text{ or } x \\ge 1', '\\mathbb{R}', true],
    ['[0,1) \\cup \\{2\\}', '[0,2]', false],
    ['[0,1) \\cup \\{3, 1, 2\\}', '[0,1] \\cup \\{2\\} \\cup \\{3\\}', true],
    ['[5,6] \\cup [0,1] \\cup [1,2]', '[0,2] \\cup [5,6]', true],
    ['[a,b] \\cup [b,c]', '[a,c]', false],
    ['[0,1], [1,2]', '[0,2]', false],
  ])('of %s is %s: %s', (given, expected, same) => {
    expect([mathAnswersAgree(given, expected), mathAnswersAgree(expected, given)]).toEqual([same, same]);
  });
});

describe('a determinant', () => {
  const two = '\\begin{vmatrix}1&2\\\\3&4\\end{vmatrix}';
  it.each([
    ['-2', two, true],
    ['2', two, false],
    ['ad-bc', '\\left|\\begin{array}{cc}a&b\\\\c&d\\end{array}\\right|', true],
    ['24', '\\det\\begin{pmatrix}2&0&0\\\\0&3&1\\\\5&0&4\\end{pmatrix}', true],
    ['\\begin{vmatrix}4&2\\\\3&1\\end{vmatrix}', two, true],
    [`${two} = -2`, '-2', true],
    ['\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}', two, false],
    ['6', '\\begin{vmatrix}1&2&3\\end{vmatrix}', false],
  ])('%s is %s: %s', (given, expected, same) => {
    expect(mathAnswersAgree(given, expected)).toBe(same);
  });

  it.each([two, `2${two} + 2`, `x = ${two}`, '\\det\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}'])(
    'that is not worked out, %s, is no number',
    (given) => {
      for (const expected of ['-2', 'x = -2']) expect(mathAnswersAgree(given, expected)).toBe(false);
    },
  );
});

it.each([
  ['1_000', '1000', true],
  ['1\\_000\\_000', '1000000', true],
  ['1,234', '1_234', true],
  ['1_00', '100', false],
  ['1_0', '10', false],
  ['1011_2', '11', true],
  ['x_{100}', 'x100', false],
])('reads low lines between thousands: %s is %s: %s', (given, expected, same) => {
  expect(mathAnswersAgree(given, expected)).toBe(same);
});

it.each([
  ['Mon', 'Monday', true],
  ['Tues.', 'Tuesday', true],
  ['on Thursday', 'Thur', true],
  ['\\text{Sat}', 'Saturday', true],
  ['Sept.', 'September', true],
  ['Mon', 'Tuesday', false],
  ['Mars', 'March', false],
  ['Mo', 'Monday', false],
  ['Monday or Tuesday', 'Monday', false],
])('knows the short names of days and months: %s is %s: %s', (given, expected, same) => {
  expect(mathAnswersAgree(given, expected)).toBe(same);
});

describe('constants of integrals', () => {
  it.each([
    ['C_1 e^{-x} + C_2 e^x', 'C_1 e^x + C_2 e^{-x}'],
    ['y = C_2 e^x + C_1 e^{-x}', 'y = C_1 e^x + C_2 e^{-x}'],
    ['Ae^{-x} + Be^x', 'C_1 e^x + C_2 e^{-x}'],
    ['(C_1 + C_2 x)e^x', '(C_2 + C_1 x)e^x'],
    ['C_3 e^x + C_1 e^{2x} + C_2', 'C_1 e^x + C_2 e^{2x} + C_3'],
  ])('may be in another order: %s is %s', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(true);
  });

  it.each([
    ['C_1 e^x + C_1 e^{-x}', 'C_1 e^x + C_2 e^{-x}'],
    ['C_1 e^x + C_2 e^{-2x}', 'C_1 e^x + C_2 e^{-x}'],
    ['C_1 - C_2', 'C_2 - C_1'],
    ['A - Bx', 'B - Ax'],
    ['c_1x/c_2', 'c_2x/c_1'],
    ['x^{c_1} + c_2', 'x^{c_2} + c_1'],
  ])('keep their places elsewhere: %s is not %s', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(false);
  });
});
