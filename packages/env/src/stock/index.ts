export { type AdventurePosition, type AdventureSetup, adventure } from './adventure.ts';
export {
  type ArithmeticPosition,
  type ArithmeticSetup,
  arithmetic,
  type CalculatorPosition,
  calculator,
} from './arithmetic.ts';
export { type CountdownPosition, type CountdownSetup, countdown } from './countdown.ts';
export {
  type FrozenLakeOptions,
  type FrozenLakePosition,
  type FrozenLakeSetup,
  frozenLake,
  frozenLakeMoves,
} from './frozen-lake.ts';
export type {
  Game,
  GameOutcome,
  GameSetup,
  GameState,
  GameTasksOptions,
  PlayContext,
  Refusal,
} from './game.ts';
export { type GameEnvironmentOptions, gameEnvironment } from './game-environment.ts';
export { type KeyAndDoorPosition, type KeyAndDoorSetup, keyAndDoor } from './key-and-door.ts';
export {
  type LibraryDeskOptions,
  type LibraryDeskPosition,
  type LibraryDeskSetup,
  libraryDesk,
  libraryDeskMember,
} from './library-desk.ts';
export {
  type MastermindPosition,
  type MastermindSetup,
  type MastermindTurn,
  mastermind,
  mastermindPegs,
} from './mastermind.ts';
export { type ShopPosition, type ShopSetup, shop } from './shop.ts';
export { type SokobanPosition, type SokobanSetup, sokoban } from './sokoban.ts';
export { type SortingPosition, type SortingSetup, sorting } from './sorting.ts';
export { type SqlQuestionsPosition, type SqlQuestionsSetup, sqlQuestions } from './sql-questions.ts';
export { type SudokuPosition, type SudokuSetup, sudoku } from './sudoku.ts';
export { type WordlePosition, type WordleSetup, wordle, wordleMarks } from './wordle.ts';
