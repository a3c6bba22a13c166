import { describe, expect, it } from 'vitest';
import { displayedLast, lastSide } from './last-side.ts';

describe('lastSide', () => {
  it.each([
    ['$x + 1 = 2 + 1 = 3.$', '3'],
    ['$n = 3$', '3'],
    ['$2x + 4 = 132$', '132'],
    ['$x^2 = 9$', '$x^2 = 9$'],
    ['$x - 2y + 1 = 0$', '$x - 2y + 1 = 0$'],
    ['$x = \\frac{1}{3} \\approx 0.33$', '\\frac{1}{3} \\approx 0.33'],
    ['$20 \\cdot 1.05^2 = 22.05 \\approx 22$', '22'],
    ['x=1orx=2', 'x=1orx=2'],
    ['$f(x) = x^2$', '$f(x) = x^2$'],
    ['$\\frac{1}{2} + \\sum_{k=1}^2 k = \\frac{7}{2}$', '\\frac{7}{2}'],
    ['$2x = 4 \\implies x = 2$', '2'],
    ['$11^2 \\equiv 121 \\equiv 1 \\pmod{4}$', '1'],
    ['$(A, B) = (1, 2).$', '$(A, B) = (1, 2)$'],
    ['$x = 1, y = 2 = z$', '$x = 1, y = 2 = z$'],
    ['$x = 1$ or $x = 2$', '$x = 1$ or $x = 2$'],
    ['a = 1 \\text{ and } b = 2', 'a = 1 \\text{ and } b = 2'],
    ['2 <= 3', '2 <= 3'],
    ['45', '45'],
  ])('of %j is %j', (formula, side) => {
    expect(lastSide(formula)).toBe(side);
  });
});

describe('displayedLast', () => {
  it.each([
    ['so\n\\begin{align*}\na &= 1 \\\\\n&= 2.\n\\end{align*}', '= 2.'],
    ['\\[\n\\begin{aligned}\na\\\\[2pt]\nb\n\\end{aligned}\n\\]', 'b'],
    ['$$1 + 1 = 2.$$', '1 + 1 = 2.'],
    ['a \\[b\\] c \\[d\\].', 'd'],
    ['\\[\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}\\]', undefined],
    ['so 3', undefined],
  ])('of %j is %j', (text, row) => {
    expect(displayedLast(text)).toBe(row);
  });
});
