import * as z from 'zod';
import { scaled } from '../draws.ts';
import { type Game, gameTasks } from './game.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** Different numbers. */
    numbers: z.array(z.int()).min(2).max(100).readonly(),
  })
  .refine(({ numbers }) => new Set(numbers).size === numbers.length, 'numbers must differ');

/** Numbers to sort. */
export interface SortingSetup extends z.output<typeof setupSchema> {}

/** The numbers in their order now. */
export interface SortingPosition {
  readonly numbers: readonly number[];
}

/**
 * Sort numbers by swapping two of them a turn.
 *
 * Difficulty: from 3 numbers to 12. There are twice as many turns as swaps that any order needs. Score: the share of numbers in their place.
 * The solver needs the fewest swaps.
 */
export const sorting: Game<SortingSetup, SortingPosition> = {
  name: 'sorting',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('sorting', options, (random, difficulty) => {
      const length = scaled(difficulty, 3, 12);
      const all = Array.from({ length: 99 }, (_, index) => index + 1);
      let numbers = random.shuffle(all).slice(0, length);
      while (isSorted(numbers)) numbers = random.shuffle(numbers);
      return { prompt: instructions, setup: { maxTurns: 2 * (length - 1), numbers } };
    }),
  start: ({ numbers }) => ({ numbers }),
  play: ({ numbers }, text) => {
    const [, one, other] = /^(\d{1,3})[\s,]+(\d{1,3})$/.exec(text) ?? [];
    const [a, b] = [Number(one) - 1, Number(other) - 1];
    if (numbers[a] === undefined || numbers[b] === undefined)
      return {
        refusal: `I could not read that. Expected two places from 1 to ${numbers.length}, such as: 1 2`,
      };
    return { numbers: numbers.with(a, numbers[b]).with(b, numbers[a]) };
  },
  view: ({ numbers }) => numbers.join(' '),
  isOver: ({ numbers }) => isSorted(numbers),
  score: ({ numbers }) => {
    const wanted = ordered(numbers);
    return numbers.filter((number, place) => number === wanted[place]).length / numbers.length;
  },
  solve: ({ numbers }) => {
    const wanted = ordered(numbers);
    const place = Math.max(
      0,
      numbers.findIndex((number, index) => number !== wanted[index]),
    );
    return `${place + 1} ${wanted.indexOf(numbers[place]!) + 1}`;
  },
};

const instructions =
  'Sort the numbers, smallest first. Each turn swaps two of them. Answer with their two places, counted from 1, such as: 1 2';

function ordered(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}

function isSorted(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || numbers[index - 1]! < number);
}
