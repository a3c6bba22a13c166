/** Rewards that ask a language model, pointwise, by a rubric, in pairs, and as a ranking of a group. */
export * from './judge/chat-completions.ts';
export * from './judge/likelihood.ts';
export * from './judge/pairwise.ts';
export {
  judgeRules,
  type PointwiseJudge,
  type PointwiseJudgeOptions,
  pointwiseJudge,
  pointwiseTemplate,
} from './judge/pointwise.ts';
export * from './judge/ranking.ts';
export * from './judge/rubric.ts';
export type { JudgeFailureCause, JudgeOptions, JudgeStatistics } from './judge/session.ts';
export type { JudgeTemplate } from './judge/template.ts';
