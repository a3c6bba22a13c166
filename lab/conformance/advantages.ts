import {
  alignedTurnRewards,
  entropyWeightedAdvantages,
  type GroupRelativeOptions,
  groupIndices,
  groupRelativeAdvantages,
  hasRewardVariance,
  normalizedThenSummed,
  optimalTokenBaseline,
  planningAmplifiedAdvantages,
  planningTokens,
  pooledEntropies,
  reductionFactors,
  reinforceAdvantages,
  scaledAdvantages,
  scatterGroups,
  sequenceScores,
  spreadOverTokens,
  standardizedOverBatch,
} from '@rlp/algorithms/advantage';
import { advantagePresets } from '@rlp/algorithms/presets';
import { passAtK, whitened } from '@rlp/algorithms/statistics';
import { weightedRewards } from '@rlp/core';
import type { Adapter, AdapterTable, FixtureCase } from './fixture.ts';

/** Runs `groupRelativeAdvantages` on rows told apart by an id, in the order they came. */
export function byIndex(
  rewards: readonly (number | null)[],
  index: readonly unknown[],
  options: GroupRelativeOptions,
  rowLengths?: readonly number[],
): number[] {
  const groups = groupIndices(index);
  const pick = <T>(values: readonly T[]) => groups.map((rows) => rows.map((row) => values[row]!));
  const lengths = rowLengths && pick(rowLengths);
  return [...scatterGroups(groups, groupRelativeAdvantages(pick(rewards), options, { lengths }))];
}

/** Ids of consecutive groups of `size`. */
function consecutive(count: number, size: number): number[] {
  return Array.from({ length: count }, (_, row) => Math.floor(row / size));
}

const { verl: verlPreset, skyrl, textpolicy, trl: trlPreset } = advantagePresets;
const vectorized = advantagePresets['verl-vectorized'];

/** Outcome advantages: one score per row, the sum of its token rewards; the result is spread over the mask. */
function outcome(options: GroupRelativeOptions): Adapter {
  return ({ inputs, params }) => {
    const scores = [...sequenceScores(inputs.token_rewards)];
    const lengths = sequenceScores(inputs.mask);
    const advantages = byIndex(
      scores,
      inputs.index,
      {
        ...options,
        ...(params.epsilon !== undefined && { epsilon: params.epsilon }),
        ...(params.norm_by_std === false && { scale: 'none' }),
      },
      [...lengths],
    );
    return { advantages: spreadOverTokens(advantages, inputs.mask) };
  };
}

/** GPG divides by a number of the caller's as well. */
const gpg: Adapter = (fixtureCase) => {
  const options: GroupRelativeOptions = { scale: 'nonzero-share', singleMember: 'raw' };
  const { advantages } = outcome(options)(fixtureCase) as { advantages: Float64Array[] };
  const factors = advantages.map(() => 1 / fixtureCase.params.f_norm);
  return { advantages: scaledAdvantages(advantages, factors) };
};

/** Returns, whitened over the batch. */
function reinforcePlusPlus({ inputs, params }: FixtureCase): unknown {
  const { returns } = reinforceAdvantages(
    { rewards: inputs.token_rewards, masks: inputs.mask },
    { ...verlPreset.returns, discount: params.gamma },
  );
  const advantages = whitened(returns, inputs.mask, { ...verlPreset.whitening, outside: 'zero' });
  return { advantages, returns };
}

function reinforcePlusPlusBaseline(fixtureCase: FixtureCase): unknown {
  const { advantages } = outcome({ scale: 'none', singleMember: 'raw' })(fixtureCase) as {
    advantages: Float64Array[];
  };
  return {
    advantages: whitened(advantages, fixtureCase.inputs.mask, { ...verlPreset.whitening, outside: 'zero' }),
  };
}

function remax({ inputs }: FixtureCase): unknown {
  return reinforceAdvantages(
    { rewards: inputs.token_rewards, masks: inputs.mask, baselines: inputs.baselines },
    { outside: 'recursion' },
  );
}

