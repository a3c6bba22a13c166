import { describe, expect, it } from 'vitest';
import { mathAnswersAgree } from './math-equivalence.ts';

/** Two answers, and whether they are the same. */
type Case = readonly [given: string, expected: string, same: boolean];

const discrete: readonly Case[] = [
  ['q ∧ ¬p', '\\lnot p\\land q', true],
  ['¬(p ∨ ¬q)', '\\lnot p\\land q', true],
  ['¬p ∨ q', '\\lnot p\\land q', false],
  ['p ∧ q ∨ r', 'p ∧ (q ∨ r)', false],
  ['B ∩ A', 'A\\cap B', true],
  ['A ∪ B', 'A\\cap B', false],
  ["A' ∩ B'", '(A\\cup B)^c', true],
  ['A ∖ B', 'B\\setminus A', false],
  ['¬q → ¬p', '\\lnot q\\to\\lnot p', true],
  // True with it, but not the contrapositive.
  ['p → q', '\\lnot q\\to\\lnot p', false],
  ['∃x ¬P(x)', '\\exists x\\, \\lnot P(x)', true],
  ['n!', 'n!', true],
  ['(3 2 1)', '(1 3 2)', true],
  ['(1 2 3)', '(1 3 2)', false],
  ['(4 3)(2 1)', '(1 2)(3 4)', true],
  ['14.07.1789', '14 July 1789', true],
  ['14. Juli 1789', '14 July 1789', true],
  ['le 14 juillet 1789', 'July 14, 1789', true],
  ['14 de julio de 1789', '1789-07-14', true],
  ['14.06.1789', '14 July 1789', false],
  ['y(x) = Ce^{-x}', 'y = Ce^{-x}', true],
  ['y(x) = Ce^{x}', 'y = Ce^{-x}', false],
  ['true', 'Yes', true],
  ['false', 'Yes', false],
  ['\\frac{\\pi}{4} rad', '\\frac{\\pi}{4}', true],
];

const families: readonly Case[] = [
  ['n=7k+3, k\\in\\mathbb{Z}', 'n\\equiv 3\\pmod 7', true],
  ['n=7k-4', 'n \\equiv 3 \\pmod 7', true],
  ['7k+2', '3 \\pmod 7', false],
  ['3', '3 \\pmod 7', true],
  ['3 \\pmod{14}', '3 \\pmod 7', false],
  ['7k-4, k \\in \\mathbb{Z}', '7k+3, k \\in \\mathbb{Z}', true],
  ['14k+3, k \\in \\mathbb{Z}', '7k+3, k \\in \\mathbb{Z}', false],
  ['7k-4, k \\in \\mathbb{Z}, k \\ge 0', '7k+3, k \\in \\mathbb{Z}, k \\ge 0', false],
  ['x=\\frac{\\pi}{6}+2n\\pi', 'x=\\frac{\\pi}{6}+2k\\pi', true],
  ['x=-\\frac{3\\pi}{4}+k\\pi', 'x=\\frac{\\pi}{4}+k\\pi', true],
  ['x=-\\frac{\\pi}{4}+n\\pi', 'x=\\frac{\\pi}{4}+k\\pi', false],
  [
    'x=k\\pi \\text{ or } x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}',
    'x=\\frac{\\pi}{4}+n\\pi, x=n\\pi, n\\in\\mathbb{Z}',
    true,
  ],
  ['x=k\\pi', 'x=\\frac{\\pi}{4}+n\\pi, x=n\\pi, n\\in\\mathbb{Z}', false],
  ['(k, k+1), k \\in \\mathbb{Z}', '(k+1, k+1), k \\in \\mathbb{Z}', false],
  ['x = k, y = k+1, k \\in \\mathbb{Z}', 'x = k+1, y = k+1, k \\in \\mathbb{Z}', false],
  ['\\{(k, k+1) : k \\in \\mathbb{Z}\\}', '\\{(k+1, k+1) : k \\in \\mathbb{Z}\\}', false],
  ['a_n = 2n+1, n \\in \\mathbb{Z}', 'a_n = 2n-1, n \\in \\mathbb{Z}', false],
  // A function of n, not a family.
  ['A=(n+1)\\pi', 'A=n\\pi', false],
  ['m = 3k+4, k \\in \\mathbb{Z}', 'm = 3n+1', false],
  ['\\{x \\mid x=2k, k\\in\\mathbb{Z}\\}', '\\{2m : m\\in\\mathbb{Z}\\}', true],
  ['\\{x \\mid x=2k, k\\in\\mathbb{N}\\}', '\\{2m : m\\in\\mathbb{Z}\\}', false],
  ['\\{x\\in\\mathbb{Z} \\mid x=k/2, k\\in\\mathbb{Z}\\}', '\\{m/2 : m\\in\\mathbb{Z}\\}', false],
  ['\\{(a,b) \\mid a^2+2b^2\\le 1\\}', '\\{(x,y)\\in\\mathbb{R}^2 \\mid x^2+2y^2\\le 1\\}', true],
  ['\\{(y,x) \\mid x^2+2y^2\\le 1\\}', '\\{(x,y) \\mid x^2+2y^2\\le 1\\}', false],
  ['\\{(x,y)\\in\\mathbb{Z}^2 \\mid x<y\\}', '\\{(x,y) \\mid x<y\\}', false],
  ['(1+2t, 3-t)', '(1+2s, 3-s)', true],
  ['\\begin{pmatrix}s+2t\\\\t\\end{pmatrix}', '(v+2u, u)', true],
  ['(s+2t, t)', '(v+2u, v)', false],
  ['x=3\\cos t, y=2\\sin t', 'x=3\\cos\\theta, y=2\\sin\\theta', true],
  ['x=3\\cos t, y=2\\sin t', 'x=2\\cos\\theta, y=3\\sin\\theta', false],
  ['(1,2)-s(3,4)', '(1,2)+t(-3,-4)', true],
  ['\\vec r = (1,2)+s(3,4)', '\\vec r = (1,2)+t(3,4)', true],
  ['(1,2)+s(3,5)', '(1,2)+t(3,4)', false],
  ["y'' + y = 0", '\\frac{d^2y}{dx^2} + y = 0', true],
  ["y' = x", '\\frac{d^2y}{dx^2} = x', false],
  ["z' = x", '\\frac{dy}{dx} = x', false],
  // Letters of the problem, and letters alone.
  ['(a, 2a)', '(b, 2b)', false],
  ['(t, s)', '(u, v)', false],
];

