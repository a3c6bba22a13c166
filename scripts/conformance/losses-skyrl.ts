import {
  type AcceptanceCriterion,
  acceptanceMask,
  crossEntropy,
  importanceRatio,
  klCovarianceSelection,
  lossPresets,
  maskedMean,
  maskedVariance,
  type PolicyLossOptions,
  type SamplerWeightOptions,
  samplerWeights,
  tokenStatistics,
} from '@rlp/algorithms';
import { type FixtureCase, type OperationsAdapter, type OperationsTable, unsupported } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss, sum, wide } from './loss-requests.ts';
import { eager, type Operations, type Rows } from './operations.ts';
import { estimatorNames, klOf, valueLossOf } from './tensor-adapters.ts';

type Params = FixtureCase['params'];

const bounds = (params: Params) => ({ clipLow: params.eps_clip_low, clipHigh: params.eps_clip_high });

/** Each loss, and the policy its ratio is taken to. */
const optionsOf: Readonly<Record<string, (params: Params) => PolicyLossOptions>> = {
  regular: bounds,
  dual_clip: (params) => ({ ...bounds(params), dualClip: params.clip_ratio_c }),
  gspo: (params) => ({ ...bounds(params), ...lossPresets.skyrl.gspo }),
  sapo: ({ tau_pos: temperaturePositive, tau_neg: temperatureNegative }) => ({
    surrogate: 'sapo',
    temperaturePositive,
    temperatureNegative,
  }),
  cispo: (params) => ({
    surrogate: 'cispo',
    clipLow: params.cispo_eps_clip_low,
    clipHigh: params.cispo_eps_clip_high,
  }),
  rollout_is: (params) => ({ surrogate: 'window', ...bounds(params), proximal: 'behavior' }),
  dppo_tv: (params) => dppo(params, 'total-variation'),
  dppo_kl: (params) => dppo(params, 'kl'),
  importance_sampling: () => ({ surrogate: 'importance-sampling' }),
};

function dppo(params: Params, divergence: 'total-variation' | 'kl'): PolicyLossOptions {
  const { delta_low: divergenceLow, delta_high: divergenceHigh } = params;
  return { surrogate: 'dppo', proximal: 'behavior', divergence, divergenceLow, divergenceHigh };
}

/** Ratio bounds as bounds on k1, which is minus the log-ratio. */
function ratioCriterion(
  over: AcceptanceCriterion['over'],
  { low, high }: { low?: number | undefined; high?: number | undefined },
): AcceptanceCriterion {
  return {
    statistic: 'k1',
    over,
    low: high === undefined ? undefined : -Math.log(high),
    high: low === undefined ? undefined : -Math.log(low),
  };
}

/** Every part of SkyRL's off-policy correction: the tokens it leaves, its weights and its diagnostics. */
async function correct(
  { inputs, params }: FixtureCase,
  operations: Operations,
): Promise<{ mask: Rows; weights?: Rows; metrics: Record<string, number> }> {
  const settings = params.off_policy_correction;
  if (!settings || !Object.keys(settings).some((key) => optional.has(key)))
    return { mask: inputs.mask, metrics: {} };
  const criteria = criteriaOf(settings);
  const level = settings.tis_ratio_type as 'token' | 'sequence' | undefined;
  const { outputs } = await operations.differentiate({
    inputs: { old: inputs.old_log_probs, rollout: inputs.rollout_logprobs, mask: inputs.mask },
    by: [],
    compute(ops, { old, rollout, mask }) {
      const gap = { proximalLogprobs: old!, behaviorLogprobs: rollout!, mask: mask! };
      const weights = (options: Partial<SamplerWeightOptions>) =>
        samplerWeights(ops, gap, { level: level ?? 'token', outside: 'clamp', ...options });
      const masks = Object.entries(criteria).map(([name, criterion]) => [
        name,
        acceptanceMask(ops, gap, [criterion]),
      ]);
      return {
        loss: weights({ high: settings[`${level}_tis_ratio_clip_high`] }),
        raw: weights({}),
        tokens: weights({ level: 'token' }),
        ...Object.fromEntries(masks),
      };
    },
  });
  const metrics = {
    ...ratioMetrics(outputs.tokens!, inputs.mask),
    ...keptMetrics(settings, outputs, inputs),
  };
  const kept = outputs.kept ?? inputs.mask;
  return level === undefined ? { mask: kept, metrics } : { mask: kept, weights: outputs.loss!, metrics };
}

