import {
  bilevelGae,
  discountedReturns,
  type GaeOptions,
  gae,
  reinforceAdvantages,
  tokenRewards,
} from '@rlp/algorithms/advantage';
import { entropyOf, klEstimate, klPenalizedRewards } from '@rlp/algorithms/loss';
import { advantagePresets } from '@rlp/algorithms/presets';
import { maskedRowMeans, whitened } from '@rlp/algorithms/statistics';
import { matrixFromRows, matrixRows, Tape } from '@rlp/tensor';
import { byIndex } from './advantages.ts';
import type { AdapterTable, FixtureCase } from './fixture.ts';

type Rows = readonly (readonly number[])[];

const { verl, trl, skyrl, slime, openrlhf } = advantagePresets;
const openInstruct = advantagePresets['open-instruct'];

function verlGae({ inputs, params }: FixtureCase): unknown {
  const { rewards, values, mask: masks } = inputs;
  const options: GaeOptions = { ...verl.gae, discount: params.gamma, lambda: params.lam };
  const raw = gae({ rewards, values, masks }, options);
  return {
    advantages: whitened(raw.advantages, masks, verl.whitening),
    advantages_masked: whitened(raw.advantages, masks, { ...verl.whitening, outside: 'zero' }),
    raw_advantages: raw.advantages,
    returns: raw.returns,
  };
}

function skyrlGae({ inputs, params }: FixtureCase): unknown {
  const { rewards, values, mask: masks } = inputs;
  const raw = gae({ rewards, values, masks }, { ...skyrl.gae, discount: params.gamma, lambda: params.lam });
  return { advantages: whitened(raw.advantages, masks, skyrl.whitening), returns: raw.returns };
}

/** Rows and columns exchanged: SB3 keeps `[step][environment]`. */
function transposed(rows: readonly ArrayLike<number>[]): number[][] {
  return Array.from(rows[0] ?? [], (_, column) => Array.from(rows, (row) => row[column]!));
}

function sb3({ inputs, params }: FixtureCase): unknown {
  // A step is its episode's last when the next one starts another.
  const ends = [...(inputs.episode_starts as number[][]).slice(1), inputs.dones as number[]];
  const { advantages, returns } = gae(
    {
      rewards: transposed(inputs.rewards),
      values: transposed(inputs.values),
      ends: transposed(ends),
      finalValues: inputs.last_values,
    },
    { discount: params.gamma, lambda: params.gae_lambda },
  );
  return { advantages: transposed(advantages), returns: transposed(returns) };
}

function sb3Truncation({ inputs, params }: FixtureCase): unknown {
  const rewards = transposed(inputs.rewards);
  const ends = transposed(inputs.done);
  const truncated = transposed(inputs.truncated);
  const bootstrapValues = transposed(inputs.terminal_values).map((row, b) =>
    row.map((value, t) => (truncated[b]![t] === 0 ? 0 : value)),
  );
  const values = transposed(inputs.values);
  const { advantages, returns } = gae(
    { rewards, values, ends, bootstrapValues, finalValues: inputs.last_values },
    { discount: params.gamma, lambda: params.gae_lambda },
  );
  // Targets of one step, each an episode of its own.
  const targets = gae(
    { rewards, values, ends: rewards.map((row) => row.map(() => 1)), bootstrapValues },
    { discount: params.gamma, lambda: 0 },
  );
  return {
    adjusted_rewards: transposed(targets.returns),
    advantages: transposed(advantages),
    returns: transposed(returns),
  };
}

/** Per-token KL estimates; tokens outside the mask have the same logprob in both policies. */
function penalty(logprobs: Rows, reference: Rows, masks: Rows, estimator: 'k1' | 'k3'): Float64Array[] {
  const tape = new Tape();
  const inside = (rows: Rows) =>
    tape.data(matrixFromRows(rows.map((row, b) => row.map((value, t) => (masks[b]![t] ? value : 1)))));
  const inputs = { logprobs: inside(logprobs), referenceLogprobs: inside(reference) };
  return matrixRows(klEstimate(tape, inputs, { estimator, logRatioLimit: Number.POSITIVE_INFINITY }));
}

/** The reward stands one token behind the last of the response, and values count up to there. */
function trlPpo({ inputs, params }: FixtureCase): unknown {
  const lengths = inputs.sequence_lengths as number[];
  const upTo = (extra: number) =>
    (inputs.values as Rows).map((row, b) => row.map((_, t) => (t <= lengths[b]! + extra ? 1 : 0)));
  const [response, rewarded] = [upTo(0), upTo(1)];
  const kl = penalty(inputs.logprobs, inputs.ref_logprobs, response, params.kl_estimator);
  const positions = (inputs.values as Rows).map((row, b) => Math.min(lengths[b]! + 1, row.length - 1));
  const scored = tokenRewards({ scores: inputs.scores, masks: response, positions });
  const plain = klPenalizedRewards({ rewards: scored, kl, masks: response }, { coefficient: params.kl_coef });
  const rewards = params.whiten_rewards ? whitened(plain, rewarded, { mean: 'keep' }) : plain;
  const values = (inputs.values as Rows).map((row, b) => row.map((value, t) => value * rewarded[b]![t]!));
  const options: GaeOptions = { ...trl.gae, discount: params.gamma, lambda: params.lam };
  const { advantages, returns } = gae({ rewards, values, masks: rewarded }, options);
  return { rewards, kl, values_used: values, advantages: whitened(advantages, response), returns };
}

