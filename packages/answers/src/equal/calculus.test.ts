import { describe, expect, it } from 'vitest';
import { mathAnswersAgree } from './math-equivalence.ts';

describe('mathAnswersAgree of what is not worked out', () => {
  it.each([
    ['\\int_0^1 \\sqrt{1+t^4}\\,dt', '\\int_0^1\\sqrt{x^4+1}\\;\\mathrm{d}x'],
    ['\\int_0^1 dx\\,\\sqrt{1+x^4}', '\\int\\limits_{0}^{1} \\sqrt{1+x^4} dx'],
    ['\\int_0^\\infty \\frac{dx}{1+x^3}', '\\int_0^{\\infty}\\frac{1}{t^3+1}\\,dt'],
    ['\\int_0^1 2\\pi x e^x\\,dx', '2\\pi\\int_0^1 x e^x\\,dx'],
    ['\\int_0^1\\int_0^{u} uv\\,dv\\,du', '\\int_0^1\\int_0^{x} xy\\,dy\\,dx'],
    ['F(x)=\\int_0^x e^{-u^2}\\,du', '\\int_0^x e^{-t^2}\\,dt'],
    ['C + \\int\\frac{\\sin x}{x}dx', '\\int \\frac{\\sin x}{x}\\,dx + c'],
    ['\\int_0^1 (x + 1)\\,dx', '\\int_0^1 x\\,dx + 1'],
    ['\\int_0^2 x\\,dx', '\\int_0^1 4x\\,dx'],
    ['\\lim_{t \\rightarrow 0}\\frac{f(x+t)-f(x)}{t}', '\\lim_{h\\to 0}\\frac{f(x+h)-f(x)}{h}'],
    [
      '\\lim_{m\\to\\infty}\\left(1+\\frac{a}{m}\\right)^{m}',
      '\\lim_{n\\to\\infty}\\left(1+\\frac{a}{n}\\right)^n',
    ],
    [
      '\\frac{\\partial f}{\\partial y} + \\frac{\\partial f}{\\partial x}',
      '\\frac{\\partial f}{\\partial x} + \\frac{\\partial f}{\\partial y}',
    ],
    ['\\frac{d^{2}y}{dx^{2}}+y=0', 'y + \\frac{d^2y}{dx^2} = 0'],
    ['y^{\\prime\\prime} + 4y = 0', "y'' + 4y = 0"],
    ['\\frac{d}{dx}(x f(x))', '\\frac{d}{dx} (xf(x))'],
  ])('takes %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(true);
    expect(mathAnswersAgree(expected, given)).toBe(true);
  });

  it.each([
    ['\\int_0^1 \\sqrt{1+x^4}\\,dt', '\\int_0^1 \\sqrt{1+x^4}\\,dx'],
    ['\\int_1^0 \\sqrt{1+x^4}\\,dx', '\\int_0^1 \\sqrt{1+x^4}\\,dx'],
    ['\\int_0^2 \\sqrt{1+x^4}\\,dx', '\\int_0^1 \\sqrt{1+x^4}\\,dx'],
    ['\\sqrt{1+x^4}', '\\int_0^1 \\sqrt{1+x^4}\\,dx'],
    ['2\\pi\\int_0^1 x\\,dx \\int_0^1 e^x\\,dx', '2\\pi\\int_0^1 x e^x\\,dx'],
    ['2\\pi x\\int_0^1 e^x\\,dx', '2\\pi\\int_0^1 x e^x\\,dx'],
    ['\\int_0^1\\int_0^{x} xy\\,dx\\,dy', '\\int_0^1\\int_0^{x} xy\\,dy\\,dx'],
    ['\\int e^{-t^2}\\,dt', '\\int e^{-x^2}\\,dx'],
    ['\\int_0^1 x^2\\,dx', '\\frac{1}{2}'],
    ['\\lim_{x\\to 1}\\frac{g(x)-g(0)}{x}', '\\lim_{x\\to 0}\\frac{g(x)-g(0)}{x}'],
    ['\\lim_{x\\to 0^-} f(x)', '\\lim_{x\\to 0^+} f(x)'],
    ['\\frac{g(x)-g(0)}{x}', '\\lim_{x\\to 0}\\frac{g(x)-g(0)}{x}'],
    ['x\\frac{d}{dx} f(x)', '\\frac{d}{dx}(x f(x))'],
    ['\\frac{f(x)}{x}', '\\frac{d}{dx} f(x)'],
    ['\\frac{dx}{dy} = \\frac{x}{y}', '\\frac{dy}{dx} = \\frac{x}{y}'],
    ['\\frac{dy}{dx} + y = 0', '\\frac{d^2y}{dx^2} + y = 0'],
  ])('refuses %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(false);
    expect(mathAnswersAgree(expected, given)).toBe(false);
  });

  it('takes little time for integrals in integrals', () => {
    const begun = performance.now();
    for (const text of [
      `${'\\int_0^x '.repeat(60)}x${' dx'.repeat(60)}`,
      `${'\\int_0^{'.repeat(20)}x${'} x x x dx'.repeat(20)}`,
      `\\int_0^1 ${'(1+x)^9'.repeat(100)} dx`,
      '\\lim_{x\\to x x} '.repeat(50),
    ])
      expect(mathAnswersAgree(text, `${text}+1`)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(3000);
  });
});

it('does not lose a difference of 1 in values that are large at most points', () => {
  const text = '\\int_0^1 (1+x)^{900}\\,dx';
  const seeds = Array.from({ length: 100 }, (_, k) => `seed ${k}`);
  expect(seeds.filter((seed) => mathAnswersAgree(`${text}+1`, text, { seed }))).toEqual([]);
});

describe('mathAnswersAgree of sets by their conditions', () => {
  it.each([
    ['\\{x | x > 2\\}', '(2, \\infty)'],
    ['\\left\\{ t \\,\\middle|\\, t > 2 \\right\\}', '\\{x : x > 2\\}'],
    ['\\{x | |x| < 3\\}', '(-3, 3)'],
    ['\\{t \\in \\mathbb{R} : t\\ne 3\\}', '\\{x : x\\ne 3\\}'],
    ['\\mathbb{R} \\setminus \\{0, 1\\}', '\\{x \\in \\mathbb{R} : x \\ne 0, x \\ne 1\\}'],
    ['\\{n \\in \\mathbb{N} : n \\le 3, n \\ge 1\\}', '\\{1, 2, 3\\}'],
    ['-1 \\le n < 2, n \\in \\mathbb{Z}', '\\{-1, 0, 1\\}'],
  ])('takes %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(true);
    expect(mathAnswersAgree(expected, given)).toBe(true);
  });

  it.each([
    ['\\{x \\mid y > 2\\}', '(2, \\infty)'],
    ['\\{x \\in \\mathbb{Z} \\mid x > 2\\}', '(2, \\infty)'],
    ['\\{x \\mid 1 \\le x \\le 3\\}', '\\{1, 2, 3\\}'],
    ['\\{x \\in \\mathbb{N} | x < 2\\}', '\\{-1, 0, 1\\}'],
    ['\\{x \\in \\mathbb{Z} | 1 < x \\le 3\\}', '\\{1, 2, 3\\}'],
    ['y > 2', 'x > 2'],
  ])('refuses %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(false);
    expect(mathAnswersAgree(expected, given)).toBe(false);
  });
});
