import type { PreferenceOptions, RewardModelOptions } from '@rlp/algorithms/preference';

/** What both sides train on. */
export interface PreferenceJob {
  /** Folder of the model. */
  readonly model: string;
  readonly learningRate: number;
  readonly updates: number;
  /** Pairs whose rejected completion is an undesirable example. */
  readonly undesirable: number;
  readonly pairs: readonly {
    readonly prompt: readonly number[];
    readonly chosen: readonly number[];
    readonly rejected: readonly number[];
  }[];
  /** Pairs whose chosen completion is distilled, and what the teacher's down projections are multiplied by. */
  readonly distilled: number;
  readonly teacherScale: number;
  /** First value head of reward models. */
  readonly head: readonly number[];
}

/** One configuration of both sides. */
export interface PreferenceCase {
  readonly name: string;
  readonly trainer: 'dpo' | 'cpo' | 'orpo' | 'kto' | 'reward' | 'gkd';
  /** Fields of the trainer's configuration. */
  readonly trl: Readonly<Record<string, unknown>>;
  readonly rlp: PreferenceOptions;
  /** Options of the reward model's run. */
  readonly reward?: RewardModelOptions;
  /** Of every pair, for reward models. */
  readonly margins?: readonly number[];
}

type Loss = NonNullable<PreferenceOptions['loss']>;
const dpo = (name: string, trl: PreferenceCase['trl'], loss: Loss, rest: PreferenceOptions = {}) =>
  ({ name, trainer: 'dpo', trl, rlp: { loss, ...rest } }) as const satisfies PreferenceCase;
const cpo = (name: string, trl: PreferenceCase['trl'], loss: Loss) =>
  ({ name, trainer: 'cpo', trl, rlp: { loss } }) as const satisfies PreferenceCase;

const margins = [0, 0.5, 1, 0, 0.25, 2, 0.1, 0];

/** Every configuration that is compared. */
export const preferenceCases: readonly PreferenceCase[] = [
  dpo('sigmoid', {}, 'sigmoid'),
  dpo('hinge', { loss_type: ['hinge'] }, 'hinge'),
  dpo('ipo', { loss_type: ['ipo'] }, 'ipo'),
  dpo('exo-pair', { loss_type: ['exo_pair'], label_smoothing: 1e-3 }, 'exo-pair'),
  dpo('nca-pair', { loss_type: ['nca_pair'] }, 'nca-pair'),
  dpo('robust', { loss_type: ['robust'], label_smoothing: 0.1 }, { kind: 'robust', labelSmoothing: 0.1 }),
  dpo('bco-pair', { loss_type: ['bco_pair'] }, 'bco-pair'),
  dpo('sppo-hard', { loss_type: ['sppo_hard'] }, 'sppo-hard'),
  dpo('aot', { loss_type: ['aot'], label_smoothing: 0.1 }, { kind: 'aot', labelSmoothing: 0.1 }),
  dpo('aot-unpaired', { loss_type: ['aot_unpaired'] }, 'aot-unpaired'),
  dpo('apo-zero', { loss_type: ['apo_zero'] }, 'apo-zero'),
  dpo('apo-down', { loss_type: ['apo_down'] }, 'apo-down'),
  dpo('discopop', { loss_type: ['discopop'] }, 'discopop'),
  dpo('sft', { loss_type: ['sft'] }, 'sft'),
  dpo('sigmoid-norm', { loss_type: ['sigmoid_norm'], beta: 0.5 }, { kind: 'sigmoid-norm', beta: 0.5 }),
  dpo('three terms', { loss_type: ['sigmoid', 'bco_pair', 'sft'], loss_weights: [0.8, 0.2, 1] }, [
    { kind: 'sigmoid', weight: 0.8 },
    { kind: 'bco-pair', weight: 0.2 },
    { kind: 'sft', weight: 1 },
  ]),
  dpo('ld_alpha 0.5', { ld_alpha: 0.5 }, 'sigmoid', { lengthDiscount: 0.5 }),
  dpo('forward KL', { f_divergence_type: 'forward_kl' }, { kind: 'sigmoid', divergence: 'forward-kl' }),
  dpo(
    'JS divergence',
    { f_divergence_type: 'js_divergence' },
    { kind: 'sigmoid', divergence: 'jensen-shannon' },
  ),
  dpo(
    'alpha divergence',
    { loss_type: ['ipo'], f_divergence_type: 'alpha_divergence', f_alpha_divergence_coef: 0.3 },
    { kind: 'ipo', divergence: { alpha: 0.3 } },
  ),
  dpo(
    'moving reference',
    { sync_ref_model: true, ref_model_mixup_alpha: 0.6, ref_model_sync_steps: 1 },
    'sigmoid',
    { referenceUpdate: { method: 'ema', decay: 0.4, everyUpdates: 1 } },
  ),
  cpo('cpo', {}, 'cpo'),
  cpo('cpo hinge', { loss_type: 'hinge' }, { kind: 'cpo', form: 'hinge' }),
  cpo('cpo ipo', { loss_type: 'ipo', cpo_alpha: 0.5 }, { kind: 'cpo', form: 'ipo', imitation: 0.5 }),
  cpo(
    'simpo',
    { loss_type: 'simpo', cpo_alpha: 0, beta: 2, simpo_gamma: 1 },
    { kind: 'simpo', beta: 2, margin: 1 },
  ),
  cpo(
    'cpo-simpo, smoothed',
    { loss_type: 'simpo', label_smoothing: 0.1 },
    {
      kind: 'simpo',
      imitation: 1,
      labelSmoothing: 0.1,
    },
  ),
  cpo('alphapo', { loss_type: 'alphapo', alpha: 0.25, beta: 1 }, { kind: 'simpo', beta: 1, alpha: 0.25 }),
  { name: 'orpo', trainer: 'orpo', trl: {}, rlp: { loss: 'orpo' } },
  { name: 'kto', trainer: 'kto', trl: {}, rlp: { loss: 'kto' } },
  {
    name: 'kto, weighted',
    trainer: 'kto',
    trl: { desirable_weight: 0.7, undesirable_weight: 1.3, beta: 0.3 },
    rlp: { loss: { kind: 'kto', desirableWeight: 0.7, undesirableWeight: 1.3, beta: 0.3 } },
  },
  {
    name: 'apo-zero-unpaired',
    trainer: 'kto',
    trl: { loss_type: 'apo_zero_unpaired' },
    rlp: { loss: 'apo-zero-unpaired' },
  },
  // On-policy distillation draws one token, and TRL sums over all of them, so ours is compared in expectation.
  { name: 'distillation', trainer: 'gkd', trl: { beta: 1.0, lmbda: 0.0 }, rlp: {} },
  { name: 'reward model', trainer: 'reward', trl: {}, rlp: {}, reward: {} },
  {
    name: 'reward model, margins, centred',
    trainer: 'reward',
    trl: { center_rewards_coefficient: 0.01, margins },
    rlp: {},
    reward: { centering: 0.01 },
    margins,
  },
];
