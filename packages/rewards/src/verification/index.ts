export {
  type ApplyVerifiersOptions,
  applyVerifiersToReward,
  verificationRequest,
} from './apply-verifiers.ts';
export { type ArithmeticStatement, arithmeticStatements } from './arithmetic.ts';
export { CoherenceVerifier, type CoherenceVerifierOptions } from './coherence.ts';
export {
  createCustomVerifierPipeline,
  createDefaultVerifierPipeline,
  type VerifierConfig,
} from './create-pipeline.ts';
export { FactualVerifier, type FactualVerifierOptions } from './factual.ts';
export { FormatVerifier, type FormatVerifierOptions } from './format.ts';
export { LanguageVerifier, type LanguageVerifierOptions } from './language.ts';
export { LengthVerifier, type LengthVerifierOptions } from './length.ts';
export {
  type PipelineReport,
  VerificationPipeline,
  type VerificationPipelineOptions,
} from './pipeline.ts';
export { RepetitionVerifier, type RepetitionVerifierOptions } from './repetition.ts';
export { SafetyPatternVerifier, type SafetyPatternVerifierOptions } from './safety-pattern.ts';
export {
  GreetingVerifier,
  type GreetingVerifierOptions,
  KeywordVerifier,
  type KeywordVerifierOptions,
  NonEmptyVerifier,
} from './simple.ts';
export type { TextJudge } from './text-judge.ts';
export {
  TextVerifier,
  type VerificationContext,
  type VerifierLimits,
  type VerifierStatistics,
} from './text-verifier.ts';
export { RuleVerifier, type TextRule, textpolicyRules } from './textpolicy-rules.ts';
export { ToxicityVerifier, type ToxicityVerifierOptions } from './toxicity.ts';
export {
  defaultThresholds,
  type ScoreReportInput,
  scoreReport,
  type VerdictThresholds,
  verdictOf,
} from './verdict.ts';
