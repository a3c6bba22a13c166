import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RewardFunction } from '@rlp/core';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { symbolicEquivalence } from '../../math.ts';
import { answering } from '../../trajectories.fixture.ts';
import { finalAnswer } from './final-answer.ts';
import { gsm8kAnswer, mathAnswer } from './math-answer.ts';
import { type MathEquivalence, mathAnswersAgree } from './math-equivalence.ts';

function judge(reward: RewardFunction<{ answer: string }>, response: string, answer: string): unknown {
  return reward(answering(response, { answer }), { signal: new AbortController().signal });
}

let equivalence: MathEquivalence;
beforeAll(async () => {
  equivalence = await symbolicEquivalence();
});

describe('mathAnswersAgree', () => {
  it.each([
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
  ])('takes %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(true);
  });

  it.each([
    ['0.333', '\\frac{1}{3}'],
    ['\\frac{26}{12}', '\\frac{13}{6}'],
    ['\\frac{128}{2}', '64'],
    ['[0,1)', '(0,1)'],
    ['3,1,2', '1,2,3'],
    ['1,2', '1,2,3'],
    ['100_8', '100'],
    ['-5', '5'],
    ['', '5'],
    ['5', ''],
    ['1/0', '1/0.0'],
    ['\\begin{pmatrix}1&2\\end{pmatrix}', '\\begin{pmatrix}1\\\\2\\end{pmatrix}'],
    ['apple', 'apples'],
  ])('does not take %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected)).toBe(false);
  });

  it('accepts any form where told to', () => {
    expect(mathAnswersAgree('\\frac{128}{2}', '64', { form: 'any' })).toBe(true);
    expect(mathAnswersAgree('\\frac{26}{12}', '\\frac{13}{6}', { form: 'any' })).toBe(true);
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
          expect(mathAnswersAgree(plain, latex, { form: 'any' })).toBe(true);
          expect(mathAnswersAgree(latex, plain, { form: 'any' })).toBe(true);
          expect(mathAnswersAgree(plain, `${n + 1}/${d}`, { form: 'any' })).toBe(false);
        },
      ),
    );
  });
});

describe('symbolicEquivalence', () => {
  it.each([
    ['x^2+2x', 'x(x+2)'],
    ['2\\sqrt{3}', '\\sqrt{12}'],
    ['\\frac{1}{\\sqrt2}', '\\frac{\\sqrt{2}}{2}'],
    ['3 + 4i', '4i+3'],
    ['(1+i)^2', '2i'],
    ['\\sin^2 x + \\cos^2 x', '1.0'],
    ['y = 2x + 3', '2x = y - 3'],
    ['2|x|', '|2x|'],
    ['x^{-2}', '1/x^2'],
    ['\\sqrt[3]{x^3y}', '\\sqrt[3]{y x^3}'],
    ['3 \\pm 2\\sqrt2', '3+\\sqrt{8}, 3-\\sqrt{8}'],
  ])('takes %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected, { equivalence })).toBe(true);
  });

  it.each([
    ['\\sqrt{x^2}', 'x'],
    ['x^2', 'x^3'],
    ['10^{10^{10}}', '10^{10^{11}}'],
    ['import("fs")', '1.5'],
    ['x+y=1', 'x+y'],
    ['\\log_2 8', '3.0'],
    ['2 + 2', '4'],
  ])('does not take %j for %j', (given, expected) => {
    expect(mathAnswersAgree(given, expected, { equivalence })).toBe(false);
  });

  it('is bounded in time on hostile expressions', () => {
    const hostile = [
      '(',
      '!',
      '9^',
      '\\frac',
      '|',
      'x',
      '-',
      '\\sqrt',
      '{',
      '9!',
      '\\sin',
      'sqrt(',
      '1/',
      'e^',
    ];
    const begun = performance.now();
    for (const unit of hostile) {
      for (const length of [24, 400, 2000, 100_000]) {
        const text = unit.repeat(Math.ceil(length / unit.length));
        for (const given of [text, `${text}1`, `1${text}`, `${text}1${')'.repeat(24)}`]) {
          expect(typeof mathAnswersAgree(given, 'x+1', { equivalence, form: 'any' })).toBe('boolean');
        }
      }
    }
    for (const given of [
      '10^10^10',
      '(10^{10})^{10^{10}}',
      '170!!',
      '9999999!',
      '9999999999!+x',
      'a+b+c+d+f+g',
    ]) {
      expect(mathAnswersAgree(given, 'x+1', { equivalence, form: 'any' })).toBe(false);
    }
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('never throws, and takes no expression for one a hundred larger', () => {
    const piece = fc.constantFrom(
      'x',
      'y',
      '2',
      '+',
      '-',
      '*',
      '/',
      '^',
      '(',
      ')',
      '\\frac{1}{2}',
      '\\sqrt',
      '{',
      '}',
      '|',
      '!',
      '=',
      ',',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        equivalence(text, 'x');
        // Beside 22! or 2^{99} a hundred is within the tolerance.
        expect(equivalence(text, `${text}+100`) && !/[!^]/.test(text)).toBe(false);
      }),
    );
  });
});

