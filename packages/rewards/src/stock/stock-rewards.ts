import { jsonFormat } from './format/json-format.ts';
import { matchFormatApproximately, matchFormatExactly } from './format/match-format.ts';
import { reasoningSteps, tagCount } from './format/tag-count.ts';
import { tagFormat } from './format/tag-format.ts';
import { tagLines } from './format/tag-lines.ts';
import { thinkFormat } from './format/think-format.ts';
import { xmlFormat } from './format/xml-format.ts';
import { lengthWindow, overlongLength } from './text/length-shaping.ts';
import { ngramDiversity, repetitionPenalty } from './text/repetition.ts';

/**
 * The stock rewards whose parameters are JSON data, by name, for configs:
 * `new RewardRegistry({ rewards: { ...stockRewards, accuracy: () => mathAnswer({ reference }) } })`.
 */
export const stockRewards = {
  jsonFormat,
  lengthWindow,
  matchFormatApproximately,
  matchFormatExactly,
  ngramDiversity,
  overlongLength,
  reasoningSteps,
  repetitionPenalty,
  tagCount,
  tagFormat,
  tagLines,
  thinkFormat,
  xmlFormat,
} as const;

/** Name of a stock reward of {@link stockRewards}. */
export type StockRewardName = keyof typeof stockRewards;
