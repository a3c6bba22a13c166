export {
  type FrozenLakeOptions,
  type FrozenLakePosition,
  type FrozenLakeSetup,
  frozenLake,
  frozenLakeMoves,
} from './frozen-lake.ts';
export type { Game, GameOutcome, GameSetup, GameState, GameTasksOptions, Refusal } from './game.ts';
export {
  type GameEnvironmentOptions,
  gameEnvironment,
} from './game-environment.ts';
export { type KeyAndDoorPosition, type KeyAndDoorSetup, keyAndDoor } from './key-and-door.ts';
