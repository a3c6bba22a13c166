export type { RewardFailureCause } from './call-reward.ts';
export * from './computers/index.ts';
export {
  type FunctionRewardComputer,
  type RewardFunctionsOptions,
  type RewardPart,
  rewardFunctions,
} from './reward-functions.ts';
export { type ExactAnswerOptions, exactAnswer } from './stock/exact-answer.ts';
export { extractTag } from './stock/extract-tag.ts';
export {
  answerPhrase,
  type BoxedAnswer,
  type FinalAnswerOptions,
  finalAnswer,
  hashAnswer,
  lastBoxed,
  lastNumber,
} from './stock/final-answer.ts';
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
export { type TagFormatOptions, tagFormat } from './stock/tag-format.ts';
export type { RewardFunctionStatistics } from './tally.ts';
export * from './verification/index.ts';