function optimalBaseline(positions: 'column' | 'trained-token'): Adapter {
  return ({ inputs, params }) =>
    optimalTokenBaseline(
      {
        rewards: inputs.token_rewards,
        masks: inputs.mask,
        groups: inputs.index,
        logprobs: inputs.old_log_probs,
        squaredProbabilitySums: inputs.sum_pi_squared,
        importanceWeights: inputs.is_weights ?? undefined,
      },
      {
        positions,
        longestTail: params.handle_zero_tail ? 'return' : 'baseline',
        outside: 'recursion',
        epsilon: params.epsilon,
      },
    );
}

const trlScales = { group: 'group-std', batch: 'batch-std', none: 'none' } as const;

function groupsOf<T>(rows: readonly T[], size: number): T[][] {
  return groupIndices(consecutive(rows.length, size)).map((members) => members.map((row) => rows[row]!));
}

/** The deviation of a group left with one score is not a number, which is not zero; a group made of one has deviation 0. */
function isDefined(rewards: readonly (number | null)[]): boolean {
  return rewards.length === 1 || rewards.filter((reward) => reward !== null).length > 1;
}

function trl({ inputs, params }: FixtureCase): unknown {
  const rewards = groupsOf(inputs.rewards_per_func as (number | null)[][], params.num_generations);
  const { reward_weights: weights, scale_rewards: scaleRewards } = params;
  if (params.multi_objective_aggregation === 'normalize_then_sum') {
    const advantages = normalizedThenSummed(rewards, weights, trlPreset.grpo).flat();
    const isFlat =
      isDefined(weightedRewards(rewards, weights).flat()) && advantages.every((value) => value === 0);
    return { advantages, std_is_zero: advantages.map(() => isFlat) };
  }
  const summed = weightedRewards(rewards, weights);
  const scale = trlScales[scaleRewards as keyof typeof trlScales];
  const isFlat = summed.flatMap((group) => {
    const over = scale === 'batch-std' ? summed.flat() : group;
    return group.map(() => isDefined(over) && !hasRewardVariance(over));
  });
  return {
    advantages: groupRelativeAdvantages(summed, { ...trlPreset.grpo, scale }).flat(),
    std_is_zero: isFlat,
  };
}

function trlRloo({ inputs, params }: FixtureCase): unknown {
  const rewards = groupsOf(inputs.rewards as (number | null)[], params.num_generations);
  const advantages = groupRelativeAdvantages(rewards, trlPreset.rloo);
  if (!params.normalize_advantages) return { advantages: advantages.flat() };
  // Without a second score in its group a completion has nothing to be compared with, and stays out.
  const compared = advantages.map((group, p) => {
    const isComparable = rewards[p]!.filter((reward) => reward !== null).length > 1;
    return group.map((value, g) => (isComparable && rewards[p]![g] !== null ? value : null));
  });
  return { advantages: standardizedOverBatch(compared, 1e-4).flat() };
}

/** slime: with a wrong count all rewards are one group; estimators of one completion leave rewards as they are. */
function slime({ inputs, params }: FixtureCase): unknown {
  const rewards = inputs.rewards as number[];
  const { advantage_estimator: estimator, n_samples_per_prompt: size, rollout_batch_size: count } = params;
  const isWhole = rewards.length === size * count;
  const isScaled = ['grpo', 'gspo'].includes(estimator);
  const scale = isScaled && params.grpo_std_normalization ? 'group-std' : 'none';
  const baseline = isScaled || estimator === 'reinforce_plus_plus_baseline' ? 'mean' : 'none';
  const index = consecutive(rewards.length, isWhole ? size : rewards.length);
  return { rewards: byIndex(rewards, index, { scale, baseline }) };
}

/** A group on its own. */
function oneGroup(options: GroupRelativeOptions): Adapter {
  return ({ inputs, params }) => {
    const [advantages] = groupRelativeAdvantages([inputs.rewards], {
      ...options,
      ...(params.eps !== undefined && { epsilon: params.eps }),
    });
    return { advantages };
  };
}

