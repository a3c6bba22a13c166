import { describe, expect, it } from 'vitest';
import { finalAnswer } from './final-answer.ts';
import { isLeftOpen } from './offers.ts';

describe('an answer with another one beside it', () => {
  it.each([
    ...[
      '(or 20)',
      'or 20',
      ', or 20',
      '[or 20]',
      '(or maybe 20)',
      '(20)',
      '; 20',
      ', 20',
      '| 20',
      '± 2',
      '~ 20',
    ],
    ...[
      '(alternatively 20)',
      '(if not, 20)',
      '(could be 20)',
      '(or twenty)',
      '(or $20)',
      '(or, 20)',
      '(or is it 20)',
    ],
    ...[
      '(18 or 20)',
      ' eggs or 20 eggs',
      '(it might be 20)',
      '(my other guess is 20)',
      '(backup: 20)',
      '(also 20)',
      ' unless 20',
    ],
    ...[
      '(20 if it rains)',
      '\n(or 20)',
      '\n20',
      '(or 20 - 1)',
      '(or **20**)',
      'vs. 20',
      '— or 20',
      '— no, 20',
      '\n\nNo wait, 20.',
      '\nActually it is 20.',
      ' dollars (or 20 dollars)',
    ],
  ])('is none: 18 %s', (rest) => {
    expect(isLeftOpen(` ${rest}`, '18')).toBe(true);
    for (const from of ['boxed', 'hash'] as const) {
      const text = from === 'boxed' ? `So \\boxed{18} ${rest}` : `So\n#### 18 ${rest}`;
      expect([from, finalAnswer({ from: [from] })(text)]).toEqual([from, undefined]);
    }
  });

  it.each([
    ...[
      '(18.0)',
      '(eighteen)',
      '(or eighteen)',
      '(or 18.00)',
      '(9 * 2)',
      '(= 9 * 2)',
      '(or 9 * 2 = 18)',
      '(that is $18)',
    ],
    ...[
      'eggs (6 per day)',
      '(20% of 90)',
      '(half of 36)',
      'apples, or 9 pairs',
      '(or 1.5 dozen)',
      'minutes, or 0.3 hours',
    ],
    ...[
      'or 18.0',
      '(check: 18 + 2 = 20)',
      '(in 2023)',
      '(not 20)',
      ' because 20 - 2 = 18',
      '\n\nCheck: 18 + 2 = 20.',
    ],
    ...[
      '. With tax it might be 20.',
      ' (also 6 per day)',
      '\n16 + 4 = $20',
      '\n\nActually, 20 was the number of eggs.',
      '. No, 20 is too many.',
      ' / 20',
    ],
  ])('is one that is explained: 18 %s', (rest) => {
    expect(isLeftOpen(` ${rest}`, '18')).toBe(false);
  });

  it.each([
    [' (or Lyon)', 'Paris', true],
    [' (or New York)', 'Paris', true],
    [' (or lyon)', 'paris', true],
    [' or C', 'B', true],
    [', or Lyon, that is.', 'Paris', true],
    ['. Alternatively: Lyon.', 'Paris', true],
    ['; if wrong, Lyon', 'Paris', true],
    [' / Lyon', 'Paris', true],
    [', France', 'Paris', false],
    [' (or Paris)', 'Paris', false],
    [' (or Lutetia, as the Romans said)', 'Paris', false],
    [' (or 3.464)', '2\\sqrt{3}', false],
    [' or $x+2$', 'x+1', true],
    [' or $1+x$', 'x+1', false],
    [' (or (2,1))', '(1,2)', true],
    [', or maybe 1/3', '\\frac12', true],
    [' or 6.28', '2\\pi', false],
    [' (or 360 degrees)', '2\\pi', false],
    [' where x = 2 or 3', 'x+1', false],
    [' or no', '\\text{yes}', true],
    [' (not C or D)', 'B', false],
  ])('%j behind %j leaves it open: %s', (rest, answer, expected) => {
    expect(isLeftOpen(rest, answer)).toBe(expected);
  });
});