const optional = new Set([
  'tis_ratio_type',
  'sequence_mask_metric',
  'outlier_token_is_threshold_low',
  'outlier_token_is_threshold_high',
  'token_mask_is_threshold_low',
  'token_mask_is_threshold_high',
]);

/** The criterion of the case, and its two halves. */
function criteriaOf(settings: Params): Record<string, AcceptanceCriterion> {
  const [over, low, high] = thresholdsOf(settings) ?? [];
  if (over === undefined) return {};
  return {
    kept: ratioCriterion(over, { low, high }),
    notAbove: ratioCriterion(over, { high }),
    notBelow: ratioCriterion(over, { low }),
  };
}

function thresholdsOf(settings: Params): [AcceptanceCriterion['over'], number, number] | undefined {
  if (settings.sequence_mask_metric === 'geometric') {
    return ['sequence-mean', settings.geo_mask_low, settings.geo_mask_high];
  }
  if (settings.sequence_mask_metric === 'product') {
    return ['sequence-sum', settings.product_mask_low, settings.product_mask_high];
  }
  if (settings.token_mask_is_threshold_high !== undefined) {
    return ['token', settings.token_mask_is_threshold_low, settings.token_mask_is_threshold_high];
  }
  if (settings.outlier_token_is_threshold_high !== undefined) {
    return ['every-token', settings.outlier_token_is_threshold_low, settings.outlier_token_is_threshold_high];
  }
  return undefined;
}

/** Over all positions, those that do not count as 0. */
function ratioMetrics(ratios: Rows, mask: Rows): Record<string, number> {
  const products = ratios.map((row, b) => Array.from(row, (ratio, t) => ratio * mask[b]![t]!));
  const { minimum, maximum } = tokenStatistics(products);
  return {
    is_ratio_mean: maskedMean(ratios, mask),
    is_ratio_std: Math.sqrt(maskedVariance(products)),
    is_ratio_max: maximum,
    is_ratio_min: minimum,
  };
}

function keptMetrics(
  settings: Params,
  outputs: Readonly<Record<string, number[][]>>,
  { mask }: { readonly mask: Rows },
): Record<string, number> {
  const dropped = (name: string) => 1 - maskedMean(outputs[name]!, mask);
  const droppedRows = (name: string) => {
    const complete = outputs[name]!.map((row, b) => (row.every((kept, t) => kept === mask[b]![t]) ? 0 : 1));
    return maskedMean([complete]);
  };
  const metrics: Record<string, number> = {};
  const { tis_ratio_type: level, sequence_mask_metric: metric } = settings;
  if (level !== undefined) {
    const cap = settings[`${level}_tis_ratio_clip_high`];
    const over = outputs.raw!.map((row) => row.map((ratio) => (ratio > cap ? 1 : 0)));
    if (level === 'token') metrics.tis_token_clip_high_ratio = maskedMean(over, mask);
    else metrics.tis_seq_clip_high_ratio = maskedMean(over);
  }
  const prefix = { geometric: 'geo_sequence_mask', product: 'product_sequence_mask' }[metric as string];
  if (prefix !== undefined) {
    metrics[`${prefix}_masked_ratio`] = droppedRows('kept');
    metrics[`${prefix}_over_high_ratio`] = droppedRows('notAbove');
    metrics[`${prefix}_under_low_ratio`] = droppedRows('notBelow');
  }
  if (settings.token_mask_is_threshold_high !== undefined) metrics.token_mask_ratio = dropped('kept');
  if (settings.outlier_token_is_threshold_high !== undefined) {
    metrics.outlier_seq_masked_ratio = droppedRows('kept');
    metrics.outlier_seq_over_high_ratio = droppedRows('notAbove');
    metrics.outlier_seq_under_low_ratio = droppedRows('notBelow');
  }
  return metrics;
}

const policy: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const { mask, weights, metrics } = await correct(fixtureCase, operations);
  const answer = await operations.evaluate({
    loss: plainPolicyLoss({
      logRatioLimit: params.policy_loss_type === 'importance_sampling' ? 1e6 : 20,
      correction: weights === undefined ? 'none' : 'column',
      ...optionsOf[params.policy_loss_type]!(params),
    }),
    logprobs: inputs.log_probs,
    mask: inputs.mask,
    weights: mask,
    columns: {
      advantages: inputs.advantages,
      proximalLogprobs: inputs.old_log_probs,
      behaviorLogprobs: inputs.rollout_logprobs,
      ...(weights && { correctionWeights: wide(weights, inputs.log_probs) }),
    },
  });
  return {
    ...answer,
    metrics: { ...(await policyMetrics(fixtureCase, operations, answer.metrics)), ...metrics },
  };
};

