import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { between, pick, scaled } from '../draws.ts';
import { tool } from '../tools/tool.ts';
import { type Evaluated, evaluate, fractionText } from './expression.ts';
import { type Game, gameTasks } from './game.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** What to compute. */
    expression: z.string().min(1),
  })
  .refine(
    ({ expression }) => typeof evaluate(expression) !== 'string',
    'expression must have + - * / and whole numbers',
  );

/** Something to compute. */
export interface ArithmeticSetup extends z.output<typeof setupSchema> {}

/** What to compute, and what was answered. */
export interface ArithmeticPosition {
  readonly expression: string;
  readonly given?: string;
}

/** What to compute with a calculator, and what it showed. */
export interface CalculatorPosition extends ArithmeticPosition {
  readonly shown: readonly string[];
}

/**
 * Compute a sum, a difference or a product in one turn.
 *
 * Difficulty: from 1 digit to 6, with products from 0.5 on. Score: 1 for the right number. For additions alone, as text to complete, see
 * `arithmeticTasks` of `@rlp/env`.
 */
export const arithmetic: Game<ArithmeticSetup, ArithmeticPosition> = {
  name: 'arithmetic',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('arithmetic', options, (random, difficulty) => {
      const digits = scaled(difficulty, 1, 6);
      const operator = pick(random, difficulty < 0.5 ? ['+', '-'] : ['+', '-', '*']);
      const expression = `${number(random, digits)} ${operator} ${number(random, digits)}`;
      return { prompt: `Compute. Answer with one number.`, setup: { maxTurns: 1, expression } };
    }),
  start: ({ expression }) => ({ expression }),
  play: answered,
  view: ({ expression }) => `${expression} =`,
  news: ({ given }) => `You answered ${given}.`,
  isOver: ({ given }) => given !== undefined,
  score,
  solve: ({ expression }) => exactValue(expression),
};

/**
 * Compute an expression that is too hard for the head, with a calculator to call. The calculator is the tool `calculator`.
 *
 * Difficulty: from 2 numbers of 3 digits to 6 numbers of 5 digits. Four turns. The first answer without a call counts. Score: 1 for the right
 * number. The solver calls the calculator once.
 */
export const calculator: Game<ArithmeticSetup, CalculatorPosition> = {
  name: 'calculator',
  setup: setupSchema,
  tools: [
    tool({
      name: 'calculator',
      description: 'Computes whole numbers with + - * / and parentheses, exactly.',
      parameters: z.object({ expression: z.string().describe('Such as (12 + 3) * 4') }),
      execute: ({ expression }, { update }) => {
        const evaluated = evaluate(expression);
        if (typeof evaluated === 'string') throw new Error(evaluated);
        const result = fractionText(evaluated.value);
        update((state) => {
          const position = state.position as CalculatorPosition;
          return { ...state, position: { ...position, shown: [...position.shown, result] } };
        });
        return result;
      },
    }),
  ],
  tasks: (options) =>
    gameTasks('calculator', options, (random, difficulty) => {
      const digits = scaled(difficulty, 3, 5);
      let expression = number(random, digits);
      for (let count = scaled(difficulty, 2, 6); count > 1; count--) {
        const next = `${expression} ${pick(random, ['+', '-', '*'])} ${number(random, digits)}`;
        expression = count > 2 && random.uniform() < 0.5 ? `(${next})` : next;
      }
      return {
        prompt: 'Compute. Use the calculator, then answer with one number.',
        setup: { maxTurns: 4, expression },
      };
    }),
  start: ({ expression }) => ({ expression, shown: [] }),
  play: answered,
  view: ({ expression }) => `${expression} =`,
  news: ({ given }) => `You answered ${given}.`,
  isOver: ({ given }) => given !== undefined,
  score,
  solve: ({ expression, shown }) =>
    shown.at(-1) ??
    `<tool_call>${JSON.stringify({ name: 'calculator', arguments: { expression } })}</tool_call>`,
};

function number(random: RandomStream, digits: number): string {
  return String(between(random, digits === 1 ? 0 : 10 ** (digits - 1), 10 ** digits - 1));
}

function exactValue(expression: string): string {
  return fractionText((evaluate(expression) as Evaluated).value);
}

/** The position with the answer, which may have separators of thousands. */
function answered<Position extends ArithmeticPosition>(position: Position, text: string) {
  const given = text.replaceAll(/[,\s]/g, '').replace(/^\+|\.0*$/g, '');
  const evaluated = /^[-−]?\d+(\/\d+)?$/.test(given) ? evaluate(given) : 'not a number';
  if (typeof evaluated === 'string') return { refusal: 'I could not read that. Expected one number.' };
  return { ...position, given: fractionText(evaluated.value) };
}

function score({ expression, given }: ArithmeticPosition): number {
  return given === exactValue(expression) ? 1 : 0;
}
