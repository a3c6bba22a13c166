/** Stock rewards: answers, formats, length, repetition, overlap, tool calls and code tests. */
export * from './stock/answers/check-answer.ts';
export * from './stock/answers/exact-answer.ts';
export * from './stock/answers/matching.ts';
export * from './stock/answers/math-answer.ts';
export * from './stock/answers/overlap.ts';
export * from './stock/format/json-format.ts';
export {
  type MatchFormatApproximatelyOptions,
  type MatchFormatExactlyOptions,
  matchFormatApproximately,
  matchFormatExactly,
  type ReasoningTags,
} from './stock/format/match-format.ts';
export * from './stock/format/tag-count.ts';
export { type TagFormatOptions, tagFormat } from './stock/format/tag-format.ts';
export * from './stock/format/tag-lines.ts';
export * from './stock/format/think-format.ts';
export * from './stock/format/xml-format.ts';
export * from './stock/stock-rewards.ts';
export * from './stock/text/length-shaping.ts';
export * from './stock/text/repetition.ts';
export * from './stock/tools/code-tests.ts';
export * from './stock/tools/tool-calls.ts';
