/** Verifiers of text, pipelines of them, and the gate before a reward. */
export {
  type ApplyVerifiersOptions,
  applyVerifiersToReward,
  verificationRequest,
} from './verification/apply-verifiers.ts';
export {
  createCustomVerifierPipeline,
  createDefaultVerifierPipeline,
  type VerifierConfig,
} from './verification/create-pipeline.ts';
export {
  type PipelineReport,
  VerificationPipeline,
  type VerificationPipelineOptions,
} from './verification/pipeline.ts';
export type { TextJudge } from './verification/text-judge.ts';
export {
  TextVerifier,
  type VerificationContext,
  type VerifierLimits,
  type VerifierStatistics,
} from './verification/text-verifier.ts';
export {
  defaultThresholds,
  type ScoreReportInput,
  scoreReport,
  type VerdictThresholds,
  verdictOf,
} from './verification/verdict.ts';
export { type ArithmeticStatement, arithmeticStatements } from './verification/verifiers/arithmetic.ts';
export { CoherenceVerifier, type CoherenceVerifierOptions } from './verification/verifiers/coherence.ts';
export { FactualVerifier, type FactualVerifierOptions } from './verification/verifiers/factual.ts';
export { FormatVerifier, type FormatVerifierOptions } from './verification/verifiers/format.ts';
export { LanguageVerifier, type LanguageVerifierOptions } from './verification/verifiers/language.ts';
export { LengthVerifier, type LengthVerifierOptions } from './verification/verifiers/length.ts';
export { RepetitionVerifier, type RepetitionVerifierOptions } from './verification/verifiers/repetition.ts';
export {
  SafetyPatternVerifier,
  type SafetyPatternVerifierOptions,
} from './verification/verifiers/safety-pattern.ts';
export {
  GreetingVerifier,
  type GreetingVerifierOptions,
  KeywordVerifier,
  type KeywordVerifierOptions,
  NonEmptyVerifier,
} from './verification/verifiers/simple.ts';
export { RuleVerifier, type TextRule, textpolicyRules } from './verification/verifiers/textpolicy-rules.ts';
export { ToxicityVerifier, type ToxicityVerifierOptions } from './verification/verifiers/toxicity.ts';
