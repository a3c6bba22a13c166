import { promptMessages } from '@rlp/core';
import { type Game, type GameSetup, gameEnvironment } from './index.ts';

/** Says these things one after the other. Returns the state after the last. */
export async function say<Setup extends GameSetup, Position>(
  game: Game<Setup, Position>,
  setup: Setup,
  responses: readonly string[],
) {
  const environment = gameEnvironment(game);
  let state = await environment.reset({ id: 'one', prompt: 'Play.', metadata: setup }, 1);
  for (const response of responses) state = await environment.updateState(state, response);
  return {
    state,
    outcome: environment.outcome!(state),
    heard: promptMessages(state.prompt).at(-1)!.content,
  };
}