const shared = process.env.RLP_SHARED ?? resolve(import.meta.dirname, '../../../../../shared');
const pairs = join(shared, 'conformance/math_answers.json');

describe.skipIf(!existsSync(pairs))(
  existsSync(pairs) ? 'published graders' : `skipped: no file ${pairs}`,
  () => {
    it('accept nothing that we refuse, and refuse seven right answers that we accept', () => {
      const { cases } = JSON.parse(readFileSync(pairs, 'utf8'));
      const more: string[] = [];
      for (const { fn, inputs, expected } of cases) {
        if (fn !== 'equiv') continue;
        const isAccepted = expected.hendrycks || expected.prm800k;
        const verdict = mathAnswersAgree(inputs.given, inputs.gold, { equivalence });
        if (isAccepted) expect([inputs, verdict]).toEqual([inputs, true]);
        else if (verdict) more.push(`${inputs.given} for ${inputs.gold}`);
      }
      expect(more).toEqual([
        '4.5. for 4.5',
        '8 \\pi. for 8 \\pi',
        '(-\\infty, 2) \\cup (3, \\infty). for (-\\infty, 2) \\cup (3, \\infty)',
        '\\dfrac{17}{50}. for \\dfrac{17}{50}',
        '\\mbox{5} for 5',
        'k=-\\frac{2}{3} for -2/3',
        'x \\in [1,2] for [1,2]',
      ]);
    });
  },
);

describe('mathAnswer', () => {
  const reward = mathAnswer({ reference: ({ answer }: { answer: string }) => answer });

  it.each([
    ['so \\boxed{\\frac{1}{2}}', '0.5', 1],
    ['The answer is 7.', '7', 1],
    ['it is 7', '7', 0],
    ['The final answer is **42**.', '42', 1],
    ['**The answer is 4.5.**', '4.5', 1],
    ['**Answer: `42`**', '42', 1],
    ['The answer is 5!*2', '5', 0],
    ['The answer is z^*.', 'z^*', 1],
    ['', '7', 0],
  ])('gives %j for %j a %d', (response, answer, expected) => {
    expect(judge(reward, response, answer)).toBe(expected);
  });

  it('refuses options that are misspelt', () => {
    const options = { reference: () => '1', form: 'simple', equivalense: () => true };
    expect(() => mathAnswer(options as never)).toThrow(/form[\s\S]*equivalense/);
  });

  it('takes a missing reference for an error', () => {
    expect(() => judge(reward, 'x', undefined as never)).toThrow('mathAnswer: the reference of task "a"');
  });
});

describe('gsm8kAnswer', () => {
  const reward = gsm8kAnswer({ reference: ({ answer }: { answer: string }) => answer });

  it.each([
    ['so\n#### 1,800', '2 * 900 = 1800\n#### 1800', 1],
    ['The answer is $18.00.', '18', 1],
    ['\\boxed{18}', '18', 1],
    ['A: 18', '18', 1],
    ['18 apples and 3 pears', '18', 0],
    ['#### 18\nwait, 19', '18', 1],
    ['nothing', '18', 0],
  ])('gives %j for %j a %d', (response, answer, expected) => {
    expect(judge(reward, response, answer)).toBe(expected);
  });

  it('is strict where told to', () => {
    const strict = gsm8kAnswer({
      reference: ({ answer }: { answer: string }) => answer,
      extract: finalAnswer({ from: ['hash'] }),
    });
    expect([judge(strict, 'A: 18', '18'), judge(strict, '#### 18', '18')]).toEqual([0, 1]);
  });

  it.each(['', 'many', undefined])('takes the reference %j for an error', (answer) => {
    expect(() => judge(reward, '1', answer as never)).toThrow('gsm8kAnswer: the reference of task "a"');
  });

  const solutions = join(shared, 'data/gsm8k/model_solutions.jsonl');
  it.skipIf(!existsSync(solutions))(
    existsSync(solutions)
      ? 'agrees with every label of the model solutions'
      : `skipped: no file ${solutions}`,
    () => {
      const rows = readFileSync(solutions, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const wrong = rows.flatMap(({ ground_truth, completions }) =>
        completions.filter(
          ({ solution, is_correct }: { solution: string; is_correct: boolean }) =>
            judge(reward, solution, ground_truth.slice(ground_truth.lastIndexOf('A:') + 2)) !==
            Number(is_correct),
        ),
      );
      expect(wrong).toEqual([]);
    },
  );
});
