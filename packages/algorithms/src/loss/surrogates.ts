import type { TensorOps } from '@rlp/core';
import { clippedSurrogate } from './clipped-surrogate.ts';
import { type CountFloor, maskedRowMean, not } from './masked.ts';
import {
  divergenceMask,
  geometricMeanRatio,
  importanceSampling,
  softGateSurrogate,
} from './ratio-surrogates.ts';
import { clippedWeightSurrogate, gammaWeights, policyGradient, windowSurrogate } from './score-surrogates.ts';

/** Surrogates of `policyLoss`. */
export const surrogateKinds = [
  'clip',
  'cispo',
  'sapo',
  'gmpo',
  'dppo',
  'vespo',
  'window',
  'importance-sampling',
  'policy-gradient',
] as const;

/** One of {@link surrogateKinds}. */
export type SurrogateKind = (typeof surrogateKinds)[number];

/** Every surrogate's own parameters. Which of them a surrogate reads, and its defaults, say {@link surrogateDefaults}. */
export interface SurrogateParameters {
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip?: number | undefined;
  readonly ratioCap?: number | undefined;
  readonly temperaturePositive: number;
  readonly temperatureNegative: number;
  readonly divergence: 'total-variation' | 'kl';
  readonly divergenceLow: number;
  readonly divergenceHigh: number;
  readonly dropped: 'outward' | 'both';
  readonly gammaPositive: { readonly power: number; readonly rate: number };
  readonly gammaNegative: { readonly power: number; readonly rate: number };
}

/** What each surrogate reads: its defaults, and `undefined` for what is off by default. */
export const surrogateDefaults: Readonly<Record<SurrogateKind, Partial<SurrogateParameters>>> = {
  clip: { clipLow: 0.2, clipHigh: 0.28, dualClip: undefined, ratioCap: undefined },
  cispo: { clipLow: 1, clipHigh: 4 },
  sapo: { temperaturePositive: 1, temperatureNegative: 1.05 },
  gmpo: { clipLow: 0.4, clipHigh: 0.4 },
  dppo: { divergence: 'total-variation', divergenceLow: 0.15, divergenceHigh: 0.15, dropped: 'outward' },
  vespo: { gammaPositive: { power: 2, rate: 3 }, gammaNegative: { power: 3, rate: 2 } },
  window: { clipLow: 0.2, clipHigh: 0.28 },
  'importance-sampling': {},
  'policy-gradient': {},
};

/** What a surrogate is computed from. Each is `[B, T]`, the ratio also `[B, 1]`. */
export interface SurrogateContext<T> {
  readonly logprobs: T;
  readonly proximalLogprobs: T;
  readonly advantages: T;
  readonly mask: T;
  readonly ratio: T;
}

type Compute = <T>(
  ops: TensorOps<T>,
  context: SurrogateContext<T>,
  parameters: SurrogateParameters & { readonly countFloor: CountFloor; readonly logRatioLimit: number },
) => T;

/** Token losses of every surrogate. */
export const surrogates: Readonly<Record<SurrogateKind, Compute>> = {
  clip: clippedSurrogate,
  cispo: clippedWeightSurrogate,
  sapo: softGateSurrogate,
  window: windowSurrogate,
  'importance-sampling': importanceSampling,
  'policy-gradient': policyGradient,
  gmpo: (ops, context, parameters) => {
    const ratio = geometricMeanRatio(ops, context, parameters);
    return importanceSampling(ops, {
      ratio,
      advantages: maskedRowMean(ops, context.advantages, context.mask, parameters.countFloor),
    });
  },
  dppo: (ops, context, parameters) =>
    ops.mul(importanceSampling(ops, context), divergenceMask(ops, context, parameters)),
  vespo: (ops, context, { gammaPositive, gammaNegative }) => {
    const weights = gammaWeights(ops, context, { positive: gammaPositive, negative: gammaNegative });
    return ops.mul(policyGradient(ops, context), weights);
  },
};

/** Metrics of a surrogate, which are what its bounds stopped, as 0 or 1 per token. */
export function boundMetrics<T>(
  ops: TensorOps<T>,
  kind: SurrogateKind,
  { logprobs, proximalLogprobs, advantages, ratio }: SurrogateContext<T>,
  parameters: SurrogateParameters,
): Record<string, T> {
  const current = ops.stopGradient(ratio);
  const { clipLow, clipHigh, dualClip } = parameters;
  const isGood = ops.greater(advantages, ops.constant(0));
  const isBad = ops.greater(ops.constant(0), advantages);
  const below = ops.greater(ops.constant(1 - clipLow), current);
  const above = ops.greater(current, ops.constant(1 + clipHigh));
  switch (kind) {
    case 'clip':
      return {
        'clip/low': ops.mul(below, isBad),
        'clip/high': ops.mul(above, isGood),
        ...(dualClip !== undefined && {
          'clip/dual': ops.mul(ops.greater(current, ops.constant(dualClip)), isBad),
        }),
      };
    case 'cispo':
    case 'window':
      return { 'clip/low': below, 'clip/high': above };
    case 'gmpo': {
      const moved = ops.sub(ops.stopGradient(logprobs), proximalLogprobs);
      return {
        'clip/low': ops.mul(ops.greater(ops.constant(-clipLow), moved), isBad),
        'clip/high': ops.mul(ops.greater(moved, ops.constant(clipHigh)), isGood),
      };
    }
    case 'dppo': {
      const inputs = { logprobs, proximalLogprobs, advantages };
      const dropped = not(ops, divergenceMask(ops, inputs, parameters));
      return { 'clip/low': ops.mul(dropped, isBad), 'clip/high': ops.mul(dropped, isGood) };
    }
    default:
      return {};
  }
}
