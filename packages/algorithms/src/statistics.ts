export {
  type ExplainedVarianceInputs,
  effectiveSampleSize,
  explainedVariance,
  type NormalizationOptions,
  normalizedWeights,
  type SamplerGap,
  type SamplerGapInputs,
  samplerGap,
  type TokenStatistics,
  tokenStatistics,
  zeroVarianceShare,
} from './statistics/diagnostics.ts';
export {
  type MaskedMeanOptions,
  type MaskedVarianceOptions,
  maskedMean,
  maskedRowMeans,
  maskedVariance,
} from './statistics/masked.ts';
export { passAtK } from './statistics/pass-at-k.ts';
export type { TokenRows } from './statistics/token-rows.ts';
export { type WhiteningOptions, whitened } from './statistics/whitened.ts';
