export {
  type ApplyVerifiersOptions,
  applyVerifiersToReward,
  verificationRequest,
} from './apply-verifiers.ts';
export {
  createCustomVerifierPipeline,
  createDefaultVerifierPipeline,
  type VerifierConfig,
} from './create-pipeline.ts';
export { LengthVerifier, type LengthVerifierOptions } from './length.ts';
export {
  type PipelineReport,
  VerificationPipeline,
  type VerificationPipelineOptions,
} from './pipeline.ts';
export {
  GreetingVerifier,
  type GreetingVerifierOptions,
  KeywordVerifier,
  type KeywordVerifierOptions,
  NonEmptyVerifier,
} from './simple.ts';
export {
  TextVerifier,
  type VerificationContext,
  type VerifierLimits,
  type VerifierStatistics,
} from './text-verifier.ts';
export { RuleVerifier, type TextRule, textpolicyRules } from './textpolicy-rules.ts';
export {
  defaultThresholds,
  type ScoreReportInput,
  scoreReport,
  type VerdictThresholds,
  verdictOf,
} from './verdict.ts';
