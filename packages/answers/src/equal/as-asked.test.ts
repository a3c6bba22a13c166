import { describe, expect, it } from 'vitest';
import { agreeAsAsked } from './as-asked.ts';

describe('agreeAsAsked', () => {
  it.each([
    ['3, 2, 1', '1, 2, 3', 'Sort in ascending order: 3, 1, 2', false],
    ['1 < 2 < 3', '1, 2, 3', 'Arrange from least to greatest.', true],
    ['3 > 2 > 1', '1, 2, 3', 'Arrange from least to greatest.', false],
    ['24, 12, 6', '6, 12, 24', 'What are the first three terms?', false],
    ['C, B, A', 'A, B, C', 'Order the boxes by weight.', false],
    ['3, 2, 1', '1, 2, 3', 'List them in any order.', true],
    ['a₁ = 1/2, a₂ = 2/3 and a₃ = 3/4', '1/2, 2/3, 3/4', 'What are the first three terms?', true],
    ['31', '31_5', 'Write 16 in base 5.', true],
    ['31', '31_5', 'Write 16 otherwise.', false],
    ['16', '31_5', 'Write 16 in base 5.', false],
    ['3, 2, 1', '1, 2, 3', 'Find the divisors in order to add them.', true],
    ['3, 2, 1', '1, 2, 3', 'Find all solutions.', true],
    ['72, 16', '16, 72', 'The divisors of n are listed in increasing order. Find all n.', true],
    ['3, 2', '2, 3', 'The first three terms of a sequence are x, 2x, 5. Find all x.', true],
    ['3, 2', '2, 3', 'Solve the problems in order. Find all x.', true],
    [
      '3, 2',
      '2, 3',
      'Q: Sort in ascending order: 2, 1\nA: 1, 2\n\nQ: Find the prime factors of 6.\nA:',
      true,
    ],
    ['\\{2, 3\\}', '2, 3', 'Give all solutions in ascending order.', true],
    ['x > 5', 'x < 5', 'Give all solutions in ascending order.', false],
    ['a > b > c', 'a < b < c', 'Rank them in increasing order.', false],
    ['A < C < B', 'A, C, B', 'Rank them in decreasing order.', false],
    ['A > C > B', 'A, C, B', 'Rank them in decreasing order.', true],
    ['y = 2, x = 1', 'x = 1, y = 2', 'Give x and y in order.', true],
    ['y = 1, x = 2', 'x = 1, y = 2', 'Give x and y in order.', false],
  ])('compares %j with %j for %j: %j', (given, expected, question, same) => {
    expect(agreeAsAsked(given, expected, question)).toBe(same);
  });
});
