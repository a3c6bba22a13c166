/** Instructions that a program can check, after IFEval. */
export { type LanguageDetector, loadLanguageDetector } from './shared/language-detector.ts';
export {
  checkInstructions,
  detectableLanguages,
  followsInstruction,
  type Instruction,
  type InstructionFollowingOptions,
  instructionFollowing,
  instructionIds,
} from './stock/instructions/follow.ts';
