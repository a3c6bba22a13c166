import { advantagePresets } from '@rlp/algorithms/presets';
import {
  maskedMean,
  maskedRowMeans,
  maskedVariance,
  type WhiteningOptions,
  whitened,
} from '@rlp/algorithms/statistics';
import type { Adapter, AdapterTable } from './fixture.ts';

function statistics(countEpsilon: number, whitening: WhiteningOptions): Readonly<Record<string, Adapter>> {
  return {
    masked_mean: ({ inputs: { values, mask }, params }) => ({
      result:
        params.axis === null
          ? maskedMean(values, mask, { countEpsilon })
          : maskedRowMeans(values, mask, { countEpsilon }),
    }),
    masked_var: ({ inputs: { values, mask }, params }) => ({
      result: maskedVariance(values, mask, {
        countEpsilon,
        divisor: params.unbiased ? 'unbiased' : 'population',
      }),
    }),
    masked_whiten: ({ inputs: { values, mask }, params }) => ({
      result: whitened(values, mask, { ...whitening, mean: params.shift_mean ? 'remove' : 'keep' }),
    }),
  };
}

export const maskedStatistics: AdapterTable = {
  masked_stats_verl: statistics(1e-8, advantagePresets.verl.whitening),
  masked_stats_trl: statistics(0, advantagePresets.trl.whitening),
  masked_stats_areal: {
    masked_normalization: ({ inputs: { values, mask }, params }) => {
      const options: WhiteningOptions = {
        ...advantagePresets.areal.whitening,
        divisor: params.unbiased ? 'unbiased' : 'population',
        epsilon: params.eps,
      };
      return {
        result: whitened(values, mask, options),
        result_masked: whitened(values, mask, { ...options, outside: 'zero' }),
      };
    },
  },
};
