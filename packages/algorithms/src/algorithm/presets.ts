import type { DiscountedReturnOptions } from '../advantage/discounted-returns.ts';
import type { GaeOptions } from '../advantage/gae.ts';
import { advantagePresets } from '../advantage/presets.ts';
import type { GaeEstimatorOptions } from '../estimator/critic-estimators.ts';
import type { ReinforceEstimatorOptions } from '../estimator/return-estimators.ts';
import type { Whitening } from '../estimator/whitening.ts';
import type { RlOptions } from '../loop/options.ts';
import { lossPresets } from '../loss/presets.ts';

/** Values of a preset: options of the loop and of the algorithm's estimator. */
export interface AlgorithmPreset extends Omit<RlOptions, 'iterations' | 'seed'> {
  /** Of `PPOAlgorithm`. */
  readonly gae?: GaeEstimatorOptions;
  /** Of `REINFORCEAlgorithm`. */
  readonly variant?: 'plain' | 'plus-plus';
  /** Of `REINFORCEAlgorithm`. */
  readonly reinforce?: ReinforceEstimatorOptions;
}

/** PPO's first bounds. No correction of the sampler, whose logprobs the trainer recomputes. */
const symmetric = { clipLow: 0.2, clipHigh: 0.2, correction: 'none' } as const;
const recomputed = { proximal: 'recomputed' } as const;

// Sources, each at the commit that `advantagePresets` and `lossPresets` were compared with unless another is named:
//   trl       trl/trainer/grpo_config.py, trl/trainer/rloo_config.py, trl/experimental/ppo/ppo_config.py
//   verl      verl/trainer/config/_generated_ppo_trainer.yaml (mini-batches: train_batch_size 1024 by ppo_mini_batch_size 256)
//   skyrl     skyrl/train/config/ppo_base_config.yaml (train_batch_size 1024 by policy_mini_batch_size 256)
//   slime     slime/utils/arguments.py, add_algo_arguments
//   openrlhf  openrlhf/cli/train_ppo_ray.py (rollout_batch_size 1024 by train_batch_size 128), trainer/ppo_utils/experience_maker.py
//   tinker    tinker_cookbook/rl/train.py, Config; loss "importance_sampling" of the Tinker service: a sum over tokens
const verl = {
  ...recomputed,
  minibatches: 4,
  loss: { ...lossPresets.verl.clip, ...symmetric, dualClip: 3 },
  aggregation: 'token-mean',
} as const;

const skyrl = {
  ...recomputed,
  minibatches: 4,
  loss: { ...lossPresets.skyrl.clip, ...symmetric, klCoefficient: 0.001, klEstimator: 'k3', klLimit: 10 },
  aggregation: 'token-mean',
  klAggregation: lossPresets.skyrl.sequenceMean,
} as const;

/** Its estimators are given a mask of the whole response, what the environment said included. */
const wholeResponse = { ...advantagePresets.skyrl.whitening, over: 'all' } as const;

const slime = {
  ...recomputed,
  loss: { ...lossPresets.slime.clip, ...symmetric },
  aggregation: 'sequence-mean-token-mean',
} as const;

const openrlhf = {
  ...recomputed,
  minibatches: 8,
  loss: { ...lossPresets.openrlhf.clip, ...symmetric },
  aggregation: 'token-mean',
  rewardKl: { coefficient: 0.01, estimator: 'k1', limit: 10, place: 'token' },
} as const;

const tinker = {
  proximal: 'behavior',
  loss: { surrogate: 'importance-sampling', ...lossPresets.tinker.clip, correction: 'none' },
  aggregation: { mode: 'token-sum-norm', constant: 1 },
} as const;

/** PPO with one pass and λ 1. */
function onePass<Gae extends GaeOptions, Own extends Whitening>(gae: Gae, whitening: Own) {
  return { epochs: 1, gae: { discount: 1, lambda: 1, ...gae, whitening } } as const;
}

/** REINFORCE++ without a baseline. */
function plusPlus<Returns extends DiscountedReturnOptions, Own extends Whitening>(
  returns: Returns,
  whitening: Own,
) {
  return { variant: 'plus-plus', reinforce: { baseline: 'none', ...returns, whitening } } as const;
}

