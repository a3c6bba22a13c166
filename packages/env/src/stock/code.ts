import { plural } from '@rlp/core';
import type { CodeRunner } from '@rlp/sandbox';
import * as z from 'zod';
import { pick } from '../draws.ts';
import { codeProblems } from './code-problems.ts';
import { type Game, gameTasks } from './game.ts';

const setupSchema = z.strictObject({
  maxTurns: z.int().min(1),
  /** Name of the function. */
  name: z.string().regex(/^[a-z]\w*$/i),
  /** JavaScript that asserts something about the function, each run apart. The policy sees the first two. */
  tests: z.array(z.string()).min(1).readonly(),
  /** A right program, for the solver. */
  solution: z.string(),
});

/** A function to write in JavaScript. */
export interface CodeSetup extends z.output<typeof setupSchema> {}

/** The function to write, and how the last program did. */
export interface CodePosition extends Omit<CodeSetup, 'maxTurns'> {
  /** Tests that the last program passed. */
  readonly passed: number;
  /** Programs so far. */
  readonly programs: number;
}

const timeoutMs = 2000;

/**
 * Write a JavaScript function that passes tests. Each program is run against all of them, and the policy reads how many it passed.
 *
 * Difficulty: kinds of functions, from a formula to runs and windows. Three tries. Score: the share of tests that the last program passed.
 * The solver has the program.
 *
 * @param run - Runs programs, such as `javascriptRunner(createSandbox())` of `@rlp/sandbox`. A program can neither end nor forge its tests.
 */
export function codeGame(run: CodeRunner): Game<CodeSetup, CodePosition> {
  return {
    name: 'code',
    setup: setupSchema,
    tasks: (options) =>
      gameTasks('code', options, (random, difficulty) => {
        const last = Math.round((codeProblems.length - 1) * difficulty);
        const { name, description, solution, examples } = pick(
          random,
          codeProblems.slice(last >> 1, last + 1),
        )(random);
        const tests = examples.map(
          ({ args, result }) =>
            `assert.deepEqual(${name}(${args.map(jsonOf).join(', ')}), ${jsonOf(result)});`,
        );
        const prompt =
          `Write a JavaScript function ${name} that ${description}. Two of its tests:\n${tests.slice(0, 2).join('\n')}\n` +
          'Answer with the program in a block of ```js.';
        return { prompt, setup: { maxTurns: 3, name, tests, solution } };
      }),
    start: ({ name, tests, solution }) => ({ name, tests, solution, passed: 0, programs: 0 }),
    read: programIn,
    play: async (position, source, { signal = AbortSignal.timeout(10 * timeoutMs) }) => {
      if (source.trim() === '') return { refusal: 'I found no program. Expected one in a block of ```js.' };
      let passed = 0;
      for (const test of position.tests) {
        const program = { language: 'javascript', source, input: '', test };
        const outcome = await run(program, { timeoutMs, signal });
        if (outcome.test === 'passed') passed++;
      }
      return { ...position, passed, programs: position.programs + 1 };
    },
    view: ({ passed, programs, tests }) =>
      programs === 0
        ? 'No program yet.'
        : `Your program passed ${passed} of ${plural(tests.length, 'test')}.`,
    isOver: ({ passed, tests }) => passed === tests.length,
    score: ({ passed, tests }) => passed / tests.length,
    solve: ({ solution }) => `\`\`\`js\n${solution}\n\`\`\``,
  };
}

/** Characters of a program that are run. */
const maxProgramCharacters = 20_000;

/** The last block of code in a response, or the whole response if it has none. */
function programIn(response: string): string {
  const fence = '```';
  const close = response.lastIndexOf(fence);
  const open = close <= 0 ? -1 : response.lastIndexOf(fence, close - 1);
  const program = open < 0 ? response : response.slice(open + fence.length, close).replace(/^\w*\n/, '');
  return program.length > maxProgramCharacters ? '' : program;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value);
}
