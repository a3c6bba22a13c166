import {
  type AggregationOptions,
  aggregationWeights,
  geometricMeanRatio,
  importanceSampling,
  type KlOptions,
  type PolicyLossOptions,
} from '@rlp/algorithms/loss';
import { type OverlongOptions, overlongPenalty } from '@rlp/core';
import type { OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, itself, plainPolicyLoss, sum, wide } from './loss-requests.ts';
import { klOf } from './tensor-adapters.ts';

const unlimited = Number.POSITIVE_INFINITY;

/** One token's KL estimate and its slope. */
function kl(options: KlOptions): OperationsAdapter {
  return async ({ inputs }, operations) => {
    const given = { logprobs: [[inputs.logp]], reference: [[inputs.ref]] };
    const { kl: estimates, grad } = await klOf(operations, given, { logRatioLimit: unlimited, ...options });
    return { kl: estimates[0]![0], grad: grad[0]![0] };
  };
}

/** Token losses that are given, averaged. */
function aggregated(aggregation: AggregationOptions): OperationsAdapter {
  return async ({ inputs }, operations) => {
    const given = { logprobs: inputs.loss, mask: inputs.mask, aggregation };
    return (await evaluateLoss(operations, itself, given)).loss;
  };
}

/** GMPO as verl has it: the mean of all rows, those without a token that counts at 0. */
const geometricMeanOfTokens: OperationsAdapter = async ({ inputs }, operations) => {
  const answer = await evaluateLoss(
    operations,
    plainPolicyLoss({
      surrogate: 'gmpo',
      countEpsilon: 1e-8,
      clipLow: inputs.clip,
      clipHigh: inputs.clip,
    }),
    {
      logprobs: inputs.log_prob,
      mask: inputs.mask,
      aggregation: { mode: 'sequence-mean-token-mean', emptySequences: 'count' },
      columns: { advantages: wide(inputs.advantages, inputs.mask), proximalLogprobs: inputs.old_log_prob },
    },
  );
  return answer.loss;
};

/** GMPO as TRL has it: the mean over rows, whatever counts in them. */
const geometricMeanOfRows: OperationsAdapter = async ({ inputs }, operations) => {
  const advantages = (inputs.advantages as number[]).map((advantage) => [advantage]);
  const { value } = await operations.differentiate({
    inputs: {
      logprobs: inputs.log_prob,
      proximalLogprobs: inputs.old_log_prob,
      mask: inputs.mask,
      advantages,
    },
    by: ['logprobs'],
    weights: aggregationWeights(
      advantages.map(() => [1]),
      { mode: 'token-mean', totalTokens: advantages.length },
    ),
    compute(ops, { logprobs, proximalLogprobs, mask, advantages }) {
      const ratio = geometricMeanRatio(
        ops,
        { logprobs: logprobs!, proximalLogprobs: proximalLogprobs!, advantages: advantages!, mask: mask! },
        { clipLow: inputs.clip, clipHigh: inputs.clip, logRatioLimit: 1e6 },
      );
      return { loss: importanceSampling(ops, { ratio, advantages: advantages! }) };
    },
  });
  return value;
};

/** The loss of CISPO for one token: `−weight · A · ln π`. */
function cispo(
  bounds: (inputs: Record<'eps_low' | 'eps_high', number>) => PolicyLossOptions,
): OperationsAdapter {
  return async ({ inputs }, operations) => {
    const { loss } = await evaluateLoss(
      operations,
      plainPolicyLoss({ surrogate: 'cispo', ...bounds(inputs) }),
      {
        logprobs: [[inputs.log_prob]],
        mask: [[1]],
        aggregation: sum,
        columns: { advantages: [[inputs.advantage]], proximalLogprobs: [[inputs.old_log_prob]] },
      },
    );
    return loss;
  };
}

function overlong(options: Partial<OverlongOptions>): OperationsAdapter {
  return ({ inputs }) =>
    overlongPenalty(inputs.length, { maximum: inputs.max_len, buffer: inputs.cache, ...options });
}

const kinds: Readonly<Record<string, Readonly<Record<string, OperationsAdapter>>>> = {
  k3: {
    'verl, SkyRL (diff clamped +-20, result clamped +-10)': kl({
      estimator: 'k3',
      limit: 10,
      logRatioLimit: 20,
    }),
    'TRL (no clamp)': kl({ estimator: 'k3' }),
    'slime k3 (no clamp)': kl({ estimator: 'k3' }),
    'slime low_var_kl (result clamped +-10)': kl({ estimator: 'k3', limit: 10 }),
    'OpenRLHF k3 (result clamped +-10)': kl({ estimator: 'k3', limit: 10 }),
    'OpenRLHF k1 (clamped +-10)': kl({ estimator: 'k1', limit: 10 }),
    'verl k1 (not clamped)': kl({ estimator: 'k1' }),
  },
  aggregation: {
    'verl token-mean': aggregated({ mode: 'token-mean' }),
    'verl seq-mean-token-sum (empty rows left out)': aggregated({ mode: 'sequence-mean-token-sum' }),
    'verl seq-mean-token-mean (empty rows left out)': aggregated({
      mode: 'sequence-mean-token-mean',
      countEpsilon: 1e-8,
    }),
    'verl seq-mean-token-sum-norm (sum / T)': aggregated({ mode: 'token-sum-norm' }),
    'TRL grpo (empty rows count as 0)': aggregated({
      mode: 'sequence-mean-token-mean',
      emptySequences: 'count',
    }),
    'TRL bnpo': aggregated({ mode: 'token-mean' }),
    'TRL dr_grpo max_completion_length=T (sum / (rows*T))': aggregated({
      mode: 'sequence-mean-token-sum-norm',
      emptySequences: 'count',
    }),
  },
  gmpo: {
    'verl geo_mean (empty row contributes 0)': geometricMeanOfTokens,
    'TRL GMPO (empty row contributes -A; formula)': geometricMeanOfRows,
  },
  cispo: {
    'verl, SkyRL, slime: clip to [1-low, 1+high]': cispo(({ eps_low, eps_high }) => ({
      clipLow: eps_low,
      clipHigh: eps_high,
    })),
    'open-instruct: only above, 1+high (formula)': cispo(({ eps_high }) => ({
      clipLow: 1,
      clipHigh: eps_high,
    })),
    'TRL: only above, at epsilon_high itself (formula)': cispo(({ eps_high }) => ({
      clipLow: 1,
      clipHigh: eps_high - 1,
    })),
  },
  overlong_beyond_max: {
    'TRL soft overlong (floored at -1)': overlong({}),
    'verl/AReaL DAPO buffer (not floored)': overlong({ floor: 'none' }),
    'textpolicy (floored at -max_penalty=0.5)': overlong({ penalty: 0.5 }),
  },
};

export const definitionVariantLosses: OperationsTable = {
  definition_variants: Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, adapters]) =>
      Object.entries(adapters).map(([label, adapter]) => [`${kind}/${label}`, adapter]),
    ),
  ),
};
