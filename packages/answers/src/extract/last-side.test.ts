import { describe, expect, it } from 'vitest';
import { lastRow, lastSide } from './last-side.ts';

describe('lastSide', () => {
  it.each([
    ['$x + 1 = 2 + 1 = 3.$', '3'],
    ['$2 + 1 = 3$', '3'],
    ['$2x = 4 \\implies x = 2$', 'x = 2'],
    ['$11^2 \\equiv 121 \\equiv 1 \\pmod{4}$', '1'],
    ['$x = 2 + 1 \\approx 3.14$', '2 + 1 \\approx 3.14'],
    ['= 2x + 1', '2x + 1'],
    ['$n = 3$', '$n = 3$'],
    ['$x^2 = 9$', '$x^2 = 9$'],
    ['$7 = 11a + c$', '$7 = 11a + c$'],
    ['$x - 2y + 1 = 0$', '$x - 2y + 1 = 0$'],
    ['$f(x) = x^2$', '$f(x) = x^2$'],
    ['$(A, B) = (1, 2).$', '$(A, B) = (1, 2)$'],
    ['$17 = 18$', '$17 = 18$'],
    ['$17 \\implies 18$', '$17 \\implies 18$'],
    ['$x = 1, y = 2 = z$', '$x = 1, y = 2 = z$'],
    ['$x = 1$ or $x = 2$', '$x = 1$ or $x = 2$'],
    ['x=1orx=2', 'x=1orx=2'],
    ['a = 1 \\text{ and } b = 2', 'a = 1 \\text{ and } b = 2'],
    ['2 <= 3', '2 <= 3'],
    ['45', '45'],
  ])('of %j is %j', (formula, side) => {
    expect(lastSide(formula)).toBe(side);
  });
});

describe('lastRow', () => {
  it.each([
    ['\\begin{align*}\na &= 1 \\\\\n&= 2.\n\\end{align*}', '= 2.'],
    ['\\[\n\\begin{aligned}\na\\\\[2pt]\n= b\n\\end{aligned}\n\\]', '= b'],
    ['$$1 + 1 = 2.$$', '1 + 1 = 2.'],
    ['\\[d\\]', 'd'],
    ['\\[\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}\\]', '\\[\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}\\]'],
    ['\\begin{align*} 17 \\\\ 18 \\end{align*}', '\\begin{align*} 17 \\\\ 18 \\end{align*}'],
    ['$3$', '$3$'],
  ])('of %j is %j', (display, row) => {
    expect(lastRow(display)).toBe(row);
  });
});
