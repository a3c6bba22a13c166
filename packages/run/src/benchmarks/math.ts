import { finalAnswer, lastBoxed, mathNormalForm, normalFormsAgree, symbolicEquivalence } from '@rlp/answers';
import { FormatError, type Task } from '@rlp/core';
import { mathAnswer } from '@rlp/rewards/stock';
import * as z from 'zod';
import type { AnswerBenchmark, BenchmarkOptions, BenchmarkRow } from './benchmark.ts';
import { fieldsOf, idOf } from './fields.ts';

interface Solved {
  /** What stands in the last box of the solution. */
  readonly answer: string;
  readonly level?: string | undefined;
  readonly type?: string | undefined;
}

/** Longest answer that is compared otherwise than as text. */
const longest = 1000;

/** What lm_eval's `hendrycks_math` takes for the answer: what stands between the first and the last dollar sign. */
function hendrycksAnswer(response: string): string {
  const [first, last] = [response.indexOf('$'), response.lastIndexOf('$')];
  return first === last ? response : response.slice(first + 1, last);
}

const sameValue = symbolicEquivalence();

/** What follows "Final Answer: The final answer is", or nothing. */
function minervaAnswer(response: string): string | undefined {
  const opening = 'Final Answer: The final answer is';
  const closing = ' I hope it is correct';
  for (const line of `${response}I hope it is correct.`.split('\n')) {
    const start = line.indexOf(opening);
    if (start < 0) continue;
    // One character, the full stop, stands before the closing, and one after it.
    const end = line.indexOf(closing, start + opening.length + 1);
    if (end >= 0 && end + closing.length < line.length)
      return line.slice(start + opening.length, end - 1).trim();
  }
  return undefined;
}

/**
 * Whether two answers in the normal form `lm-eval` are equal as text or by value, read as SymPy reads LaTeX: `\log` is natural, a number before a
 * fraction multiplies it, and `.5` is not a number.
 */
function minervaEqual(given: string, expected: string): boolean {
  if (given === expected) return given !== '';
  if (given === '' || expected === '' || Math.max(given.length, expected.length) > longest) return false;
  const [a, b] = [given, expected].map((text) =>
    text
      .replaceAll(/\\ln(?![a-zA-Z])/g, '\\log')
      .replaceAll(/(\d)\\frac/g, '$1\\cdot\\frac')
      .replaceAll(/(\d):(\d)/g, '$1/$2'),
  ) as [string, string];
  const isUnread = [a, b].some((text) => /(?<!\d)\.\d/.test(text));
  return !isUnread && sameValue(a, b);
}

/** Competition problems: rows of `{ problem, solution }` with the answer in the last `\boxed{…}`, or with `answer`. */
export function math(rows: readonly BenchmarkRow[], options: BenchmarkOptions = {}): AnswerBenchmark {
  const { style = 'completion', source = 'math' } = options;
  const text = z.string().optional();
  const shape = { problem: z.string(), solution: text, answer: text, level: text, type: text };
  const fields = fieldsOf(rows, shape, source);
  const ask = (problem: string) =>
    style === 'completion'
      ? `Problem:\n${problem}\n\nSolution:`
      : [{ role: 'user' as const, content: `${problem}\nPut your final answer in \\boxed{}.` }];
  return {
    kind: 'answer',
    name: 'math',
    metric: style === 'completion' ? 'exact_match' : 'ours',
    tasks: fields.map(({ problem, solution, answer, ...kind }, index): Task<Solved> => {
      const expected = answer ?? lastBoxed(solution ?? '')?.content;
      if (expected === undefined) {
        throw new FormatError(
          `${source}, row ${index + 1}: expected an answer, or a solution with \\boxed{…}`,
        );
      }
      return { id: idOf(rows[index]!, index), prompt: ask(problem), metadata: { answer: expected, ...kind } };
    }),
    metrics: mathMetrics,
    answer: (response) => {
      const given = finalAnswer({ from: ['boxed', 'phrase'] })(response) ?? minervaAnswer(response);
      return given === undefined ? undefined : (mathNormalForm(given, 'hendrycks') ?? given);
    },
    sampling: { maxTokens: 1024, ...(style === 'completion' && { stopStrings: ['Problem:'] }) },
  };
}

const lmEvalForm = (answer: string) => mathNormalForm(answer, 'lm-eval')!;

const answerOf = (metadata: unknown) => (metadata as Solved).answer;

const mathMetrics: AnswerBenchmark['metrics'] = {
  exact_match: ({ task, response }) => {
    const given = minervaAnswer(response);
    return Number(
      given !== undefined && minervaEqual(lmEvalForm(given), lmEvalForm(answerOf(task.metadata))),
    );
  },
  'exact_match,hendrycks': ({ task, response }) =>
    Number(normalFormsAgree(hendrycksAnswer(response), answerOf(task.metadata), 'hendrycks')),
  ours: mathAnswer({ reference: answerOf }),
};
