import { ArgumentError, type RandomStream, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { between, scaled } from '../draws.ts';
import { type Game, gameTasks } from './game.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** The hidden code, digits from 1 to `colors`. */
    secret: z.array(z.int().min(1).max(9)).min(1).max(8).readonly(),
    /** Digits are from 1 to this. */
    colors: z.int().min(2).max(9),
  })
  .refine(
    ({ secret, colors }) => secret.every((digit) => digit <= colors),
    'secret must have digits up to colors',
  );

/** A hidden code. */
export interface MastermindSetup extends z.output<typeof setupSchema> {}

/** A guess, and how many digits were right: in their place, and in another. */
export interface MastermindTurn {
  readonly guess: readonly number[];
  readonly black: number;
  readonly white: number;
}

/** The hidden code and the guesses so far. */
export interface MastermindPosition extends Omit<MastermindSetup, 'maxTurns'> {
  readonly turns: readonly MastermindTurn[];
}

/**
 * Find a hidden code of digits. Each guess is answered with the number of digits in their place (black) and in another (white).
 *
 * Difficulty: from 3 digits of 4 to 4 digits of 8, in 12 turns. Score: 1 for the code, else up to 0.5 by the best guess. The solver guesses
 * the first code that fits all answers.
 */
export const mastermind: Game<MastermindSetup, MastermindPosition> = {
  name: 'mastermind',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('mastermind', options, (random, difficulty) => {
      const length = scaled(difficulty, 3, 4);
      const colors = scaled(difficulty, 4, 8);
      return {
        prompt: instructions(length, colors),
        setup: { maxTurns: 12, secret: drawCode(random, length, colors), colors },
      };
    }),
  start: ({ secret, colors }) => ({ secret, colors, turns: [] }),
  play: (position, text) => {
    const { secret, colors, turns } = position;
    const digits = text.replaceAll(/[\s,]/g, '');
    const isGuess =
      digits.length === secret.length &&
      [...digits].every((digit) => digit >= '1' && digit <= String(colors));
    if (!isGuess)
      return { refusal: `I could not read that. Expected ${secret.length} digits from 1 to ${colors}.` };
    const guess = [...digits].map(Number);
    return { ...position, turns: [...turns, { guess, ...mastermindPegs(secret, guess) }] };
  },
  view: ({ turns }) => (turns.length === 0 ? 'No guesses yet.' : turns.map(line).join('\n')),
  news: ({ turns }) => line(turns.at(-1)!),
  isOver: ({ turns, secret }) => turns.at(-1)?.black === secret.length,
  score: ({ turns, secret }) => {
    const best = Math.max(0, ...turns.map(({ black, white }) => black + white / 2));
    return turns.at(-1)?.black === secret.length ? 1 : best / secret.length / 2;
  },
  solve: (position) => firstFit(position).join(''),
};

/** Digits of a guess in their place (black), and others that are in the secret elsewhere (white). */
export function mastermindPegs(
  secret: readonly number[],
  guess: readonly number[],
): { readonly black: number; readonly white: number } {
  requireArguments('mastermindPegs', { secret: 'numbers', guess: 'numbers' }, secret, guess);
  const foreign = [...secret, ...guess].find(
    (digit) => !(Number.isInteger(digit) && digit >= 0 && digit <= 9),
  );
  if (foreign !== undefined) {
    throw new ArgumentError(`mastermindPegs: digits must be whole numbers from 0 to 9, got ${foreign}`);
  }
  const counts = new Uint8Array(10);
  let black = 0;
  for (const [place, digit] of secret.entries()) {
    if (digit === guess[place]) black++;
    counts[digit]!++;
  }
  let common = 0;
  for (const digit of guess) {
    if (counts[digit]! === 0) continue;
    counts[digit]!--;
    common++;
  }
  return { black, white: common - black };
}

function instructions(length: number, colors: number): string {
  return (
    `Find a code of ${length} digits from 1 to ${colors}. Digits may repeat. After each guess you read how many digits are right and in ` +
    `their place (black), and how many are in the code at another place (white). Answer with ${length} digits, such as ${'1'.repeat(length)}.`
  );
}

function line({ guess, black, white }: MastermindTurn): string {
  return `${guess.join('')}: ${black} black, ${white} white`;
}

function drawCode(random: RandomStream, length: number, colors: number): number[] {
  return Array.from({ length }, () => between(random, 1, colors));
}

/** The first code, from all digits in order, that would have got every answer so far. It starts with 1122…. */
function firstFit({
  turns,
  secret: { length },
  colors,
}: Pick<MastermindPosition, 'turns' | 'secret' | 'colors'>): number[] {
  if (turns.length === 0) return Array.from({ length }, (_, place) => 1 + Math.floor(place / 2));
  for (let index = 0; index < colors ** length; index++) {
    const code = Array.from(
      { length },
      (_, place) => 1 + (Math.floor(index / colors ** (length - 1 - place)) % colors),
    );
    const fits = turns.every(({ guess, black, white }) => {
      const pegs = mastermindPegs(code, guess);
      return pegs.black === black && pegs.white === white;
    });
    if (fits) return code;
  }
  return Array.from({ length }, () => 1);
}
