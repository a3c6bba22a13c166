import { lastCodeBlock } from '@rlp/answers';
import { ArgumentError, type RewardFunction } from '@rlp/core';
import { type CodeTest, codeTests } from '@rlp/rewards/stock';
import * as z from 'zod';
import type { AnswerBenchmark, BenchmarkOptions, BenchmarkRow } from './benchmark.ts';
import { fieldsOf, idOf } from './fields.ts';

interface Programmed {
  /** What the program begins with. */
  readonly opening: string;
  readonly tests: readonly CodeTest[];
}

const stops = ['\nclass', '\ndef', '\n#', '\nif', '\nprint'];

/** Functions to complete: rows of `{ prompt, test, entry_point }`. */
export function humaneval(rows: readonly BenchmarkRow[], options: BenchmarkOptions = {}): AnswerBenchmark {
  const { style = 'completion', source = 'humaneval' } = options;
  const fields = fieldsOf(rows, { prompt: z.string(), test: z.string(), entry_point: z.string() }, source);
  return {
    kind: 'answer',
    name: 'humaneval',
    metric: 'pass@1',
    tasks: fields.map(({ prompt, test, entry_point }, index) => ({
      id: idOf(rows[index]!, index),
      prompt:
        style === 'completion'
          ? prompt
          : userMessage(
              `Complete this function. Answer with the whole function.\n\`\`\`python\n${prompt}\n\`\`\``,
            ),
      metadata: { opening: prompt, tests: [assertion(`${test}\ncheck(${entry_point})`)] },
    })),
    metrics: { 'pass@1': passes('humaneval', options, completed(style)) },
    sampling: { maxTokens: 1024, ...(style === 'completion' && { stopStrings: stops }) },
  };
}

/** Programs for a description: rows of `{ text, test_list }`, or `{ prompt, test_list }` as in the sanitised files. */
export function mbpp(rows: readonly BenchmarkRow[], options: BenchmarkOptions = {}): AnswerBenchmark {
  const { style = 'completion', source = 'mbpp' } = options;
  const text = z.string().optional();
  const list = z.array(z.string());
  const shape = {
    text,
    prompt: text,
    test_list: list.min(1),
    test_setup_code: text,
    test_imports: list.optional(),
  };
  const fields = fieldsOf(rows, shape, source);
  return {
    kind: 'answer',
    name: 'mbpp',
    metric: 'pass@1',
    tasks: fields.map(({ text, prompt, test_list, test_setup_code = '', test_imports = [] }, index) => {
      const asked = `You are an expert Python programmer, and here is your task: ${text ?? prompt ?? ''} Your code should pass these tests:\n\n${test_list.slice(0, 3).join('\n')}`;
      const test = [...test_imports, test_setup_code, ...test_list].filter((line) => line !== '').join('\n');
      return {
        id: idOf(rows[index]!, index),
        prompt: style === 'completion' ? `${asked}\n[BEGIN]\n` : userMessage(asked),
        metadata: { opening: '', tests: [assertion(test)] },
      };
    }),
    metrics: { 'pass@1': passes('mbpp', options, completed(style)) },
    sampling: { maxTokens: 512, ...(style === 'completion' && { stopStrings: ['[DONE]'] }) },
  };
}

const userMessage = (content: string) => [{ role: 'user' as const, content }];
const assertion = (source: string): CodeTest => ({ kind: 'assertion', source });

/** The program of a response: the opening and the response, or the code block of a chat model. */
const completed =
  (style: 'completion' | 'chat') =>
  (response: string, opening: string): string => {
    if (style === 'completion') return opening + response;
    const block = lastCodeBlock(response, 'python') ?? response;
    // A block that only has the body continues the opening.
    return opening === '' || /^(?:async )?def |^class /m.test(block)
      ? withImports(opening, block)
      : opening + block;
  };

/** A whole function, with the imports of the prompt that it may leave out. */
function withImports(opening: string, block: string): string {
  const imports = opening.split('\n').filter((line) => /^(?:import|from)\s/.test(line));
  return [...imports, block].join('\n');
}

/** One response after another, because the program depends on the task and not on the response alone. */
function passes(
  name: string,
  { runner }: BenchmarkOptions,
  programOf: (response: string, opening: string) => string,
): RewardFunction {
  if (runner === undefined) {
    throw new ArgumentError(
      `${name}: expected a runner for Python; pass runner: pythonRunner() of @rlp/sandbox/python (npm install pyodide)`,
    );
  }
  const test = codeTests({
    language: 'python',
    runner,
    tests: (metadata) => (metadata as Programmed).tests,
    extract: (program) => program,
  });
  return (trajectory, context) => {
    const { opening } = trajectory.task.metadata as Programmed;
    return test({ ...trajectory, response: programOf(trajectory.response, opening) }, context);
  };
}
