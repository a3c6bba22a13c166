import { RandomStream } from '@rlp/core';

/** A puzzle and its right answer. */
export interface Puzzle {
  readonly prompt: string;
  readonly right: string;
}

/** What can be learned. */
interface Game {
  /** What the model has to do. */
  readonly title: string;
  /** Letters of the questions. */
  readonly letters: string;
  /** Letters of a question. */
  readonly length: number;
  solve(question: string): string;
}

/** The games of the playground. */
export const games = {
  sort: {
    title: 'sort letters',
    letters: 'abcdefgh',
    length: 5,
    solve: (question) => [...question].sort().join(''),
  },
  reverse: {
    title: 'write backwards',
    letters: 'abcdefgh',
    length: 4,
    solve: (question) => [...question].reverse().join(''),
  },
  vowels: {
    title: 'keep the vowels',
    letters: 'abcdefghijklmno',
    length: 5,
    solve: (question) => question.replaceAll(/[^aeio]/g, ''),
  },
} satisfies Readonly<Record<string, Game>>;

/** Name of a game. */
export type GameName = keyof typeof games;

/** Different puzzles of a game, in a random order. */
export function puzzlesOf(name: GameName, seed: string, count: number): Puzzle[] {
  const { letters, length, solve } = games[name];
  const random = RandomStream.named(seed, 'puzzles', name);
  const questions = new Set<string>();
  while (questions.size < count) {
    questions.add(
      Array.from({ length }, () => letters[Math.floor(letters.length * random.uniform())]).join(''),
    );
  }
  return [...questions].map((question) => ({ prompt: `${question}>`, right: solve(question) }));
}

/** Share of letters that are in their places, and 1 only for the right answer. */
export function score(response: string, right: string): number {
  if (response === right) return 1;
  const length = Math.max(response.length, right.length, 1);
  return 0.8 * ([...right].filter((letter, at) => response[at] === letter).length / length);
}
