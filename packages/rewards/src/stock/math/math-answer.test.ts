import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RewardFunction } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { symbolicEquivalence } from '../../math.ts';
import { answering } from '../../trajectories.fixture.ts';
import { finalAnswer } from './final-answer.ts';
import { gsm8kAnswer, mathAnswer } from './math-answer.ts';
import { mathAnswersAgree } from './math-equivalence.ts';

function judge(reward: RewardFunction<{ answer: string }>, response: string, answer: string): unknown {
  return reward(answering(response, { answer }), { signal: new AbortController().signal });
}

const equivalence = symbolicEquivalence({ seed: 'tests' });

describe('symbolicEquivalence', () => {
  it.each([
    ['x^2+2x', 'x(x+2)'],
    ['2\\sqrt{3}', '\\sqrt{12}'],
    ['\\frac{1}{\\sqrt2}', '\\frac{\\sqrt{2}}{2}'],
    ['3 + 4i', '4i+3'],
    ['(1+i)^2', '2i'],
    ['\\sin^2 x + \\cos^2 x', '1.0'],
    ['2|x|', '|2x|'],
    ['x^{-2}', '1/x^2'],
    ['\\sqrt[3]{x^3y}', '\\sqrt[3]{y x^3}'],
  ])('takes %j for %j', (given, expected) => {
    expect(equivalence(given, expected)).toBe(true);
  });

  it.each([
    ['\\sqrt{x^2}', 'x'],
    ['x^2', 'x^3'],
    ['10^{10^{10}}', '10^{10^{11}}'],
    ['import("fs")', '1.5'],
    ['x+y=1', 'x+y'],
    ['1,2', '1,2'],
    ['(-3)!', '6'],
    ['1.4142135624', '\\sqrt{2}'],
    ['\\frac{14142135624}{10^{10}}', '\\sqrt2'],
    ['1.41421356237309504880', '\\sqrt2'],
    ['3.14159265358979 r^2', '\\pi r^2'],
    ['x+10^{-12}', 'x'],
    ['\\frac{x}{1+10^{-15}}', 'x'],
    ['x+x(x-1)(x-2)(x-3)(x-4)(x-5)(x-6)(x-7)', 'x'],
  ])('does not take %j for %j', (given, expected) => {
    expect(equivalence(given, expected)).toBe(false);
  });

  it('draws its points from the seed and both expressions, so that none can be known', () => {
    const texts = ['\\frac{1}{x-y}', '\\frac{1}{x-y}+\\sin^2x+\\cos^2x-1'] as const;
    for (const seed of ['a', 'b', undefined]) {
      expect(symbolicEquivalence(seed === undefined ? {} : { seed })(...texts)).toBe(true);
    }
    expect(() => symbolicEquivalence({ seed: '' })).toThrow('seed');
  });

  it.each([
    ['\\arcsin x', '\\frac{\\pi}{2} - \\arccos x'],
    ['\\sqrt{x^2-9}', '\\sqrt{(x-3)(x+3)}'],
    ['\\ln(x^3)', '3\\ln x'],
  ])('takes %j for %j at all points', (given, expected) => {
    for (let seed = 0; seed < 300; seed++) {
      expect(symbolicEquivalence({ seed: `${seed}` })(given, expected)).toBe(true);
    }
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
          expect(typeof mathAnswersAgree(given, 'x+1')).toBe('boolean');
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
      expect(mathAnswersAgree(given, 'x+1')).toBe(false);
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
        // Beside a large power of a float a hundred is within the tolerance.
        expect(equivalence(text, `${text}+100`) && !text.includes('^')).toBe(false);
      }),
    );
  });
});

const shared = process.env.RLP_SHARED ?? resolve(import.meta.dirname, '../../../../../shared');
const pairs = join(shared, 'conformance/math_answers.json');

describe.skipIf(!existsSync(pairs))(
  existsSync(pairs) ? 'published graders' : `skipped: no file ${pairs}`,
  () => {
    it('accept nothing that we refuse, and refuse eight answers that we accept', () => {
      const { cases } = JSON.parse(readFileSync(pairs, 'utf8'));
      const more: string[] = [];
      for (const { fn, inputs, expected } of cases) {
        if (fn !== 'equiv') continue;
        const isAccepted = expected.hendrycks || expected.prm800k;
        const verdict = mathAnswersAgree(inputs.given, inputs.gold, { form: 'simplified' });
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
        '3,1,2 for 1,2,3',
      ]);
    });
  },
);

