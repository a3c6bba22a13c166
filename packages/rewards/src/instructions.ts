/** Instructions that a program can check, after IFEval. */
export type { LanguageDetector } from './stock/instructions/checks.ts';
export {
  detectLanguage,
  followsInstruction,
  type Instruction,
  type InstructionFollowingOptions,
  instructionFollowing,
  instructionIds,
} from './stock/instructions/follow.ts';