/** Values that are the same in units of other sizes. */
const otherUnits = [
  ['120 minutes', '2 hours'],
  ['90 min', '1 h 30 min'],
  ['75 cents', '\\$0.75'],
  ['36 km/h', '10 m/s'],
  ['5 \\times 10^{-6} F', '5 μF'],
  ['0.75 hectares', '7500 m^2'],
] as const;

const measures: readonly Case[] = [
  ['5 N m', '5 J', true],
  ['5 \\frac{\\text{W}}{\\text{m}^2\\text{K}}', '5 W/(m^2 K)', true],
  ['8.3 \\frac{mol K}{J}', '8.3 J/(mol·K)', false],
  ['3:45 pm', '3:45', true],
  ['3:45', '15:45', false],
  ['7:15', '14:30', false],
  ['3:45 am', '3:45 pm', false],
  ['about 42', '42', true],
  ['\\approx 3.14', '3.14', true],
  ['\\approx \\frac12', '\\frac12', false],
  ['about 1/2', '1/2', false],
  ['exactly \\frac12', '\\frac12', true],
  ['(0,1)^T', '\\begin{pmatrix}1\\\\0\\end{pmatrix}', false],
  ['(x+1)^T', '(1+x)^T', true],
  ['Maria won the race', 'Maria', true],
  ['Maria lost the race', 'Maria', false],
  ['B. Not A: it is too small.', 'B', true],
  ...(
    [
      ['the fifth day', '5 days'],
      ['third place', '3'],
      ['2\\frac{mg}{L}', '2'],
      ['2\\frac{Gm}{s}', '2'],
      ['g(1,2)^T', 'g(1,2)'],
      ['(2,3)^T', '2<x<3'],
      ['x^2+3+c', 'x^2+c'],
      ['x^2+3+C', 'x^2+C'],
      ['3:45', '15:45'],
    ] as const
  ).map(([given, expected]): Case => [given, expected, false]),
  ...(
    [
      ['3:45', '03:45'],
      ['3\\frac{Nm}{A}', '\\frac{3Nm}{A}'],
      ['\\approx \\frac{1}{3} \\approx 0.33', '1/3'],
      ['about 3/4 cup', '3/4 cup'],
      ['2 y 3', '6y'],
    ] as const
  ).map(([given, expected]): Case => [given, expected, true]),
  ['12 degrees 30 minutes', "12°30'", true],
  ['28, 42 et 56', '28, 42, 56', true],
  ['-\\frac14\\cos 2x+C', '\\frac{\\sin^2 x}{2}+C', true],
  ['\\frac14\\cos 2x+C', '\\frac{\\sin^2 x}{2}+C', false],
  ['6\\mathbf{i}+\\mathbf{j}', '[6, 1]', true],
  ['2160 cents, that is \\$21.60', '\\$21.60', true],
  ['2160 cents, that is \\$20.60', '\\$20.60', false],
  ['(x+1)^2 - 2x = x^2 + 1', 'x^2+1', true],
  ['(x+1)^2 - 3x = x^2 + 1', 'x^2+1', false],
  ['B. Not A: it is too small.', 'A', false],
  ['A. Not sure. B: it is large.', 'A', false],
  ['2 L', '2\\text{ dm}^3', true],
  ['90 kph', '90 km/h', true],
  ['1.5 h', '1 h 30 min', true],
  ['90 minutes, or 1.5 hours', '1.5 h', true],
  ['300,000 m, or 300 km', '300 km', true],
  ['300,000 m, or 30 km', '300 km', false],
  ['212^\\circ\\text{F}', '100^\\circ\\text{C}', false],
  ['\\frac{\\pi}{3} \\text{ rad}', '60^\\circ', false],
  ['100 °C', '100 K', false],
  ['half past three', '3:30', true],
  ['quarter to one', '12:45', true],
  ["six o'clock", '6:00', true],
  ['quarter to four', '4:15', false],
  ['one to five', '1:5', false],
  ['120k', '120000', true],
  ['$1.5k', '1500', true],
  ['120k', '120', false],
  ['4000', '4k', false],
  ['5 K', '5000', false],
  ['12,34,567', '1234567', true],
  ['12,34,567', '12, 34, 567', true],
  ['7 (seven)', '7', true],
  ['7 (eight)', '7', false],
  ['B, not A', 'B', true],
  ['B, not A', 'A', false],
];