function bilevel({ inputs, params }: FixtureCase): unknown {
  const { rewards, values, mask: masks } = inputs;
  const turnEnds = (rewards as Rows).map((row) => row.map((reward) => (reward === 0 ? 0 : 1)));
  const { advantages, returns } = bilevelGae(
    { rewards, values, masks, turnEnds },
    { discount: params.gamma, turnDiscount: params.high_level_gamma, lambda: params.lam },
  );
  return { advantages: whitened(advantages, masks, { countEpsilon: 1e-8 }), returns };
}

function packed({ inputs, params }: FixtureCase): unknown {
  return gae(
    { rewards: inputs.rewards, values: inputs.values, masks: inputs.response_masks, ends: inputs.dones },
    { ...openInstruct.gae, discount: params.gamma, lambda: params.lam },
  );
}

function plain({ inputs, params }: FixtureCase): unknown {
  const { rewards, values } = inputs;
  return gae({ rewards, values }, { ...slime.gae, discount: params.gamma, lambda: params.lam });
}

/** rl_primitives standardises over every entry, with epsilon outside the root. */
function normalize(rows: Float64Array[], params: FixtureCase['params']): Float64Array[] {
  return params.normalize ? whitened(rows, undefined, { epsilonPlacement: 'added' }) : rows;
}

/** rl_primitives hands over one value more than rewards: that after the last step. */
function primitivesGae({ inputs, params }: FixtureCase, lambda: number) {
  return gae(
    {
      rewards: inputs.rewards,
      values: (inputs.values as Rows).map((row) => row.slice(0, -1)),
      ends: inputs.dones,
      finalValues: (inputs.values as Rows).map((row) => row.at(-1)!),
    },
    { discount: params.gamma, lambda },
  );
}

function meanEntropy({ inputs }: FixtureCase): unknown {
  const tape = new Tape();
  const entropies = (inputs.logits as number[][][]).map(
    (row) => entropyOf(tape, tape.data(matrixFromRows(row))).data,
  );
  return { entropy: maskedRowMeans(entropies, inputs.mask) };
}

const groupBaselines = {
  openrlhf_rloo: openrlhf.rloo,
  openrlhf_group_norm: openrlhf.grpo,
  openrlhf_dr_grpo: { scale: 'none' },
  openrlhf_reinforce_baseline: { scale: 'none' },
  openrlhf_reinforce: { baseline: 'none', scale: 'none' },
  openrlhf_gae: { baseline: 'none', scale: 'none' },
} as const;

/** OpenRLHF: baseline per group, KL in the reward, returns or GAE, and for three of them a whitening over the batch. */
function openrlhfAdvantages({ fn, inputs, params }: FixtureCase): unknown {
  const { mask: masks, kl, values } = inputs;
  const groups = (inputs.rewards as number[]).map((_, row) => Math.floor(row / params.n_samples_per_prompt));
  const scores = byIndex(inputs.rewards, groups, groupBaselines[fn as keyof typeof groupBaselines]);
  const rewards = klPenalizedRewards(
    { rewards: tokenRewards({ scores, masks }), kl, masks },
    { coefficient: params.kl_coef },
  );
  const { advantages, returns } =
    fn === 'openrlhf_gae'
      ? gae({ rewards, values, masks }, { ...openrlhf.gae, discount: params.gamma, lambda: params.lam })
      : reinforceAdvantages({ rewards, masks }, { ...openrlhf.returns, discount: params.gamma });
  if (!/gae|reinforce/.test(fn)) return { advantages, returns };
  const scale = params.no_std_norm ? 'none' : 'std';
  return { advantages: whitened(advantages, masks, { ...openrlhf.whitening, scale }), returns };
}

export const gaeAdapters: AdapterTable = {
  gae_verl: { gae_verl: verlGae },
  advantages_skyrl: { gae_skyrl: skyrlGae },
  gae_sb3: { gae_sb3: sb3 },
  gae_sb3_truncation: { gae_sb3_truncation: sb3Truncation },
  gae_trl_ppo: { gae_trl_ppo: trlPpo },
  gae_bilevel_ragen: { bilevel_gae: bilevel },
  gae_openinstruct: { gae_padded: plain, gae_packed: packed },
  returns_slime: {
    gae_unmasked: plain,
    discounted_returns: ({ inputs, params }) => ({
      returns: discountedReturns({ rewards: inputs.rewards }, { discount: params.gamma }),
    }),
  },
  gae_rl_primitives: {
    compute_advantages_gae: (fixtureCase) => {
      const { advantages } = primitivesGae(fixtureCase, fixtureCase.params.lam);
      return { advantages: normalize(advantages, fixtureCase.params) };
    },
    compute_advantages_returns: ({ inputs, params }) => ({
      advantages: normalize(
        discountedReturns({ rewards: inputs.rewards }, { discount: params.gamma }),
        params,
      ),
    }),
    td_returns: (fixtureCase) => ({ returns: primitivesGae(fixtureCase, 0).returns }),
    entropy_mean: meanEntropy,
  },
  advantages_openrlhf: Object.fromEntries(Object.keys(groupBaselines).map((fn) => [fn, openrlhfAdvantages])),
};
