/** Stock rewards: answers, formats, length, repetition, overlap, tool calls and code tests. */
export {
  type AnswerTable,
  type CheckAnswerOptions,
  type CheckNumbersOptions,
  checkAnswer,
  checkNumbers,
} from './stock/check-answer.ts';
export {
  type CodeTest,
  type CodeTestsOptions,
  codeTests,
  lastCodeBlock,
} from './stock/code-tests.ts';
export { type ExactAnswerOptions, exactAnswer } from './stock/exact-answer.ts';
export { extractTag } from './stock/extract-tag.ts';
export {
  answerPhrase,
  type BoxedAnswer,
  type FinalAnswerOptions,
  finalAnswer,
  hashAnswer,
  hashSection,
  lastBoxed,
  lastNumber,
} from './stock/final-answer.ts';
export { type JsonFormatOptions, jsonFormat } from './stock/json-format.ts';
export {
  type CosineLengthOptions,
  type CosineScaledOptions,
  cosineLength,
  cosineScaled,
  type LengthWindowOptions,
  lengthWindow,
  overlongLength,
  sampledTokens,
  textLength,
} from './stock/length-shaping.ts';
export {
  type MatchFormatApproximatelyOptions,
  type MatchFormatExactlyOptions,
  matchFormatApproximately,
  matchFormatExactly,
  type ReasoningTags,
} from './stock/match-format.ts';
export {
  type FuzzyMatchOptions,
  fuzzyMatch,
  type NumericMatchOptions,
  numericMatch,
  textSimilarity,
} from './stock/matching.ts';
export {
  type Gsm8kAnswerOptions,
  gsm8kAnswer,
  type MathAnswerOptions,
  mathAnswer,
} from './stock/math-answer.ts';
export {
  type MathAgreementOptions,
  type MathEquivalence,
  mathAnswersAgree,
} from './stock/math-equivalence.ts';
export { type MathNormalFormRules, mathNormalForm } from './stock/math-normal-form.ts';
export {
  answerExactMatch,
  answerF1,
  answerRougeL,
  normalizedAnswer,
  type OverlapOptions,
  type OverlapScore,
  rougeL,
  wordOverlap,
} from './stock/overlap.ts';
export {
  type NgramDiversityOptions,
  ngramDiversity,
  type RepetitionPenaltyOptions,
  repeatedShare,
  repetitionPenalty,
} from './stock/repetition.ts';
export {
  type ReasoningStepsOptions,
  reasoningSteps,
  type TagCountOptions,
  tagCount,
} from './stock/tag-count.ts';
export { type TagFormatOptions, type TagLinesOptions, tagFormat, tagLines } from './stock/tag-format.ts';
export { afterThinking, type ThinkFormatOptions, thinkFormat } from './stock/think-format.ts';
export {
  jsonMatches,
  type ReadToolCall,
  readToolCalls,
  type ToolCallsOptions,
  toolCalls,
} from './stock/tool-calls.ts';
export {
  readXmlFields,
  type XmlField,
  type XmlFormatOptions,
  xmlAnswer,
  xmlFormat,
} from './stock/xml-format.ts';
