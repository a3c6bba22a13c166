/** Verifiers of text, pipelines of them, and the gate before a reward. */
export {
  type ApplyVerifiersOptions,
  applyVerifiersToReward,
  verificationRequest,
} from './verification/apply-verifiers.ts';
export { type ArithmeticStatement, arithmeticStatements } from './verification/arithmetic.ts';
export { CoherenceVerifier, type CoherenceVerifierOptions } from './verification/coherence.ts';
export {
  createCustomVerifierPipeline,
  createDefaultVerifierPipeline,
  type VerifierConfig,
} from './verification/create-pipeline.ts';
export { FactualVerifier, type FactualVerifierOptions } from './verification/factual.ts';
export { FormatVerifier, type FormatVerifierOptions } from './verification/format.ts';
export { LanguageVerifier, type LanguageVerifierOptions } from './verification/language.ts';
export { LengthVerifier, type LengthVerifierOptions } from './verification/length.ts';
export {
  type PipelineReport,
  VerificationPipeline,
  type VerificationPipelineOptions,
} from './verification/pipeline.ts';
export { RepetitionVerifier, type RepetitionVerifierOptions } from './verification/repetition.ts';
export { SafetyPatternVerifier, type SafetyPatternVerifierOptions } from './verification/safety-pattern.ts';
export {
  GreetingVerifier,
  type GreetingVerifierOptions,
  KeywordVerifier,
  type KeywordVerifierOptions,
  NonEmptyVerifier,
} from './verification/simple.ts';
export type { TextJudge } from './verification/text-judge.ts';
export {
  TextVerifier,
  type VerificationContext,
  type VerifierLimits,
  type VerifierStatistics,
} from './verification/text-verifier.ts';
export { RuleVerifier, type TextRule, textpolicyRules } from './verification/textpolicy-rules.ts';
export { ToxicityVerifier, type ToxicityVerifierOptions } from './verification/toxicity.ts';
export {
  defaultThresholds,
  type ScoreReportInput,
  scoreReport,
  type VerdictThresholds,
  verdictOf,
} from './verification/verdict.ts';
