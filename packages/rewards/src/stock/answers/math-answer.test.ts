import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { finalAnswer } from '@rlp/answers';
import type { RewardFunction } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { answering } from '../../trajectories.fixture.ts';
import { gsm8kAnswer, mathAnswer } from './math-answer.ts';

function judge(reward: RewardFunction<{ answer: string }>, response: string, answer: string): unknown {
  return reward(answering(response, { answer }), { signal: new AbortController().signal });
}

const shared = process.env.RLP_SHARED ?? resolve(import.meta.dirname, '../../../../../shared');

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
    ['The answer is 18. Or maybe 19.', '18', 0],
    ['\\boxed{18}. Perhaps it is 19.', '18', 0],
    ['The answer is 18. It could also be 19.', '18', 0],
    ['The answer is 18. Alternatively, 36 / 2 = 18.', '18', 1],
    ['The answer is 18. Maybe check step 2.', '18', 1],
    ['The answer is 18. Otherwise the 3 bags would not be full.', '18', 1],
    ['The answer is 18. Or 19 or 20.', '18', 0],
    ['The answer is 18. Or 18.0, or 19.', '18', 0],
    ['\\boxed{18}. If not, 19.', '18', 0],
    ['<answer>18</answer> or 19 or 20', '18', 0],
    ['The answer is 18. Failing that, 19.', '18', 0],
    ['The answer is 18. If not, 20 is too many.', '18', 1],
    ['The answer is 18. Else 20 would divide 36.', '18', 1],
    ['The answer is 3/4. Or 0.75 or 75%.', '3/4', 1],
    ['The answer is \\boxed{1,2,3}. Or 1 or 2 or 3.', '1,2,3', 1],
    ['The final answer is 3.14. Or 3.1416, or 3.14159.', '3.14', 1],
    ['<answer>18</answer> / 20', '18', 1],
    ['The answer is (B). Perhaps it is (C).', 'B', 0],
    ['The answer is B. Option A is for those who maybe like C more.', 'B', 1],
    ['The answer is 18. Or maybe nineteen.', '18', 0],
    ['The answer is 18, or eighteen in words.', '18', 1],
    ['The answer is $\\frac12$, or 0.5. Or 50%.', '0.5', 1],
    ['\\boxed{2\\sqrt{3}} (or 3.464)', '2\\sqrt{3}', 1],
    ['\\boxed{\\frac{1}{3}}. Or 33.3%.', '1/3', 1],
    ['\\boxed{0.25}. Or 25%.', '0.25', 1],
    ['\\boxed{3.14159}. Or 3.14.', '3.14159', 1],
    ['\\boxed{120} cm. Or 1.2 m.', '120', 1],
    ['\\boxed{60^\\circ}. Or $\\pi/3$ radians.', '60^\\circ', 1],
    ['\\boxed{C}. A common wrong choice might be B.', 'C', 1],
    ['\\boxed{18}. With tax it might be 20.', '18', 1],
    ['\\boxed{18}\n\nOr simply 9 pairs.', '18', 1],
    ['\\boxed{10}. Or 1010 in binary.', '10', 1],
  ])('gives %j for %j a %d', (response, answer, expected) => {
    expect(judge(reward, response, answer)).toBe(expected);
  });

  it.each([
    ['\\boxed{3, 2, 1}', '1, 2, 3', 'Sort in ascending order: 3, 1, 2', 0],
    ['\\boxed{3, 2, 1}', '1, 2, 3', [{ role: 'user' as const, content: 'Put them in ascending order.' }], 0],
    ['\\boxed{3, 2, 1}', '1, 2, 3', 'Find all solutions.', 1],
  ])('gives %j for %j asked by %j a %d', (response, answer, prompt, expected) => {
    const task = { id: 'a', prompt, metadata: { answer } };
    const trajectory = answering(response, { answer }, { task });
    expect(reward(trajectory, { signal: new AbortController().signal })).toBe(expected);
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
    ['#### 18\nOr maybe 19.', '18', 0],
    ['#### 12,50,000', '1250000', 1],
    ['#### 18\nOr 19.', '18', 0],
    ['#### 347\nOr about 350.', '347', 1],
    ['#### 18\nOr, 19.', '18', 0],
    ['#### 18\nOr roughly 25.', '18', 0],
    [`#### 18${' '.repeat(301)}\nOr maybe 19.`, '18', 0],
    ['#### 1,8', '18', 0],
    ['#### 1_000', '1000', 1],
    ['#### 1_000', '1', 0],
    ['The answer is 1_000 eggs.', '1000', 1],
    ['#### 18 (or 20)', '18', 0],
    ['#### 18 (or eighteen)', '18', 1],
    ['#### 12,34', '1234', 0],
    ['#### 1,234,567.', '1234567', 1],
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
