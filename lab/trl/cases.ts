import type { GrpoOptions, RlooOptions } from '@rlp/algorithms';
import { estimators } from '@rlp/algorithms/advantage';
import type { OnnxBackendOptions } from '@rlp/backprop';

/** One configuration of both sides. */
export interface TrlCase {
  readonly name: string;
  readonly trainer: 'grpo' | 'rloo';
  /** Fields of `GRPOConfig` or `RLOOConfig`. */
  readonly trl: Readonly<Record<string, unknown>>;
  /** Options over `preset: 'trl'`. */
  readonly rlp: Omit<GrpoOptions, 'preset'> & Omit<RlooOptions, 'preset'>;
  readonly optimizer?: OnnxBackendOptions['optimizer'];
  /** Reward functions and their weights. Default: the first one alone. */
  readonly rewards?: Readonly<Record<string, number>>;
}

const beta = { beta: 0.04 };
const kl = { klCoefficient: 0.04 };

/** Loss types of TRL, each with what makes it the same here. */
const lossTypes = {
  dapo: { trl: {}, rlp: {} },
  grpo: { trl: { loss_type: 'grpo' }, rlp: { aggregation: 'sequence-mean-token-mean' } },
  bnpo: { trl: { loss_type: 'bnpo' }, rlp: { aggregation: 'token-mean' } },
  dr_grpo: {
    trl: { loss_type: 'dr_grpo', scale_rewards: 'none' },
    rlp: {
      aggregation: 'sequence-mean-token-sum-norm',
      aggregationConstant: 48,
      advantage: { scale: 'none' },
    },
  },
  gspo: {
    trl: { loss_type: 'grpo', importance_sampling_level: 'sequence', epsilon: 3e-4, epsilon_high: 4e-4 },
    rlp: {
      aggregation: 'sequence-mean-token-mean',
      loss: { ratio: 'sequence', clipLow: 3e-4, clipHigh: 4e-4 },
    },
  },
  cispo: {
    trl: { loss_type: 'cispo', epsilon_high: 5 },
    rlp: { loss: { surrogate: 'cispo', clipHigh: 4 } },
  },
  sapo: {
    trl: { loss_type: 'sapo' },
    rlp: { aggregation: 'sequence-mean-token-mean', loss: { surrogate: 'sapo' } },
  },
  vespo: { trl: { loss_type: 'vespo' }, rlp: { loss: { surrogate: 'vespo' } } },
  luspo: {
    trl: { loss_type: 'luspo', importance_sampling_level: 'sequence' },
    rlp: { aggregation: 'sequence-mean-token-sum', loss: { ratio: 'sequence' } },
  },
} as const satisfies Record<string, Pick<TrlCase, 'trl' | 'rlp'>>;

const perLossType = Object.entries<Pick<TrlCase, 'trl' | 'rlp'>>(lossTypes).flatMap(
  ([name, { trl, rlp }]): TrlCase[] => [
    { name, trainer: 'grpo', trl, rlp },
    {
      name: `${name}, beta 0.04`,
      trainer: 'grpo',
      trl: { ...trl, ...beta },
      rlp: { ...rlp, loss: { ...rlp.loss, ...kl } },
    },
  ],
);

const grpo = (
  name: string,
  trl: TrlCase['trl'],
  rlp: TrlCase['rlp'],
  rest: Partial<TrlCase> = {},
): TrlCase => ({
  name,
  trainer: 'grpo',
  trl,
  rlp,
  ...rest,
});

const rloo = (name: string, trl: TrlCase['trl'], rlp: TrlCase['rlp']): TrlCase => ({
  name,
  trainer: 'rloo',
  trl,
  rlp,
});

const twoRewards = { first: 1, second: 0.1 };

/** Loss types that average over sequences, with what TRL averages in another way. */
const ofSequences = (['grpo', 'dr_grpo', 'luspo'] as const).flatMap((name): TrlCase[] => {
  const { trl, rlp }: Pick<TrlCase, 'trl' | 'rlp'> = lossTypes[name];
  return [
    grpo(
      `${name}, entropy_coef 0.05`,
      { ...trl, entropy_coef: 0.05 },
      { ...rlp, loss: { ...rlp.loss, entropyCoefficient: 0.05 } },
    ),
    grpo(
      `${name}, mask_truncated_completions`,
      { ...trl, ...beta, mask_truncated_completions: true },
      { ...rlp, truncatedTrajectories: 'mask', loss: { ...rlp.loss, ...kl } },
    ),
  ];
});

/** Every configuration that is compared. */
export const cases: readonly TrlCase[] = [
  ...perLossType,
  grpo(
    'use_bias_correction_kl False',
    { ...beta, use_bias_correction_kl: false },
    { loss: { ...kl, klWeight: 'one' } },
  ),
  grpo('epsilon_high 0.28', { epsilon_high: 0.28 }, { loss: { clipHigh: 0.28 } }),
  grpo('delta 1.5', { delta: 1.5 }, { loss: { ratioCap: 1.5 } }),
  grpo('scale_rewards batch', { scale_rewards: 'batch' }, { advantage: { scale: 'batch-std' } }),
  grpo('scale_rewards none', { scale_rewards: 'none' }, { advantage: { scale: 'none' } }),
  grpo(
    'top_entropy_quantile 0.2',
    { top_entropy_quantile: 0.2 },
    { tokenSelection: { method: 'high-entropy', share: 0.2 } },
  ),
  grpo('entropy_coef 0.01', { entropy_coef: 0.01 }, { loss: { entropyCoefficient: 0.01 } }),
  grpo('mask_truncated_completions', { mask_truncated_completions: true }, { truncatedTrajectories: 'mask' }),
  ...ofSequences,
  grpo('off_policy_mask 0.01', { off_policy_mask_threshold: 0.01 }, { loss: { offPolicyThreshold: 0.01 } }),
  grpo('temperature 0.7', { temperature: 0.7 }, { rollout: { sampling: { temperature: 0.7 } } }),
  grpo('weight_decay 0.1', { weight_decay: 0.1 }, {}, { optimizer: { weightDecay: 0.1 } }),
  grpo('three collections', { num_iterations: 1 }, { epochs: 1 }),
  grpo('three collections, beta 0.04', { num_iterations: 1, ...beta }, { epochs: 1, loss: kl }),
  grpo('reward_weights', { reward_weights: [1, 0.1] }, {}, { rewards: twoRewards }),
  grpo(
    'normalize_then_sum',
    { reward_weights: [1, 0.1], multi_objective_aggregation: 'normalize_then_sum' },
    { advantages: estimators.gdpo({ weights: twoRewards, epsilon: 1e-4 }) },
    { rewards: twoRewards },
  ),
  rloo('RLOO, beta 0.05', {}, {}),
  rloo('RLOO, beta 0', { beta: 0 }, { rewardKl: { coefficient: 0 } }),
  rloo(
    'RLOO, normalize_advantages',
    { normalize_advantages: true },
    { advantage: { scale: 'advantage-std' } },
  ),
  rloo(
    'RLOO, mask_truncated_completions',
    { mask_truncated_completions: true },
    { truncatedTrajectories: 'mask' },
  ),
  rloo('RLOO, reward_clip_range', { reward_clip_range: [0.2, 0.6] }, { rewardClip: { low: 0.2, high: 0.6 } }),
  rloo('RLOO, three collections', { num_iterations: 1 }, { epochs: 1 }),
];
