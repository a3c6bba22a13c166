/** Stock rewards: answers, formats, length, repetition, overlap, tool calls and code tests. */
export {
  type AnswerTable,
  type CheckAnswerOptions,
  type CheckNumbersOptions,
  checkAnswer,
  checkNumbers,
} from './stock/answers/check-answer.ts';
export { type ExactAnswerOptions, exactAnswer } from './stock/answers/exact-answer.ts';
export {
  type FuzzyMatchOptions,
  fuzzyMatch,
  type NumericMatchOptions,
  numericMatch,
  textSimilarity,
} from './stock/answers/matching.ts';
export {
  answerExactMatch,
  answerF1,
  answerRougeL,
  normalizedAnswer,
  type OverlapOptions,
  type OverlapScore,
  rougeL,
  wordOverlap,
} from './stock/answers/overlap.ts';
export { extractTag } from './stock/format/extract-tag.ts';
export { type JsonFormatOptions, jsonFormat } from './stock/format/json-format.ts';
export {
  type MatchFormatApproximatelyOptions,
  type MatchFormatExactlyOptions,
  matchFormatApproximately,
  matchFormatExactly,
  type ReasoningTags,
} from './stock/format/match-format.ts';
export {
  type ReasoningStepsOptions,
  reasoningSteps,
  type TagCountOptions,
  tagCount,
} from './stock/format/tag-count.ts';
export {
  type TagFormatOptions,
  type TagLinesOptions,
  tagFormat,
  tagLines,
} from './stock/format/tag-format.ts';
export { afterThinking, type ThinkFormatOptions, thinkFormat } from './stock/format/think-format.ts';
export {
  readXmlFields,
  type XmlField,
  type XmlFormatOptions,
  xmlAnswer,
  xmlFormat,
} from './stock/format/xml-format.ts';
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
export {
  type Gsm8kAnswerOptions,
  gsm8kAnswer,
  type MathAnswerOptions,
  mathAnswer,
} from './stock/math/math-answer.ts';
export {
  type MathAgreementOptions,
  type MathEquivalence,
  mathAnswersAgree,
} from './stock/math/math-equivalence.ts';
export { type MathNormalFormRules, mathNormalForm } from './stock/math/math-normal-form.ts';
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
} from './stock/text/length-shaping.ts';
export {
  type NgramDiversityOptions,
  ngramDiversity,
  type RepetitionPenaltyOptions,
  repeatedShare,
  repetitionPenalty,
} from './stock/text/repetition.ts';
export {
  type CodeTest,
  type CodeTestsOptions,
  codeTests,
  lastCodeBlock,
} from './stock/tools/code-tests.ts';
export {
  jsonMatches,
  type ReadToolCall,
  readToolCalls,
  type ToolCallsOptions,
  toolCalls,
} from './stock/tools/tool-calls.ts';
