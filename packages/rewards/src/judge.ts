/** Rewards that ask a language model: pointwise, by a rubric, in pairs, and as a ranking of a group. */
export { type ChatCompletionsOptions, chatCompletionsGenerator } from './judge/chat-completions.ts';
export {
  type LikelihoodJudgeOptions,
  likelihoodJudge,
  likelihoodTemplate,
} from './judge/likelihood.ts';
export type { PairWinner, PairwiseStatistics } from './judge/pair-comparison.ts';
export {
  type PairwiseJudge,
  type PairwiseJudgeOptions,
  pairwiseJudge,
  pairwiseTemplate,
} from './judge/pairwise.ts';
export {
  judgeRules,
  type PointwiseJudge,
  type PointwiseJudgeOptions,
  pointwiseJudge,
  pointwiseTemplate,
} from './judge/pointwise.ts';
export { type RankingJudgeOptions, rankingJudge, rankingTemplate } from './judge/ranking.ts';
export {
  type JudgeComputer,
  type RubricCriterion,
  type RubricJudgeOptions,
  rubricJudge,
  rubricTemplate,
} from './judge/rubric.ts';
export type { JudgeFailureCause, JudgeOptions, JudgeStatistics } from './judge/session.ts';
export type { JudgeTemplate } from './judge/template.ts';
export {
  type GenerateOptions,
  type SamplerGeneratorOptions,
  samplerGenerator,
  type TextGenerator,
} from './judge/text-generator.ts';
