import { promptMessages } from '@rlp/core';
import { expect } from 'vitest';
import { type Game, type GameSetup, gameEnvironment } from './index.ts';

/** What the policy says, what it hears, the score after it, and whether it was refused or ended the game. */
export type Turn = readonly [said: string, heard: string, score: number, mark?: 'refused' | 'over'];

export interface Dialogue {
  readonly game: string;
  /** What the policy sees first, below the rules. */
  readonly opening: string;
  readonly turns: readonly Turn[];
  /** The game, said by said. Returns turns, the opening first. */
  play(): Promise<readonly Turn[]>;
  /** What the policy sees in the end, if it sees no earlier turns, and the name of that position. */
  readonly last?: readonly [view: string, key: string];
  end(): Promise<readonly [view: string, key: string]>;
}

/** A dialogue in a game, with what its rules lead to. */
export function dialogue<Setup extends GameSetup, Position>(
  game: Game<Setup, Position>,
  setup: Omit<Setup, 'maxTurns'>,
  opening: string,
  turns: readonly Turn[],
  last?: readonly [view: string, key: string],
): Dialogue {
  const task = { id: 'd', prompt: 'Play.', metadata: { ...setup, maxTurns: 99 } as unknown as Setup };
  const played = async (prompt: 'conversation' | 'view') => {
    const environment = gameEnvironment(game, { prompt });
    let state = await environment.reset(task, 1);
    const found: Turn[] = [['', promptMessages(state.prompt).at(-1)!.content.replace('Play.\n\n', ''), 0]];
    for (const [said] of turns) {
      const { refused } = state;
      state = await environment.updateState(state, said);
      const heard = promptMessages(environment.buildPrompt(state)).at(-1)!.content;
      const mark = environment.isTerminal(state) ? 'over' : state.refused > refused ? 'refused' : undefined;
      const { score } = environment.outcome!(state);
      // A score of 1 is a solved game.
      expect(environment.metrics!(state)).toMatchObject({
        'game/score': score,
        'game/solved': score === 1 ? 1 : 0,
        'game/refused': state.refused,
      });
      found.push(mark === undefined ? [said, heard, score] : [said, heard, score, mark]);
    }
    return { found, last: [found.at(-1)![1], environment.stateKey!(state)] as const };
  };
  return {
    ...{ game: game.name, opening, turns, ...(last && { last }) },
    play: async () => (await played('conversation')).found,
    end: async () => (await played('view')).last,
  };
}
