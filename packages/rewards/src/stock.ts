/** Stock rewards: answers, formats, length, repetition, overlap, tool calls and code tests. */
export * from './stock/answers/check-answer.ts';
export * from './stock/answers/exact-answer.ts';
export * from './stock/answers/matching.ts';
export * from './stock/answers/overlap.ts';
export { extractTag } from './stock/format/extract-tag.ts';
export * from './stock/format/json-format.ts';
export {
  type MatchFormatApproximatelyOptions,
  type MatchFormatExactlyOptions,
  matchFormatApproximately,
  matchFormatExactly,
  type ReasoningTags,
} from './stock/format/match-format.ts';
export * from './stock/format/tag-count.ts';
export * from './stock/format/tag-format.ts';
export * from './stock/format/think-format.ts';
export * from './stock/format/xml-format.ts';
export {
  answerPhrase,
  type BoxedAnswer,
  type FinalAnswerOptions,
  finalAnswer,
  hashAnswer,
  hashSection,
  lastBoxed,
  lastNumber,
} from './stock/math/final-answer.ts';
export * from './stock/math/math-answer.ts';
export { type MathAgreementOptions, mathAnswersAgree } from './stock/math/math-equivalence.ts';
export * from './stock/math/math-normal-form.ts';
export type { MathEquivalence } from './stock/math/symbolic-equivalence.ts';
export * from './stock/stock-rewards.ts';
export * from './stock/text/length-shaping.ts';
export * from './stock/text/repetition.ts';
export * from './stock/tools/code-tests.ts';
export * from './stock/tools/tool-calls.ts';
