import { tokenRewards } from '@rlp/algorithms/advantage';
import {
  type AcceptanceCriterion,
  type AggregationOptions,
  acceptanceMask,
  klPenalizedRewards,
  type PolicyLossOptions,
  samplerWeights,
} from '@rlp/algorithms/loss';
import { lossPresets } from '@rlp/algorithms/presets';
import type { TensorOps } from '@rlp/core';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss } from './loss-requests.ts';
import type { Operations, Rows } from './operations.ts';
import { klOf, valueLossOf } from './tensor-adapters.ts';

type Params = FixtureCase['params'];

const openrlhfRows: AggregationOptions = lossPresets.openrlhf.sequenceMean;
const openrlhfAggregation = (params: Params): AggregationOptions =>
  params.token_level_loss ? { mode: 'token-mean' } : openrlhfRows;

/** The correction weights of the case: truncated, windowed, or a ratio with a filter of sequences. */
function openrlhfWeights<T>(
  ops: TensorOps<T>,
  gap: { readonly proximalLogprobs: T; readonly behaviorLogprobs: T; readonly mask: T },
  params: Params,
): T {
  const [low, high] = params.is_threshold as [number, number];
  const unbounded = { logRatioLimit: 1e6 };
  if (params.is_correction === 'tis') {
    return samplerWeights(ops, gap, { level: 'token', outside: 'clamp', low, high, ...unbounded });
  }
  if (params.is_correction === 'icepop') {
    return samplerWeights(ops, gap, { level: 'token', outside: 'zero', low, high, ...unbounded });
  }
  const criterion: AcceptanceCriterion = {
    statistic: 'k1',
    over: 'sequence-mean',
    low: -Math.log(high),
    high: -Math.log(low),
  };
  const ratio = samplerWeights(ops, gap, { level: 'token', outside: 'clamp', ...unbounded });
  return ops.mul(ratio, acceptanceMask(ops, gap, [criterion]));
}

async function openrlhfColumn(
  { inputs, params }: FixtureCase,
  operations: Operations,
): Promise<Rows | undefined> {
  if (!params.is_correction || inputs.rollout_log_probs === null) return undefined;
  const { outputs } = await operations.differentiate({
    inputs: { old: inputs.old_log_probs, rollout: inputs.rollout_log_probs, mask: inputs.mask },
    by: [],
    compute: (ops, { old, rollout, mask }) => ({
      loss: openrlhfWeights(ops, { proximalLogprobs: old!, behaviorLogprobs: rollout!, mask: mask! }, params),
    }),
  });
  return outputs.loss;
}

/** GSPO takes its ratio to the sampler where a correction is asked for, and makes no other; its KL stays to the old policy. */
const openrlhfGspo: OperationsAdapter = async ({ inputs, params, ...rest }, operations) => {
  const gspo = openrlhf(lossPresets.openrlhf.gspo);
  const plain = { ...rest, inputs, params: { ...params, is_correction: null } };
  const answer = await gspo(plain, operations);
  if (!params.is_correction) return answer;
  const toSampler = { ...inputs, old_log_probs: inputs.rollout_log_probs };
  return { ...(await gspo({ ...plain, inputs: toSampler }, operations)), ppo_kl: answer.ppo_kl };
};

/** PPO limits the log-ratio, but not in its KL. */
const openrlhfPpo: OperationsAdapter = async (fixtureCase, operations) => {
  const unlimitedKl = (await openrlhf({})(fixtureCase, operations)).ppo_kl;
  return { ...(await openrlhf(lossPresets.openrlhf.clip)(fixtureCase, operations)), ppo_kl: unlimitedKl };
};

function openrlhf(options: PolicyLossOptions) {
  return async (fixtureCase: FixtureCase, operations: Operations) => {
    const { inputs, params } = fixtureCase;
    const correctionWeights = await openrlhfColumn(fixtureCase, operations);
    const loss = plainPolicyLoss({
      clipLow: params.clip_eps_low,
      clipHigh: params.clip_eps_high,
      dualClip: params.dual_clip ?? undefined,
      correction: correctionWeights === undefined ? 'none' : 'column',
      ...options,
    });
    const answer = await evaluateLoss(operations, loss, {
      logprobs: inputs.log_probs,
      mask: inputs.mask,
      aggregation: openrlhfAggregation(params),
      columns: { advantages: inputs.advantages, proximalLogprobs: inputs.old_log_probs, correctionWeights },
    });
    const { metrics } = answer;
    return {
      ...answer,
      clip_ratio: metrics['clip/low']! + metrics['clip/high']!,
      ppo_kl: metrics['kl/update'],
    };
  };
}

const openrlhfValue: OperationsAdapter = ({ inputs, params }, operations) =>
  valueLossOf(
    operations,
    {
      values: inputs.values,
      oldValues: inputs.old_values,
      returns: inputs.returns,
      mask: inputs.mask,
      aggregation: openrlhfAggregation(params),
    },
    { clip: params.clip_eps ?? undefined },
  );

const openrlhfKl: OperationsAdapter = ({ inputs, params }, operations) =>
  klOf(
    operations,
    { logprobs: inputs.log_probs, reference: inputs.ref_log_probs },
    { ...lossPresets.openrlhf.kl, estimator: params.kind },
  );

const openrlhfReward: OperationsAdapter = ({ inputs, params }) => {
  const [low, high] = params.clip_range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const scores = (inputs.rewards as number[]).map((reward) => Math.min(high, Math.max(low, reward)));
  // A sequence without tokens that count has its scalar on the last position.
  const positions = (inputs.mask as number[][]).map((row) =>
    row.includes(1) ? row.lastIndexOf(1) : row.length - 1,
  );
  const rewards = tokenRewards({ scores, masks: inputs.mask, positions });
  // OpenRLHF takes the penalty off masked tokens too.
  const masks = rewards.map((row) => row.map(() => 1));
  return {
    token_rewards: klPenalizedRewards({ rewards, kl: inputs.kl, masks }, { coefficient: params.kl_coef }),
  };
};

export const openrlhfLosses: OperationsTable = {
  policy_loss_openrlhf: {
    openrlhf_ppo: openrlhfPpo,
    openrlhf_gspo: openrlhfGspo,
    openrlhf_value: openrlhfValue,
    openrlhf_kl: openrlhfKl,
    openrlhf_reward: openrlhfReward,
  },
};