describe('mathAnswer', () => {
  const reward = mathAnswer({ reference: ({ answer }: { answer: string }) => answer });

  it.each([
    ['so \\boxed{\\frac{1}{2}}', '0.5', 1],
    ['The answer is 7.', '7', 1],
    ['it is 7', '7', 1],
    ['so\n#### 7', '7', 1],
    ['They have 7 apples.', '7', 1],
    ['It takes 3 and then 7', '7', 0],
    ['17 or 7', '7', 0],
    ['not \\boxed{7}', '7', 0],
    ['\\boxed{7} is wrong', '7', 0],
    ['\\boxed{{7} and 7', '7', 0],
    ['The answer is certainly not 7.', '7', 0],
    ['<!-- #### 7 --> Hello', '7', 0],
    ['**Final Answer**\n\n7', '7', 1],
    ['The answer is 7 because 3 + 4 = 7.', '7', 1],
    ['\\boxed{(-3)!}', '\\frac{1}{2}', 0],
    ['The final answer is **42**.', '42', 1],
    ['**The answer is 4.5.**', '4.5', 1],
    ['**Answer: `42`**', '42', 1],
    ['The answer is 5!*2', '5', 0],
    ['The answer is z^*.', 'z^*', 1],
    ['', '7', 0],
    ['The area is $24\\pi$ square units.', '24\\pi', 1],
    ['The area is 24\\pi square units.', '24', 0],
    ['Therefore, the probability is \\frac{5}{36}.', '\\frac{5}{36}', 1],
    ['It is 5 or 6.', '5', 0],
    ['-\\frac{10}{9}', '-\\frac{10}{9}', 1],
    ['[0,1)', '[0,1)', 1],
    ['Work.\n\n$x \\ge 5$', '[5,\\infty)', 1],
    ['It takes 5 minutes.', '5 seconds', 0],
    ['It takes 5 minutes in all.', '5 minutes', 1],
    ['The rate is 5% then.', '0.05', 1],
    ['5 apples', '5 pears', 0],
    ['at least 5', '5', 0],
    ['CHF 45', 'EUR 45', 0],
    ['5 out of 8', '\\frac58', 1],
    ['(a-b)(a+ab)', 'a(a-b)(b+1)', 1],
    ['<think>2+3</think><answer>\\frac{5}{6}</answer>', '\\frac56', 1],
    ['=> 5', '5', 1],
    ['I choose (C).', 'C', 1],
    ['C is correct.', 'C', 1],
    ['C is not correct.', 'C', 0],
    ['C or D.', 'D', 0],
    ['The solutions are $x = 1$ and $x = 2$.', '1,2', 1],
    ['The solutions are x = 1 and x = 2.', '2', 0],
    ['So, f(x) = 2x + 1.', '2x+1', 1],
    ['So, f(x) = 2x + 1.', '1', 0],
    ['On the 3rd day she has 15.', '15', 1],
    ['The domain is all real numbers.', '\\mathbb{R}', 1],
    ['0.5 mol/L', '0.5 g/L', 0],
    ['Option B: 42', 'B', 1],
    ['Jan. 1, 2000', 'January 1, 2000', 1],
    ['5 green apples', '5', 1],
    ['#### 3/4', '3/4', 1],
    ['#### 3/4', '3', 0],
    ['Therefore $x \\geq 5$ is the solution.', 'x \\geq 5', 1],
    ['Thus $5$ or $6$.', '6', 0],
    ['\\boxed{-2} \\quad \\text{and} \\quad \\boxed{1}', '1,-2', 1],
    ['$\\boxed{17}$ or $\\boxed{18}$', '18', 0],
    ['\\boxed{18}, so \\boxed{18}', '18', 1],
    ['\\boxed{17}\n\nWait: \\boxed{18}', '18', 1],
    ['The answer is: it does not exist.', 'it does not exist', 1],
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
    ['The answer is certainly not 18.', '18', 0],
    ['not \\boxed{18}', '18', 0],
    ["It isn't 18", '18', 0],
    ['It cannot be 18', '18', 0],
    ['\\boxed{\\text{not } 18}', '18', 0],
    ['\\boxed{\\ge 18}', '18', 0],
    ['The answer is 18 trillion', '18', 0],
    ['The answer is 18 eggs left.', '18', 1],
    ['17 or 18', '18', 0],
    ['18 thousand', '18', 0],
    ['18 thousand', '18000', 1],
    ['The answer is more than 18', '18', 0],
    ['Is it 18?', '18', 0],
    ['#### 18 is wrong', '18', 0],
    ['\\boxed{17}/\\boxed{18}', '18', 0],
    ['\\boxed{17} \\boxed{18}', '18', 0],
    ['<!-- #### 18 -->', '18', 0],
    ['#### 18\n<!-- #### 19', '18', 1],
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
