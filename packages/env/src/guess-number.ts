import { ArgumentError, parseOptions, RandomStream, type State, type Task } from '@rlp/core';
import * as z from 'zod';
import { BaseEnvironment } from './base-environment.ts';

const schema = z
  .strictObject({
    /** Smallest secret number. Default 1. */
    low: z.int().nonnegative().default(1),
    /** Largest secret number. Default 9. */
    high: z.int().nonnegative().max(0xffffffff).default(9),
    /** Number of tasks. */
    count: z.int().min(1),
    /** Names the random stream of the draws. Default `'guess-number'`. */
    seed: z.string().default('guess-number'),
  })
  .refine(({ low, high }) => high > low, { path: ['high'], message: 'must be above low' });

/** Options of {@link guessNumberTasks}. */
export interface GuessNumberOptions extends z.input<typeof schema> {}

/** A number to guess, and the range it is in. */
export interface GuessNumberMetadata {
  readonly secret: number;
  readonly low: number;
  readonly high: number;
}

/** State of the game: what was said, and the range that is left. */
export interface GuessNumberState extends State {
  readonly prompt: string;
  readonly transcript: string;
  readonly secret: number;
  /** Numbers still possible, by what the policy was told. */
  readonly low: number;
  readonly high: number;
  readonly isSolved: boolean;
}

/** Result of a game. */
export interface GuessNumberOutcome {
  readonly isSolved: boolean;
  readonly guesses: number;
}

/** Tasks for {@link GuessNumberEnvironment}, with secrets drawn uniformly. */
export function guessNumberTasks(options: GuessNumberOptions): Task<GuessNumberMetadata>[] {
  const { low, high, count, seed } = parseOptions('guessNumberTasks', schema, options, 'GuessNumberOptions');
  const stream = RandomStream.named(seed, 'secrets');
  return Array.from({ length: count }, (_, index) => ({
    id: `guess-${index}`,
    prompt: `${low}-${high}? `,
    metadata: { secret: low + stream.integer(high - low + 1), low, high },
  }));
}

/**
 * A game of many turns. The policy guesses a number and reads `higher` or `lower`, or `digits only` for other text.
 * The game ends when the guess is right. Limit it with `withLimits` or the rollout manager's `maxTurns`. Sample with the stop
 * string `'\n'`. Then the transcript continues the tokens that were sampled. An end token would interrupt it.
 */
export class GuessNumberEnvironment extends BaseEnvironment<
  GuessNumberState,
  GuessNumberMetadata,
  GuessNumberOutcome
> {
  /** @throws ArgumentError for a task whose prompt is a conversation. */
  override reset({ id, prompt, metadata }: Task<GuessNumberMetadata>): GuessNumberState {
    if (typeof prompt !== 'string') {
      throw new ArgumentError(
        `GuessNumberEnvironment: task "${id}" has messages as its prompt, expected text as of guessNumberTasks`,
      );
    }
    return { prompt, response: '', stepCount: 0, transcript: prompt, ...metadata, isSolved: false };
  }

  override isTerminal({ isSolved }: GuessNumberState): boolean {
    return isSolved;
  }

  override buildPrompt({ transcript }: GuessNumberState): string {
    return transcript;
  }

  override updateState(state: GuessNumberState, response: string): GuessNumberState {
    const text = response.trim();
    const guess = /^\d+$/.test(text) ? Number(text) : undefined;
    const { secret } = state;
    const hint =
      guess === undefined ? 'digits only' : guess === secret ? 'right' : guess < secret ? 'higher' : 'lower';
    return {
      ...state,
      response,
      stepCount: state.stepCount + 1,
      transcript: `${state.transcript}${response}\n${hint}? `,
      low: hint === 'higher' ? Math.max(state.low, guess! + 1) : state.low,
      high: hint === 'lower' ? Math.min(state.high, guess! - 1) : state.high,
      isSolved: hint === 'right',
    };
  }

  /** Games with the same range left are the same game, however they came there. */
  override stateKey({ low, high }: GuessNumberState): string {
    return `${low}..${high}`;
  }

  override outcome({ isSolved, stepCount }: GuessNumberState): GuessNumberOutcome {
    return { isSolved, guesses: stepCount };
  }
}