/** SkyRL folds the reduction of the loss into the advantages. */
function skyrlReduction({ inputs, params }: FixtureCase): unknown {
  const rows = (inputs.mask as number[][]).map((_, row) => row);
  const prompts = params.prompt_boundaries as [number, number][];
  const parts = rows.map((row) => {
    if (params.loss_reduction === 'token_mean') return 0;
    if (params.loss_reduction === 'token_mean_legacy') return Math.floor(row / params.micro_batch_size);
    if (params.loss_reduction !== 'prompt_mean') return row;
    return prompts.findIndex(([from, to]) => row >= from && row < to);
  });
  const length = params.loss_reduction === 'seq_mean_token_sum_norm' ? params.max_seq_len : undefined;
  const factors = reductionFactors(inputs.mask, parts, { length });
  return { scaled_advantages: scaledAdvantages(inputs.advantages, factors) };
}

/** pass@1 and pass@n by counting, and the unbiased estimate for powers of two. */
function passAt({ inputs, expected }: FixtureCase): unknown {
  const keys = Object.keys(expected as object);
  return Object.fromEntries(
    keys.map((key) => [key, passAtK(inputs.correct, Number(/pass_at_(\d+)/.exec(key)?.[1]))]),
  );
}

export const advantages: AdapterTable = {
  advantages_verl: {
    grpo: outcome(verlPreset.grpo),
    grpo_vectorized: outcome(vectorized.grpo),
    grpo_passk: outcome({ baseline: 'second-best' }),
    rloo: outcome(verlPreset.rloo),
    rloo_vectorized: outcome(vectorized.rloo),
    opo: outcome({ baseline: 'length-weighted-mean', scale: 'none', singleMember: 'raw' }),
    gpg,
    reinforce_pp: reinforcePlusPlus,
    reinforce_pp_baseline: reinforcePlusPlusBaseline,
    remax,
  },
  advantages_verl_otb: { otb: optimalBaseline('column'), tir_otb: optimalBaseline('trained-token') },
  advantages_trl: { trl_grpo: trl, trl_rloo: trlRloo },
  advantages_rollouts: {
    group_advantages: ({ inputs, params }) => ({
      advantages: byIndex(inputs.rewards, inputs.index, {
        ...advantagePresets.rollouts.grpo,
        scale: params.normalize_std ? 'group-std' : 'none',
      }),
    }),
  },
  advantages_skyrl: {
    rloo_skyrl: outcome(skyrl.rloo),
    maxrl_skyrl: outcome(skyrl.maxrl),
    loss_reduction_scaling: skyrlReduction,
  },
  advantages_slime: { slime_group_norm: slime },
  advantages_textpolicy: {
    grpo_center: oneGroup(textpolicy.grpo),
    maxrl: oneGroup(textpolicy.maxrl),
    gtpo_weight: ({ inputs, params }) => ({
      token_advantages: entropyWeightedAdvantages(inputs.advantage, inputs.entropies, {
        strength: params.beta,
      }),
    }),
    hicra: ({ inputs, params }) => ({
      token_advantages: planningAmplifiedAdvantages(inputs.token_advantages, inputs.planning_mask, {
        amplification: params.alpha,
      }),
    }),
    sepa_pool: ({ inputs, params }) => ({
      entropies: pooledEntropies(inputs.entropies, inputs.planning_mask, { share: params.lambda_t }),
    }),
    planning_tokens: ({ inputs, params }) => ({
      mask: [...planningTokens(inputs.tokens, params.strategic_grams, { window: params.max_window })],
    }),
  },
  gae_rl_primitives: {
    relative_advantages: ({ inputs, params }) => ({
      advantages: byIndex(inputs.rewards, consecutive(inputs.rewards.length, params.group_size), {
        scale: 'none',
      }),
    }),
  },
  trajectory_to_examples_tinker: { center: oneGroup(advantagePresets.tinker.grpo) },
  pass_at_k_openinstruct: { pass_at_k: passAt },
  reward_alignment_rewardkit: {
    align_step_rewards: ({ inputs }) => ({
      base_rewards: alignedTurnRewards(
        inputs.turn_index,
        (inputs.step_outputs ?? [])
          .filter((output: unknown) => output !== null)
          .map((output: { step_index: unknown; base_reward: number }) => ({
            turn: output.step_index,
            reward: output.base_reward,
          })),
      ),
    }),
  },
};
