import {
  type AcceptanceCriterion,
  acceptanceMask,
  crossEntropy,
  importanceRatio,
  klCovarianceSelection,
  type PolicyLossOptions,
  samplerWeights,
} from '@rlp/algorithms/loss';
import { lossPresets } from '@rlp/algorithms/presets';
import { maskedMean, maskedVariance, tokenStatistics } from '@rlp/algorithms/statistics';
import type { TensorOps } from '@rlp/core';
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

/** A filter of tokens or sequences whose ratio to the sampler lies outside its bounds, and the names of its diagnostics. */
interface Filter {
  readonly name: 'outlier_seq' | 'token_mask' | 'geo_sequence_mask' | 'product_sequence_mask';
  readonly over: AcceptanceCriterion['over'];
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/** Ratio bounds as bounds on k1, which is minus the log-ratio. */
function ratioCriterion({ over, low, high }: Pick<Filter, 'over' | 'low' | 'high'>): AcceptanceCriterion {
  return {
    statistic: 'k1',
    over,
    low: high === undefined ? undefined : -Math.log(high),
    high: low === undefined ? undefined : -Math.log(low),
  };
}

/** The filters that come before the truncated weights. */
function tokenFilters(settings: Params): Filter[] {
  const filters: Filter[] = [];
  const { outlier_token_is_threshold_low: low, outlier_token_is_threshold_high: high } = settings;
  if (low !== undefined || high !== undefined) {
    filters.push({ name: 'outlier_seq', over: 'every-token', low, high });
  }
  const { token_mask_is_threshold_low: floor, token_mask_is_threshold_high: cap } = settings;
  if (floor !== undefined && cap !== undefined) {
    filters.push({ name: 'token_mask', over: 'token', low: floor, high: cap });
  }
  return filters;
}

/** The filters that come after them. */
function sequenceFilters(settings: Params): Filter[] {
  if (settings.sequence_mask_metric === 'geometric') {
    const { geo_mask_low: low, geo_mask_high: high } = settings;
    return [{ name: 'geo_sequence_mask', over: 'sequence-mean', low, high }];
  }
  if (settings.sequence_mask_metric === 'product') {
    const { product_mask_low: low, product_mask_high: high } = settings;
    return [{ name: 'product_sequence_mask', over: 'sequence-sum', low, high }];
  }
  return [];
}

/** What one step of the correction leaves of the tokens, and what it says. */
interface Corrected {
  readonly mask: Rows;
  readonly weights?: Rows;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Every part of SkyRL's off-policy correction, each on the tokens that the one before left. */
async function correct({ inputs, params }: FixtureCase, operations: Operations): Promise<Corrected> {
  const settings = params.off_policy_correction ?? {};
  const [before, after] = [tokenFilters(settings), sequenceFilters(settings)];
  const isOff = before.length + after.length === 0 && settings.tis_ratio_type === undefined;
  if (isOff || inputs.rollout_logprobs === null) return { mask: inputs.mask, metrics: {} };
  const steps = [
    (mask: Rows) => weigh({ inputs, mask }, operations),
    ...before.map((filter) => (mask: Rows) => keep({ inputs, mask }, operations, filter)),
    (mask: Rows) => truncate({ inputs, mask }, operations, settings),
    ...after.map((filter) => (mask: Rows) => keep({ inputs, mask }, operations, filter)),
  ];
  let result: Corrected = { mask: inputs.mask, metrics: {} };
  for (const step of steps) {
    const next = await step(result.mask);
    result = { ...result, ...next, metrics: { ...result.metrics, ...next.metrics } };
  }
  return result;
}

interface Gap {
  readonly inputs: FixtureCase['inputs'];
  readonly mask: Rows;
}

interface GapTensors<T> {
  readonly proximalLogprobs: T;
  readonly behaviorLogprobs: T;
  readonly mask: T;
}

/** Evaluates what `compute` makes of the gap to the sampler. */
async function ofGap(
  { inputs, mask }: Gap,
  operations: Operations,
  compute: <T>(ops: TensorOps<T>, gap: GapTensors<T>) => { loss: T } & Record<string, T>,
): Promise<Readonly<Record<string, number[][]>>> {
  const { outputs } = await operations.differentiate({
    inputs: { old: inputs.old_log_probs, rollout: inputs.rollout_logprobs, mask },
    by: [],
    compute: (ops, { old, rollout, mask: counts }) =>
      compute(ops, { proximalLogprobs: old!, behaviorLogprobs: rollout!, mask: counts! }),
  });
  return outputs;
}

async function weigh(gap: Gap, operations: Operations): Promise<Corrected> {
  const { loss } = await ofGap(gap, operations, (ops, inputs) => ({
    loss: samplerWeights(ops, inputs, { level: 'token', outside: 'clamp' }),
  }));
  return { mask: gap.mask, metrics: ratioMetrics(loss!, gap.mask) };
}

async function truncate(gap: Gap, operations: Operations, settings: Params): Promise<Corrected> {
  const { mask } = gap;
  const level = settings.tis_ratio_type as 'token' | 'sequence' | undefined;
  if (level === undefined) return { mask, metrics: {} };
  const cap = settings[`${level}_tis_ratio_clip_high`];
  const { loss: weights, raw } = await ofGap(gap, operations, (ops, inputs) => ({
    loss: samplerWeights(ops, inputs, { level, outside: 'clamp', high: cap }),
    raw: samplerWeights(ops, inputs, { level, outside: 'clamp' }),
  }));
  const over = raw!.map((row) => row.map((ratio) => (ratio > cap ? 1 : 0)));
  const metrics =
    level === 'token'
      ? { tis_token_clip_high_ratio: maskedMean(over, mask) }
      : { tis_seq_clip_high_ratio: maskedMean(over) };
  return { mask, weights: weights!, metrics };
}

async function keep(gap: Gap, operations: Operations, filter: Filter): Promise<Corrected> {
  const { over, low, high, name } = filter;
  const outputs = await ofGap(gap, operations, (ops, inputs) => {
    const accepted = (bounds: { low?: number | undefined; high?: number | undefined }) =>
      acceptanceMask(ops, inputs, [ratioCriterion({ over, ...bounds })]);
    return { loss: accepted({ low, high }), notAbove: accepted({ high }), notBelow: accepted({ low }) };
  });
  const { mask } = gap;
  const dropped = (rows: Rows) => rows.map((row, b) => Array.from(row, (kept, t) => mask[b]![t]! - kept));
  const droppedRows = (rows: Rows) => maskedMean([dropped(rows).map((row) => Math.max(...row))]);
  const metrics =
    name === 'token_mask'
      ? { token_mask_ratio: maskedMean(dropped(outputs.loss!), mask) }
      : {
          [`${name}_masked_ratio`]: droppedRows(outputs.loss!),
          [`${name}_over_high_ratio`]: droppedRows(outputs.notAbove!),
          [`${name}_under_low_ratio`]: droppedRows(outputs.notBelow!),
        };
  return { mask: outputs.loss!, metrics };
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
