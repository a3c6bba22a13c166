import { counted, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { pick, scaled } from '../draws.ts';
import { bare, type Game, gameTasks } from './game.ts';
import { words } from './words.ts';

const word = z.string().regex(/^[a-z]{5}$/, 'must be five small letters');

const setupSchema = z.strictObject({
  maxTurns: z.int().min(1),
  /** The hidden word. */
  secret: word,
});

/** A hidden word. */
export interface WordleSetup extends z.output<typeof setupSchema> {}

/** The hidden word and the guesses so far. */
export interface WordlePosition {
  readonly secret: string;
  readonly guesses: readonly string[];
}

/**
 * Find a hidden word of five letters. Each guess is answered letter by letter: `G` in its place, `Y` elsewhere in the word, `X` not in it.
 *
 * Difficulty: from 10 turns down to 6. Score: 1 for the word, else up to 0.5 by the letters known. The solver guesses the word of the list that
 * leaves the fewest others on average.
 */
export const wordle: Game<WordleSetup, WordlePosition> = {
  name: 'wordle',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('wordle', options, (random, difficulty) => ({
      prompt: instructions,
      setup: { maxTurns: scaled(difficulty, 10, 6), secret: pick(random, words) },
    })),
  start: ({ secret }) => ({ secret, guesses: [] }),
  play: (position, text) => {
    const guess = bare(text);
    if (!word.safeParse(guess).success)
      return { refusal: 'I could not read that. Expected a word of five letters.' };
    return { ...position, guesses: [...position.guesses, guess] };
  },
  view: ({ secret, guesses }) =>
    guesses.length === 0 ? 'No guesses yet.' : guesses.map((guess) => line(secret, guess)).join('\n'),
  news: ({ secret, guesses }) => line(secret, guesses.at(-1)!),
  isOver: ({ secret, guesses }) => guesses.at(-1) === secret,
  score: ({ secret, guesses }) => {
    if (guesses.at(-1) === secret) return 1;
    const known = [...secret].filter((letter, place) => guesses.some((guess) => guess[place] === letter));
    return known.length / 10;
  },
  solve: ({ secret, guesses }) => bestGuess(guesses.map((guess) => [guess, wordleMarks(secret, guess)])),
};

/** Marks of a guess: `G` for a letter in its place, `Y` for one that is elsewhere in the secret, `X` for others. */
export function wordleMarks(secret: string, guess: string): string {
  requireArguments('wordleMarks', { secret: 'text', guess: 'text' }, secret, guess);
  const left = [...secret].filter((letter, place) => guess[place] !== letter);
  return [...guess]
    .map((letter, place) => {
      if (secret[place] === letter) return 'G';
      const found = left.indexOf(letter);
      if (found < 0) return 'X';
      left.splice(found, 1);
      return 'Y';
    })
    .join('');
}

const instructions =
  'Find a hidden English word of five letters. After each guess you read a mark for each letter: G if it is in its place, Y if it is ' +
  'elsewhere in the word, X if it is not in the word. Answer with one word of five letters.';

function line(secret: string, guess: string): string {
  return `${guess} ${wordleMarks(secret, guess)}`;
}

/** Words that the solver weighs. More make it slower, and hardly better. */
const maxWeighed = 60;

function bestGuess(told: readonly (readonly [guess: string, marks: string])[]): string {
  if (told.length === 0) return 'arise';
  const left = words.filter((candidate) =>
    told.every(([guess, marks]) => wordleMarks(candidate, guess) === marks),
  );
  const weighed = left.length > 2 ? [...left.slice(0, maxWeighed), ...words.slice(0, maxWeighed)] : left;
  const scored = weighed.map((guess) => ({ guess, cost: expectedLeft(guess, left) }));
  return scored.reduce(
    (best, next) => (next.cost < best.cost ? next : best),
    scored[0] ?? { guess: 'arise', cost: 0 },
  ).guess;
}

/** Sum of squares of how many words each answer leaves. */
function expectedLeft(guess: string, left: readonly string[]): number {
  const counts = counted(left.map((secret) => wordleMarks(secret, guess)));
  return [...counts.values()].reduce((sum, count) => sum + count * count, left.includes(guess) ? -1 : 0);
}