const values: readonly Case[] = [
  ['\\sum_{k=1}^{10} k', '55', true],
  ['\\sum_{k=1}^{n}k^2', '\\sum_{i=0}^{n}i^2', true],
  ['\\sum_{k=1}^{n-1}k', '\\frac{n(n+1)}{2}', false],
  ['2^n', '\\sum_{k=0}^n \\binom{n}{k}', true],
  ['\\prod_{k=1}^n k', 'n!', true],
  ['\\sum_{i=1}^{3}\\sum_{j=1}^{3} j', '18', false],
  ['\\gcd(12,18)', '6', true],
  ['\\operatorname{lcm}(4,6)', '24', false],
  ['\\max\\{3,5\\}', '5', true],
  ['C(8,3)', '56', true],
  ['P(10,3)', '120', false],
  ['\\overline{3+4i}', '3-4i', true],
  ['\\overline{x}', 'x', false],
  ['1011_{\\text{two}}', '1011_2', true],
  ['1F_{16}', '31', true],
  ['31', '1F_{16}', false],
  ['y=C_1e^x+C_2e^{-x}', 'y=Ae^x+Be^{-x}', true],
  ['Ce^{-2x}', 'Ae^{2x}', false],
  ['x+A', 'x+B', false],
  ['2:3:4', '4:6:8', true],
  ['2:4:3', '4:6:8', false],
  ['x \\ge -1, x \\ne 0', '[-1,0)\\cup(0,\\infty)', true],
  ['x \\ge -1, y \\ne 0', '[-1,0)\\cup(0,\\infty)', false],
];

