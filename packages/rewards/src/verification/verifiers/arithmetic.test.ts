import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arithmeticStatements } from '../../verification.ts';

const judged = (text: string) => arithmeticStatements(text).map(({ holds }) => holds);

describe('arithmeticStatements', () => {
  const holding = [
    '2 + 3 = 5',
    '2+3*4=14',
    '(2 + 3) * 4 = 20',
    'so $1,200 + $300.50 = $1,500.50 in all',
    '10 / 4 = 2.5',
    '10 / 3 = 3.33',
    '20 / 3 = 6',
    '2 × 3 ÷ 6 = 1',
    '2 x 3 = 6 apples',
    '-2 + 5 = 3',
    '50% * 80 = 40',
    '5 / 20 = 25%',
    '3 - -2 = 5',
    '<<48/2=24>>24',
    '1.0 + 1 = 2',
  ];
  it.each(holding)('holds: %s', (text) => {
    expect(judged(text).every(Boolean)).toBe(true);
  });

  it.each(['2 + 2 = 5', '3 * 7 = 22', '(1 + 2) * 3 = 7', '10 - 4 = 5 left', '$1,000 + $1 = $1,002'])(
    'does not hold: %s',
    (text) => {
      expect(judged(text)).toEqual([false]);
    },
  );

  it('checks a chain pair by pair', () => {
    expect(judged('1 + 1 = 4 / 2 = 2')).toEqual([true, true]);
    expect(judged('1 + 1 = 4 - 1 = 3')).toEqual([false, true]);
  });

  it.each([
    'x + 2 * 3 = 10',
    '2x + 3 = 7',
    'sin 30 = 1/2',
    'f(2) = 2 * 3',
    'a = 5',
    '5 = 5',
    '2020-01-05',
    '1 + = 3',
    '(1 + 2 = 3',
    '3 + 4 = y',
    '1,2 + 3 = 4',
    '5! + 2 * 3',
  ])('is no statement: %s', (text) => {
    expect(judged(text)).toEqual([]);
  });

  it('agrees with the sum of any two numbers, and with no other', () => {
    const number = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(number, number, fc.integer({ min: 1, max: 99 }), (a, b, off) => {
        expect(judged(`${a} + ${b} = ${a + b}`)).toEqual([true]);
        expect(judged(`${a} + ${b} = ${a + b + off}`)).toEqual([false]);
        expect(judged(`${a.toLocaleString('en')} * 2 = ${(2 * a).toLocaleString('en')}`)).toEqual([true]);
      }),
    );
  });
});
