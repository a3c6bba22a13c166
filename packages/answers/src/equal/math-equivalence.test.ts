import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mathAnswersAgree } from './math-equivalence.ts';

describe('mathAnswersAgree', () => {
  it.each([
    ['20 m/s, or 72 km/h', '20\\text{ m/s}'],
    ['18 dollars, i.e. $18.00', '18'],
    ['2 \\text{ hours, or } 120 \\text{ minutes}', '2 hours'],
    ['x \\equiv 3 \\pmod 7', '3 mod 7'],
    ['n ≡ 3 (mod 7)', '3 \\pmod{7}'],
    ['n \\equiv 3 \\mod 7', '3 (mod 7)'],
    ['from 80 to 60', '80 to 60'],
    ['0.6 repeating', '\\frac{2}{3}'],
    ['$2.3M', '2300000'],
    ['\\begin{cases} x=1\\\\ y=2\\end{cases}', '(1,2)'],
    ['\\text{all real numbers except } 3', '(-\\infty,3)\\cup(3,\\infty)'],
    ['\\frac{n!}{k!(n-k)!}', '\\binom{n}{k}'],
    ['2 moles of NaOH', '2 mol'],
    ['$\\frac12$', '\\frac{1}{2}'],
    ['0.5', '\\frac{1}{2}'],
    ['3/2', '1.5'],
    ['1\\frac{1}{2}', '\\frac{3}{2}'],
    ['1 1/2', '3/2'],
    ['10{,}000', '10000'],
    ['1,234,567.', '1234567'],
    ['1e3', '1000'],
    ['x = 5', '5'],
    ['x \\in [1, 2]', '[1,2]'],
    ['12\\text{ cm}^2', '12'],
    ['\\text{(A)}', 'a'],
    ['( 1 , \\frac12 )', '(1,0.5)'],
    ['\\{2, 1\\}', '\\{1,2\\}'],
    ['6\\text{ and }7', '6,7'],
    ['\\begin{pmatrix} 1 \\\\ 0.5 \\end{pmatrix}', '\\begin{pmatrix}1\\\\\\frac{1}{2}\\end{pmatrix}'],
    ['\\boxed{\\text{June 20}}', '\\text{June 20}'],
    ['\u22125', '-5'],
    ['70^\\circ', '70'],
    ['\\langle 2, -1 \\rangle', '(2,-1)'],
    ['\\binom{4}{-1}', '\\begin{pmatrix}4\\\\-1\\end{pmatrix}'],
    ['(1,2,3)', '\\begin{bmatrix}1\\\\2\\\\3\\end{bmatrix}'],
    ['{}_{6}C_2', '15'],
    ['^5P_2', '20'],
    ['21st', '21'],
    ['4^{\\text{th}}', '4'],
    ['forty-two', '42'],
    ['twelve hundred', '1200'],
    ['one half', '\\frac12'],
    ['three quarters', '0.75'],
    ['a dozen', '12'],
    ['half a dozen', '6'],
    ['two and a half', '2.5'],
    ['a hundred', '100'],
    ['minus five', '-5'],
    ['negative three quarters', '-0.75'],
    ['three point one four', '3.14'],
    ['three hundredths', '0.03'],
    ['1.234.567', '1234567'],
    ['1.234.567,5', '1234567.5'],
    ['\u0663\u066b\u0665', '3.5'],
    ['USD 300', '300'],
    ['\\approx 3.14', '3.14'],
    ['25 km/h', '25 kilometers per hour'],
    ['\\text{DNE}', 'does not exist'],
    ['two million one hundred and five thousand and six', '2105006'],
    ['x^2C_1', 'C_1x^2'],
    ['\\text{one hundred and five}', '105'],
    ['\\text{no real roots}', '\\emptyset'],
    ['there are no solutions', '\\{\\}'],
    ['11:05 a.m.', '11:05\\text{ AM}'],
    ['\\sin x + k', '\\sin x + C'],
    ['(C) 3.5', '\\frac72'],
    ['D. \\sqrt{12}', '2\\sqrt3'],
    ['{5 \\over 6}', '\\frac56'],
    ['\\log_5\\frac{1}{25}', '-2'],
    ['x^2\\frac12', '\\frac{x^2}{2}'],
    ['5--3', '8'],
    ['3\\,\\frac{\\mathrm{m}}{\\mathrm{s}^2}', '3\\text{ m/s}^2'],
    ['9.8 m/s^2', '9.8 meters per second squared'],
    ['12\\text{ sq. in.}', '12'],
    ['Rs. 500', '500'],
    ['20 US dollars', '\\$20'],
    ['fifteen percent', '15\\%'],
    ['three hours', '3\\text{ hr}'],
    ['8 \\pmod{12}', '8'],
    ['x \\equiv 8 \\pmod{12}', '8 (\\text{mod } 12)'],
    ["20^\\circ 15'", '20.25^\\circ'],
    ['4\\operatorname{cis} 180^\\circ', '-4'],
    ['3:4', '6:8'],
    ['9 to 15', '3:5'],
    ['\\angle CBA', '\\angle ABC'],
    ['0', '\\{0\\}'],
    ['q \\land p', 'p \\wedge q'],
    ['25\\%', '0.25'],
    ['\\lceil (n-1)/2 \\rceil', '\\lfloor n/2 \\rfloor'],
    ['-\\lceil -x \\rceil', '\\lfloor x \\rfloor'],
    ['3:4', '\\frac34'],
    ['2:30 PM', '14:30'],
    ['July 4th, 1776', '4 July 1776'],
    ['1776-07-04', '\\text{July 4, 1776}'],
    ['\u201cno way\u201d', 'no way'],
    ['The Pacific Ocean', 'Pacific Ocean'],
    ['infinitely many', '\\text{infinite solutions}'],
    ['x \\ne 2', '(-\\infty,2)\\cup(2,\\infty)'],
    ['\\mathbb{R}-\\{3,-1\\}', '(-\\infty,-1)\\cup(-1,3)\\cup(3,\\infty)'],
    ['all real numbers except 2', 'x \\ne 2'],
    ['the interval (1,2)', '(1,2)'],
    ['\\frac12\\begin{pmatrix}2&0\\\\0&4\\end{pmatrix}', '\\begin{bmatrix}1&0\\\\0&2\\end{bmatrix}'],
    ['\\left(\\begin{array}{cc}1&2\\end{array}\\right)', '\\begin{pmatrix}1&2\\end{pmatrix}'],
    ['\\langle 1,2\\rangle + t\\langle 3,4\\rangle', '\\langle 1+3t,2+4t\\rangle'],
    ['2\\mathbf{i}-3\\mathbf{j}+\\mathbf{k}', '(2,-3,1)'],
    ['x = \\frac13 \\approx 0.33', '\\frac13'],
    ['x \\approx 11', '11'],
    ['3,14', '3.14'],
    ['32,\\! 349', '32349'],
    ['7:32', 'S_1:S = 7:32'],
    ['12:00', '$12{:}00$'],
    ['-x > -1', 'x < 1'],
    ['x != 3', 'x \\neq 3'],
    ['1-\\frac{1}{\\mathrm{e}}', '1-e^{-1}'],
    ['0 < f(x) < 1', '(0,1)'],
    ['0.1666...', '\\frac16'],
    ['0.1(6)', '\\frac16'],
    ['x=2 \\text{ or } x>5', '\\{2\\}\\cup(5,\\infty)'],
    ['\\log_2(x^3)', '3\\log_2 x'],
    ['Answer: D', 'D'],
    ['[C]', 'C'],
    ['98.6^\\circ F', '98.6^{\\circ}\\text{F}'],
    ['\\sum_{i=1}^n i', '\\sum_{i=1}^{n} i'],
    ['\u221b27', '3'],
    ['340\\ \\mathrm{m\\,s^{-1}}', '340 m/s'],
    ['25\\ \\text{N}\\cdot\\text{m}', '25\\text{ N m}'],
    ['about 40 mph', '40 mph'],
    ['0.\\dot{3}', '\\frac13'],
    ['0.\\dot{1}4285\\dot{7}', '\\frac17'],
    ['5 out of 8', '\\frac58'],
    ['1 in 4', '0.25'],
    ['**C**', 'C'],
    ['2*x**3/3', '\\frac{2x^3}{3}'],
    ['asin(x)', '\\arcsin x'],
    ['an isosceles triangle', '\\text{isosceles triangle}'],
    ['17', '\\textbf{(D)}\\ 17'],
    ['12', 'B. 12'],
    ['\\frac{1}{2}', '\\text{(E) }\\frac12'],
    ['mitochondria', '(B) mitochondria'],
    ['12 square centimeters', '12\\text{ cm}^2'],

    ['9.8\\frac{\\text{m}}{\\text{s}^2}', '9.8\\text{ m s}^{-2}'],
    ['\\frac{6}{8} = \\frac{3}{4}', '0.75'],
    ['Bob and Alice', '\\text{Alice, Bob}'],
    ['\\text{A and C}', 'A, C'],
    ['x=3, y=4', '(3,4)'],
    ['y=4, x=3', '(3,4)'],
    ['\\begin{aligned} x &= 3 \\\\ y &= 4 \\end{aligned}', '(3,4)'],
    ['\\begin{aligned} x &= 3 + 4 \\\\ &= 7 \\end{aligned}', '7'],
    ['\\sqrt2 \\approx 1.41', '1.41'],
    ['1.41 (to 3 significant figures)', '1.41'],
    ['a + b = 7', '7'],
    ['xy = 7', '7'],
    ['x/y = 7', '7'],
    ['4500 m', '4.5 \\times 10^3'],
    ['0.5 m', '\\frac12'],
    ['Tuesday, 14 March 2023', '2023-03-14'],
    ['no such integers exist', '\\emptyset'],
    ['AB = 5', '5'],
    ['P(2) = 5', '5'],
    ['\\{2k : k \\in \\mathbb{Z}\\}', '\\{2n \\mid n \\in \\mathbb{Z}\\}'],
    ['2k\\pi, k \\in \\mathbb{Z}', '2\\pi n, n \\in \\mathbb{Z}'],
    ['f(t) = t^2', 'f(x) = x^2'],
    ['[0,3] \\setminus \\{0,1\\}', '(0,1) \\cup (1,3]'],
    ['[[1,2],[3,4]]', '\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}'],
    ['2500!', '2500 \\cdot 2499!'],
    ['12 V', '12'],
    ['12 kJ', '12'],
    ['3 R 1', '3 remainder 1'],
    ['3.0 x 10^8', '300000000'],
    ['M(1,2)', '(1,2)'],
    ['x \\ne 1, x \\ne -1', '\\mathbb{R} \\setminus \\{-1, 1\\}'],
    ['noon', '12:00 PM'],
    ['\\log_5 125', '3'],
    ['37^\\circ\\text{C}', '37 degrees Celsius'],
    ['n! \\text{ ways}', 'n!'],
    ['2 hours 30 minutes', '2.5 \\text{ h}'],
    ['5 dollars and 50 cents', '$5.50'],
    ['3 \\text{ kWh}', '3 \\text{ kW h}'],
    ['1011_2', '11'],
    ['x \\equiv -1 \\pmod 4', 'x \\equiv 3 \\pmod 4'],
    ['x > 1 and x < 3', '(1,3)'],
    ['|x-2| < 3', '(-1,5)'],
    ['(0,\\infty)', '\\mathbb{R}^+'],
    ['\\{x \\in \\mathbb{R} : x > 2\\}', 'x > 2'],
    ['k\\pi \\text{ for any integer } k', 'n\\pi'],
    ['\\mathrm{H_2O}', 'H2O'],
    ['2H_2 + O_2 \\rightarrow 2H_2O', '\\ce{O2 + 2H2 -> 2H2O}'],
    ['€12,50', '12.50 euros'],
    ['1.234,56', '1234.56'],
    ['\\begin{cases} x & x \\ge 0 \\\\ -x & x < 0 \\end{cases}', '|x|'],
    [
      '\\begin{cases} x^2, & \\text{if } x > 1, \\\\ 1, & \\text{otherwise} \\end{cases}',
      'f(x) = \\begin{cases} 1 & x \\le 1 \\\\ x^2 & x > 1 \\end{cases}',
    ],
    ['4 r^2 \\pi', '4\\pi r^2'],
    ['\\sin x', '\\sin(x)'],
    ['\\ln(x)+C', '\\ln x+C'],
    ['x(\\ln x-1)', 'x\\ln x-x'],
    ['2\\sin x\\cos x', '\\sin 2x'],
    ['\\frac{(n+1)!}{n!}', 'n+1'],
    ['\\binom{n}{2}', 'n(n-1)/2'],
    ['\\log_2 8', '3'],
    ['0.\\overline{6}', '\\frac{2}{3}'],
    ['x > 2', '(2,\\infty)'],
    ['x<-2 \\text{ or } x>2', '(2,\\infty)\\cup(-\\infty,-2)'],
    ['\\mathbb{R}\\setminus\\{3\\}', '(3,\\infty)\\cup(-\\infty,3)'],
    ['3, 1, 2', '\\{1,2,3\\}'],
    ['{1} \u222a {2}', '\\{1,2\\}'],
    ['\\{0,\\pm 2\\}', '-2,0,2'],
    ['6x - 2y = 4', 'y = 3x-2'],
    ['2x+1 > y', 'y < 1+2x'],
    ["f'(x) = 2x", '2x'],
    ['x = 2 + 3 = 5', '5'],
    ['5 m', '5\\text{ m}'],
    ['60 miles per hour', '60\\text{ mph}'],
    ['\\$1{,}200', '1200 dollars'],
    ['3 million', '3{,}000{,}000'],
    ['50', '50\\%'],
    ['0.5', '50\\%'],
    ['50\\%', '50'],
    ['2\u221a5 x\u00b2', '\\sqrt{20}x^2'],
    ['2\u00bd', '\\frac{5}{2}'],
    ['\uff13\uff0e\uff15', '3.5'],
    ['\u0664\u0662', '42'],
    ['-inf', '-\\infty'],
    ['|x| < 2', '(-2,2)'],
    ['|x| \\ge 2', '(-\\infty,-2]\\cup[2,\\infty)'],
    ['\\{x \\mid x > 2\\}', '(2,\\infty)'],
    ['(-1)^n', '\\cos(n\\pi)'],
    ['\u00b9\u2044\u2082', '0.5'],
    ["1'234", '1234'],
    ['$5', '5 dollars'],
    ['B. 42', '\\text{(B)}'],
    ['The answer is B', 'B'],
  ])('takes %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(true);
  });

  it.each([
    ['\\frac{26}{12}', '\\frac{13}{6}'],
    ['\\frac{128}{2}', '64'],
    ['2 + 2', '4'],
  ])('takes %j for %j, unless the form counts', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(true);
    expect(mathAnswersAgree(given, expected, { form: 'simplified' })).toBe(false);
  });

  it('takes simplified numbers where the form counts', () => {
    for (const given of ['13/6', '2\\frac{1}{6}', '\\frac{13}{6}']) {
      expect(mathAnswersAgree(given, '\\frac{13}{6}', { form: 'simplified' })).toBe(true);
    }
  });

  it('asks a further opinion about what would be wrong, and survives its errors', () => {
    const asked: string[] = [];
    const equivalence = (given: string, expected: string) => {
      asked.push(`${given} for ${expected}`);
      if (given === 'bad') throw new Error('fault');
      return true;
    };
    const verdicts = ['1', 'good', 'bad'].map((given) => mathAnswersAgree(given, '1', { equivalence }));
    expect(verdicts).toEqual([true, true, false]);
    expect(asked).toEqual(['good for 1', 'bad for 1']);
  });

  it('is reflexive and symmetric on numbers, and exact', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 999 }),
        fc.integer({ min: 1, max: 9 }),
        (n, d, k) => {
          const plain = `${n}/${d}`;
          const latex = `\\frac{${n * k}}{${d * k}}`;
          expect(mathAnswersAgree(plain, latex)).toBe(true);
          expect(mathAnswersAgree(latex, plain)).toBe(true);
          expect(mathAnswersAgree(plain, `${n + 1}/${d}`)).toBe(false);
        },
      ),
    );
  });

  it('does not depend on the points where a difference has few digits', () => {
    for (let index = 0; index < 500; index++) {
      const options = { seed: String(index) };
      expect(mathAnswersAgree('\\frac{1+\\cos 2x}{2}', '\\cos^2 x', options)).toBe(true);
    }
  });

  it('reads white space and words in linear time', () => {
    const begun = process.cpuUsage().user;
    for (const given of [
      `0.${'1'.repeat(990)}`,
      `a${' '.repeat(990)}!`,
      `\\text{${'a '.repeat(450)}!`,
      `A.${' '.repeat(900)}`,
      '(a) '.repeat(240),
      '1,2,'.repeat(240),
      ' for'.repeat(240),
    ]) {
      expect(mathAnswersAgree(given, '5')).toBe(false);
    }
    expect(process.cpuUsage().user - begun).toBeLessThan(250_000);
  });
});