/** Labelled parts, lists that leave numbers out, systems, and what holds for all n. */
const parts: readonly Case[] = [
  ['\\{1,2,\\ldots,10\\}', '\\{1,2,3,4,5,6,7,8,9,10\\}', true],
  ['1, 3, 5, \\dots, 9', '1,3,5,7,9', true],
  ['1, 3, 5, \\dots, 9', '1,3,5,7,9,11', false],
  ['1, 3, 5, \\dots', '1,3,5,7,9', false],
  ['1, 3, 5, \\dots', '1,3,\\ldots', true],
  ['\\{1,2,3,\\ldots,n\\}', '\\{1,2,\\ldots,n\\}', true],
  ['\\{1,2,3,\\ldots,n\\}', '\\{1,2,\\ldots,n-1\\}', false],
  ['\\{1,2,\\ldots,1000000\\}', '\\{1,2,\\ldots,1000001\\}', false],
  ['\\{1,2,4,\\ldots,64\\}', '\\{1,2,4,8,16,32,64\\}', false],
  ['10, 9, \\ldots, 1', '1,2,\\ldots,10', true],
  ['2, 4, ..., 100', '2, 4, 6, ..., 100', true],
  ['...', '0', false],
  ['1, 2, ...', '1, 2', false],
  ['f(x)=cx, \\text{ where } c \\text{ is any real constant}', 'f(x)=kx', true],
  ['(a) 3, (b) 5', '3, 5', true],
  ['(a) 5, (b) 3', '3, 5', false],
  ['3, 5', '(a) 3 (b) 5', true],
  ['3 and 5', '(i) 3; (ii) 5', true],
  ['(i) 3 (ii) 5', '(a) 3 (b) 5', true],
  ['(b) 5 (a) 3', '(a) 3 (b) 5', true],
  ['(a) 5 (b) 3', '(a) 3 (b) 5', false],
  ['(a) 3 (b) 5 (c) 7', '(a) 3 (b) 5', false],
  ['(a) 3', '(a) 3 (b) 5', false],
  ['3', '(a) 3 (b) 5', false],
  ['(a) 3 (b) 5', '3', false],
  ['(a) \\frac12, (b) 3\\text{ cm}', '(a) 0.5; (b) 3 cm', true],
  ['Bob: 12, Alice: 8', 'Bob: 8, Alice: 12', false],
  ['min 5, max -3', 'maximum: 5, minimum: -3', false],
  ['5, -3', 'maximum: 5, minimum: -3', true],
  ['-3, 5', 'maximum: 5, minimum: -3', false],
  ['Part (a): 3, Part (b): 5', '(a) 3 (b) 5', true],
  ['a. 3, b. 5', '(a) 3 (b) 5', true],
  ['a. 5 b. 3', '(a) 3 (b) 5', false],
  ['(1) 2', '2', true],
  ['a) yes b) no', '(a) Yes (b) No', true],
  ['(1,2), (3,4)', '(3,4),(1,2)', true],
  ['boys:girls = 3:2', '3:2', true],
  ['\\begin{cases} x &= 2 \\\\ y &= 3\\end{cases}', '(2,3)', true],
  ['\\left\\{\\begin{array}{rl} x &= 2 \\\\ y &= 3\\end{array}\\right.', 'x=3, y=2', false],
  ['f(n)=n \\text{ for all } n', 'f(n)=n', true],
  ['f(n)=n+1 \\text{ for all } n', 'f(n)=n', false],
  ['4k+1 \\text{ for } k \\in \\mathbb{Z}', 'n \\equiv 1 \\pmod 4', true],
  ['4k+1, \\text{ where } k \\in \\mathbb{Z}', '4n-3, n \\in \\mathbb{Z}', true],
  ['x = 2k\\pi \\text{ for any integer } k', 'x=2n\\pi, n\\in\\mathbb{Z}', true],
  ['x = 2k\\pi, \\text{ where } k \\text{ is an integer}', 'x=2n\\pi, n\\in\\mathbb{Z}', true],
  ['x = 2k\\pi, \\text{ where } k \\text{ is a real number}', 'x=2n\\pi, n\\in\\mathbb{Z}', false],
  ['n \\text{ is odd}', '\\text{odd } n', true],
  ['\\text{all odd } n', 'n \\text{ odd}', true],
  ['all odd n', 'n is odd', true],
  ['n \\text{ is even}', '\\text{odd } n', false],
  ['n \\text{ is odd}', 'm \\text{ is odd}', false],
  ['Bob wins', 'Bob', true],
  ['\\text{Alice has a winning strategy}', '\\text{Bob}', false],
  ['The second player wins', '\\text{the second player}', true],
];

describe('mathAnswersAgree', () => {
  it.each([...discrete, ...families, ...measures, ...values, ...parts])(
    '%j for %j: %j',
    (given, expected, same) => {
      expect(mathAnswersAgree(given, expected)).toBe(same);
    },
  );

  it.each(otherUnits)('takes %j for %j only if units are converted', (given, expected) => {
    for (const [a, b] of [[given, expected] as const, [expected, given] as const]) {
      expect(mathAnswersAgree(a, b)).toBe(false);
      expect(mathAnswersAgree(a, b, { units: 'converted' })).toBe(true);
    }
  });

  it('takes little time for sums of sums', () => {
    const begin = performance.now();
    const sums = (term: string) => Array(20).fill(`\\prod_{k=1}^{n}(${term}+1/n)`).join('+');
    expect(mathAnswersAgree(sums('k'), sums('k+0'))).toBe(true);
    expect(performance.now() - begin).toBeLessThan(5000);
  });
});

it("takes y' for a derivative by x, or by a variable of the answers", () => {
  expect(mathAnswersAgree("y' = x", '\\frac{dy}{dt} = x')).toBe(false);
  expect(mathAnswersAgree("y' = t", '\\frac{dy}{dt} = t')).toBe(true);
});
