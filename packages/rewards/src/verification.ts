/** Verifiers of text, pipelines of them, and the gate before a reward. */
export * from './verification/apply-verifiers.ts';
export * from './verification/create-pipeline.ts';
export * from './verification/pipeline.ts';
export type { TextJudge, VerdictThresholdOptions } from './verification/text-judge.ts';
export {
  TextVerifier,
  type VerificationContext,
  type VerifierLimits,
  type VerifierStatistics,
} from './verification/text-verifier.ts';
export * from './verification/verdict.ts';
export * from './verification/verifiers/arithmetic.ts';
export * from './verification/verifiers/coherence.ts';
export * from './verification/verifiers/factual.ts';
export * from './verification/verifiers/format.ts';
export * from './verification/verifiers/language.ts';
export * from './verification/verifiers/length.ts';
export * from './verification/verifiers/repetition.ts';
export * from './verification/verifiers/safety-pattern.ts';
export * from './verification/verifiers/simple.ts';
export * from './verification/verifiers/textpolicy-rules.ts';
export * from './verification/verifiers/toxicity.ts';