async function policyMetrics(
  { inputs, params }: FixtureCase,
  operations: Operations,
  ours: Readonly<Record<string, number>>,
): Promise<Record<string, number>> {
  const clipRatio = (ours['clip/low'] ?? 0) + (ours['clip/high'] ?? 0);
  if (params.policy_loss_type === 'importance_sampling') return { importance_ratio: ours['ratio/mean']! };
  if (params.policy_loss_type !== 'cispo') return { clip_ratio: clipRatio };
  const { outputs } = await operations.differentiate({
    inputs: { logprobs: inputs.log_probs, old: inputs.old_log_probs, mask: inputs.mask },
    by: [],
    compute(ops, { logprobs, old, mask }) {
      const ratio = importanceRatio(ops, { logprobs: logprobs!, proximalLogprobs: old!, mask: mask! });
      return {
        loss: ratio,
        clamped: ops.clip(ratio, 1 - params.cispo_eps_clip_low, 1 + params.cispo_eps_clip_high),
      };
    },
  });
  const { mean, minimum, maximum } = tokenStatistics(outputs.loss!, inputs.mask);
  return {
    clip_ratio: clipRatio,
    'cispo/ratio_mean': mean,
    'cispo/ratio_clamped_mean': maskedMean(outputs.clamped!, inputs.mask),
    'cispo/ratio_max': maximum,
    'cispo/ratio_min': minimum,
  };
}

const klCov: OperationsAdapter = async ({ inputs, params }, operations) => {
  const selected = klCovarianceSelection(
    { logprobs: inputs.log_probs, advantages: inputs.advantages, masks: inputs.mask },
    { share: params.kl_cov_frac, ...lossPresets.skyrl.klCovariance },
  );
  const loss = plainPolicyLoss({
    surrogate: 'importance-sampling',
    proximalKlCoefficient: params.ppo_kl_coef,
    proximalKlTokens: 'column',
  });
  const answer = await evaluateLoss(operations, loss, {
    logprobs: inputs.log_probs,
    mask: inputs.mask,
    aggregation: sum,
    columns: { advantages: inputs.advantages, selected, proximalLogprobs: inputs.old_log_probs },
  });
  return { ...answer, metrics: { clip_ratio: 0 } };
};

const supervised: OperationsAdapter = async ({ inputs }, operations) => {
  const given = { logprobs: inputs.log_probs, mask: inputs.mask, aggregation: sum };
  return { ...(await evaluateLoss(operations, crossEntropy, given)), metrics: { clip_ratio: 0 } };
};

const value: OperationsAdapter = async ({ inputs, params }, operations) => {
  const given = {
    values: inputs.values,
    oldValues: inputs.old_values,
    returns: inputs.returns,
    mask: inputs.mask,
    aggregation: lossPresets.skyrl.sequenceMean,
  };
  const options = { ...lossPresets.skyrl.value, clip: params.value_clip ?? undefined };
  const answer = await valueLossOf(operations, given, options);
  // The fraction counts comparisons of errors that may differ by a rounding only: a count that float64 alone can repeat.
  const { clipped } = operations === eager ? answer : await valueLossOf(eager, given, options);
  return { ...answer, clipfrac: params.value_clip === null ? null : maskedMean(clipped, inputs.mask) };
};

const kl: OperationsAdapter = async ({ inputs, params }, operations) => {
  const estimator = estimatorNames[params.kind as keyof typeof estimatorNames];
  if (estimator === undefined) return unsupported;
  const given = { logprobs: inputs.log_probs, reference: inputs.ref_log_probs, factor: inputs.mask };
  return klOf(operations, given, estimator === 'k3' ? lossPresets.skyrl.kl : { estimator });
};

export const skyrlLosses: OperationsTable = {
  policy_loss_skyrl: {
    ...Object.fromEntries(Object.keys(optionsOf).map((name) => [`skyrl_${name}`, policy])),
    skyrl_kl_cov: klCov,
    skyrl_cross_entropy: supervised,
    skyrl_value: value,
    skyrl_kl: kl,
  },
};
