import { describe, expect, it } from 'vitest';
import { isLeftOpen } from './offers.ts';

describe('an answer that is said again', () => {
  it.each([
    ['1024', ['(or $2^{10}$)', '(or 2^10)', ', or 1,024']],
    ['120', ['(or 5!)', '(5!)']],
    ['1.5', ['(or 1 1/2)', '(or 3/2)', 'hours (or 90 minutes)']],
    ['1200000', ['(or 1.2 million)', '(or 1.2e6)', '(or $1.2 \\times 10^6$)']],
    ['12.57', ['(or 4π)', 'or $4\\pi$']],
    ['3', ['(or 9^(1/2))', ' because either 2 or 4 fails']],
    ['90', ['minutes (or 1 hour 30 minutes)', 'minutes, or 1 hour and 30 minutes', 'minutes, or 1h30']],
    ['68', ['inches (or 5 feet 8 inches)']],
    ['70', ['square feet (or 6.5 square meters)', 'gallons (or 265 liters)', 'calories (or 293 joules)']],
    ['20', ['euros (or 22 dollars)', 'euros, or about $22']],
    ['500', ['cents (or $5)', 'cents (or $5.00)']],
    ['7', ['boxes (or 84 eggs)', 'quarters (or $1.75)']],
    ['17.6', [', or 18 when rounded']],
    ['-3', ['or 3 below zero', ', or 3 units to the left']],
    ['42', ['[1]']],
    ['x^2-1', ['or (x-1)(x+1)', 'or $(x-1)(x+1)$']],
    ['yes', ['(or true)', 'or true']],
    ['4\\text{ cm}^2', ['(or 0.0004 m^2)']],
    ['B', ['or 7']],
  ])('is left as it is: %s', (answer, rests) => {
    expect(rests.filter((rest) => isLeftOpen(` ${rest}`, answer))).toEqual([]);
  });

  it.each([
    ['1024', ['(or $2^{11}$)', '(or 2^9)']],
    ['90', ['minutes (or 2 hours)', 'minutes (or 1 hour 40 minutes)', 'minutes, or 100 minutes']],
    ['68', ['inches (or 7 feet)', 'inches (or 5 feet 9 inches)']],
    [
      '18',
      ['dollars (or $20)', 'dollars, or 20 dollars', '(or 20 in fact)', 'eggs (or 20 apples)', '(or 20!)'],
    ],
    ['12.57', ['(or 5π)']],
    ['x^2-1', ['or (x-1)(x+2)']],
    ['yes', ['(or false)', 'or no']],
    ['-3', ['or 3']],
  ])('is another one: %s', (answer, rests) => {
    expect(rests.filter((rest) => !isLeftOpen(` ${rest}`, answer))).toEqual([]);
  });
});

describe('signs behind an answer', () => {
  it.each(['}', '} ', '…', '. ', '_', '&', '</b>', '- ', '(', 'and ', 'or ', '\\', "'", '$', '*', '[', '"}'])(
    'are read in little time: %j',
    (sign) => {
      const start = performance.now();
      for (const answer of ['18', 'x + 1', 'Paris']) isLeftOpen(`${sign.repeat(100)}z`, answer);
      expect(performance.now() - start).toBeLessThan(500);
    },
  );
});
