import { type GroupRelativeOptions, groupRelativeAdvantages, hasRewardVariance } from '@rlp/algorithms';
import { type AdapterTable, type FixtureCase, unsupported } from './fixture.ts';

/** Runs `groupRelativeAdvantages` on interleaved rows, in the order they came. */
function byIndex(
  rewards: readonly (number | null)[],
  index: readonly unknown[],
  options: GroupRelativeOptions,
): number[] {
  const rows = new Map<unknown, number[]>();
  for (const [row, id] of index.entries()) rows.set(id, [...(rows.get(id) ?? []), row]);
  const groups = [...rows.values()];
  const advantages = groupRelativeAdvantages(
    groups.map((members) => members.map((row) => rewards[row]!)),
    options,
  );
  const result = new Array<number>(rewards.length);
  for (const [p, members] of groups.entries()) {
    for (const [g, row] of members.entries()) result[row] = advantages[p]![g]!;
  }
  return result;
}

/** Ids of consecutive groups of `size`. */
function consecutive(count: number, size: number): number[] {
  return Array.from({ length: count }, (_, row) => Math.floor(row / size));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** verl: one score per row, the sum of its token rewards; the result is spread over the mask. */
function verl({ inputs, params }: FixtureCase, options: GroupRelativeOptions): unknown {
  const scores = (inputs.token_rewards as number[][]).map(sum);
  const advantages = byIndex(scores, inputs.index, {
    epsilon: params.epsilon,
    singleMember: 'raw',
    ...options,
  });
  const spread = (inputs.mask as number[][]).map((mask, row) =>
    mask.map((counts) => counts * advantages[row]!),
  );
  return { advantages: spread, returns: spread };
}

const trlScales = { group: 'group-std', batch: 'batch-std', none: 'none' } as const;

/** TRL with one reward function; combining several is the business of `@rlp/rewards`. */
function trl({ inputs, params }: FixtureCase): unknown {
  const perFunction = inputs.rewards_per_func as (number | null)[][];
  const isPlain =
    params.multi_objective_aggregation === 'sum_then_normalize' && params.reward_weights.length === 1;
  if (!isPlain || params.reward_weights[0] !== 1) return unsupported;
  const rewards = perFunction.map(([reward]) => reward ?? null);
  const index = consecutive(rewards.length, params.num_generations);
  const scale = trlScales[params.scale_rewards as keyof typeof trlScales];
  const isFlat = index.map((id) => {
    const over = rewards.filter((_, row) => scale === 'batch-std' || index[row] === id);
    // The deviation of a group left with one score is not a number, which is not zero; a group made of one has none.
    const isDefined = over.length === 1 || over.filter((reward) => reward !== null).length > 1;
    return isDefined && !hasRewardVariance(over);
  });
  return { advantages: byIndex(rewards, index, { scale, epsilon: 1e-4 }), std_is_zero: isFlat };
}

/** slime: with a wrong count all rewards are one group, and only its grpo estimator divides by the deviation. */
function slime({ inputs, params }: FixtureCase): unknown {
  const rewards = inputs.rewards as number[];
  const { advantage_estimator: estimator, n_samples_per_prompt: size, rollout_batch_size: count } = params;
  if (estimator === 'ppo') return unsupported;
  const isWhole = rewards.length === size * count;
  const scale = estimator === 'grpo' && params.grpo_std_normalization ? 'group-std' : 'none';
  return {
    rewards: byIndex(rewards, consecutive(rewards.length, isWhole ? size : rewards.length), { scale }),
  };
}

/** A group on its own, centred and not scaled. */
function centred({ inputs }: FixtureCase): unknown {
  const [advantages] = groupRelativeAdvantages([inputs.rewards], { scale: 'none' });
  return { advantages };
}

export const advantages: AdapterTable = {
  advantages_verl: {
    grpo: (fixtureCase) =>
      verl(fixtureCase, { scale: fixtureCase.params.norm_by_std ? 'group-std' : 'none' }),
    grpo_vectorized: (fixtureCase) =>
      verl(fixtureCase, {
        scale: fixtureCase.params.norm_by_std ? 'group-std' : 'none',
        epsilonPlacement: 'variance-floor',
      }),
  },
  advantages_trl: { trl_grpo: trl },
  advantages_rollouts: {
    group_advantages: ({ inputs, params }) => ({
      advantages: byIndex(inputs.rewards, inputs.index, {
        scale: params.normalize_std ? 'group-std' : 'none',
        epsilonPlacement: 'threshold',
      }),
    }),
  },
  advantages_slime: { slime_group_norm: slime },
  advantages_textpolicy: { grpo_center: centred },
  gae_rl_primitives: {
    relative_advantages: ({ inputs, params }) => ({
      advantages: byIndex(inputs.rewards, consecutive(inputs.rewards.length, params.group_size), {
        scale: 'none',
      }),
    }),
  },
  trajectory_to_examples_tinker: { center: centred },
};
