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
  ])('compares %j with %j for %j: %j', (given, expected, question, same) => {
    expect(agreeAsAsked(given, expected, question)).toBe(same);
  });
});
