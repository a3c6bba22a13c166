/** Instructions that a program can check, after IFEval. */
export type { LanguageDetector } from './stock/instructions/checks.ts';
export {
  checkInstructions,
  detectableLanguages,
  followsInstruction,
  type Instruction,
  type InstructionFollowingOptions,
  instructionFollowing,
  instructionIds,
  loadLanguageDetector,
} from './stock/instructions/follow.ts';