/**
 * Each project's defaults for the algorithms that it has, as options of ours: conventions, bounds, KL, aggregation, epochs and
 * mini-batches. Batch sizes, group sizes, sampling and learning rates are yours.
 *
 * `rlp` is our default:
 *
 * - It uses a higher upper clip bound (DAPO), so that rare tokens can gain probability.
 * - It corrects the gap between sampler and trainer.
 * - It has no KL, because a verifiable reward needs no anchor.
 * - It averages over tokens, so that each token of a long answer counts as much as one of a short answer.
 */
export const algorithmPresets = {
  grpo: {
    rlp: {},
    trl: {
      ...recomputed,
      advantage: advantagePresets.trl.grpo,
      loss: {
        ...lossPresets.trl.clip,
        clipHigh: 0.2, // the lower bound is the surrogate's own: 0.2 for `clip`, none for `cispo`
        correction: 'sequence-mask',
        correctionCap: 3,
        klWeight: 'ratio', // use_bias_correction_kl, which matters only with a klCoefficient
      },
      aggregation: { ...lossPresets.trl.sequenceMean, mode: 'token-mean' },
      entropyAggregation: 'token-mean',
    },
    verl: { ...verl, advantage: advantagePresets.verl.grpo },
    skyrl: { ...skyrl, advantage: advantagePresets.skyrl.grpo },
    slime: { ...slime, advantage: advantagePresets.slime.grpo },
    openrlhf: { ...openrlhf, advantage: advantagePresets.openrlhf.grpo },
    tinker: { ...tinker, advantage: advantagePresets.tinker.grpo },
  },
  ppo: {
    rlp: {},
    trl: {
      ...recomputed,
      epochs: 4,
      gae: {
        discount: 1,
        lambda: 0.95,
        ...advantagePresets.trl.gae,
        whitening: advantagePresets.trl.whitening,
      },
      loss: { ...lossPresets.trl.clip, ...symmetric },
      critic: { coefficient: 0.1, clip: 0.2 },
      rewardKl: { coefficient: 0.05, estimator: 'k1', place: 'trajectory' },
      aggregation: 'token-mean',
    },
    verl: {
      ...verl,
      ...onePass(advantagePresets.verl.gae, advantagePresets.verl.whitening),
      critic: { clip: 0.5 },
    },
    skyrl: {
      ...skyrl,
      ...onePass(advantagePresets.skyrl.gae, wholeResponse),
      critic: { clip: 0.2, ...lossPresets.skyrl.value, aggregation: lossPresets.skyrl.sequenceMean },
    },
    slime: {
      ...slime,
      ...onePass(advantagePresets.slime.gae, 'none'),
      critic: { clip: 0.2, ...lossPresets.slime.value },
    },
    openrlhf: {
      ...openrlhf,
      ...onePass(advantagePresets.openrlhf.gae, advantagePresets.openrlhf.whitening),
      critic: { clip: 0.5, ...lossPresets.openrlhf.value },
    },
  },
  rloo: {
    rlp: {},
    trl: {
      ...recomputed,
      advantage: advantagePresets.trl.rloo,
      loss: { ...lossPresets.trl.clip, ...symmetric, ratio: 'sequence-product' },
      rewardKl: { coefficient: 0.05, estimator: 'k1', place: 'trajectory' },
      aggregation: lossPresets.trl.sequenceMean,
    },
    verl: { ...verl, advantage: advantagePresets.verl.rloo },
    skyrl: { ...skyrl, advantage: advantagePresets.skyrl.rloo },
    openrlhf: { ...openrlhf, advantage: advantagePresets.openrlhf.rloo },
  },
  reinforce: {
    rlp: {},
    verl: {
      ...verl,
      // In 0.9.1 what the environment says no longer cuts the returns off.
      ...plusPlus(
        { ...advantagePresets.verl.returns, maskedTokens: 'skip' },
        advantagePresets.verl.whitening,
      ),
    },
    skyrl: {
      ...skyrl,
      ...plusPlus({ ...advantagePresets.skyrl.returns, maskedTokens: 'through' }, wholeResponse),
    },
    slime: { ...slime, ...plusPlus(advantagePresets.slime.returns, 'none') },
    openrlhf: {
      ...openrlhf,
      ...plusPlus(advantagePresets.openrlhf.returns, advantagePresets.openrlhf.whitening),
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, AlgorithmPreset>>>>;

/** The projects that have defaults for an algorithm. */
export type PresetName<Algorithm extends keyof typeof algorithmPresets> =
  keyof (typeof algorithmPresets)[Algorithm];
