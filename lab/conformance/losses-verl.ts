import {
  type AggregationOptions,
  clipCovarianceKeep,
  importanceRatio,
  klCovarianceSelection,
  klEstimate,
  type PolicyLossOptions,
} from '@rlp/algorithms/loss';
import { lossPresets } from '@rlp/algorithms/presets';
import { maskedMean } from '@rlp/algorithms/statistics';
import { RandomStream } from '@rlp/core';
import { type FixtureCase, type OperationsAdapter, type OperationsTable, unsupported } from './fixture.ts';
import { evaluateLoss, itself, plainPolicyLoss, wide } from './loss-requests.ts';
import type { LossAnswer, Operations, Rows } from './operations.ts';

interface GlobalBatch {
  readonly dp_size: number;
  readonly batch_num_tokens?: number;
  readonly global_batch_size?: number;
  readonly loss_scale_factor?: number;
}

/** verl's aggregation; the result for a share of a larger batch is scaled by the number of shares. */
export function verlAggregation(
  mode: string,
  global: Partial<GlobalBatch> = {},
): AggregationOptions | undefined {
  const { dp_size: shares = 1, batch_num_tokens: tokens, global_batch_size: sequences } = global;
  const totals = {
    totalTokens: tokens === undefined ? undefined : tokens / shares,
    totalSequences: sequences === undefined ? undefined : sequences / shares,
  };
  switch (mode) {
    case 'token-mean':
      return { mode: 'token-mean', ...totals };
    case 'seq-mean-token-sum':
      return { mode: 'sequence-mean-token-sum', ...totals };
    case 'seq-mean-token-mean':
      return { ...lossPresets.verl.sequenceMean, ...totals };
    case 'seq-mean-token-sum-norm':
      return { mode: 'token-sum-norm', constant: global.loss_scale_factor };
    default:
      return undefined;
  }
}

/** The aggregation alone: its loss is the matrix itself. */
const aggregate: OperationsAdapter = ({ inputs, params }, operations) => {
  const aggregation = verlAggregation(params.mode, params);
  if (aggregation === undefined) return unsupported;
  return evaluateLoss(operations, itself, { logprobs: inputs.loss, mask: inputs.mask, aggregation });
};

/** Evaluates a policy loss as verl calls it. */
async function verlLoss(
  { inputs, params }: Pick<FixtureCase, 'inputs' | 'params'>,
  operations: Operations,
  options: PolicyLossOptions,
  {
    columns,
    aggregation,
  }: { columns?: Readonly<Record<string, Rows>>; aggregation?: AggregationOptions } = {},
): Promise<LossAnswer> {
  return evaluateLoss(
    operations,
    plainPolicyLoss({ correction: inputs.is_weights ? 'column' : 'none', ...options }),
    {
      logprobs: inputs.log_prob,
      mask: inputs.mask,
      aggregation: aggregation ?? verlAggregation(params.agg, params.global_batch_info)!,
      columns: {
        advantages: inputs.advantages,
        proximalLogprobs: inputs.old_log_prob,
        correctionWeights: inputs.is_weights ?? undefined,
        ...columns,
      },
    },
  );
}

/** verl's means divide by the count plus 1e-8. */
export function verlMean(mask: Rows, mean: number): number {
  return maskedMean(
    mask.map((row) => Array.from(row, () => mean)),
    mask,
    { countEpsilon: 1e-8 },
  );
}

const tensorsOf = (inputs: FixtureCase['inputs']) => ({
  logprobs: inputs.log_prob,
  old: inputs.old_log_prob,
  advantages: inputs.advantages,
  mask: inputs.mask,
});

const bounds = (params: FixtureCase['params']) => ({
  clipLow: params.clip_ratio_low ?? params.clip_ratio,
  clipHigh: params.clip_ratio_high ?? params.clip_ratio,
});

/** verl's diagnostics, from ours. */
function diagnostics({ inputs }: FixtureCase, { metrics }: LossAnswer): Record<string, number> {
  const mean = (...names: string[]) =>
    verlMean(
      inputs.mask,
      names.reduce((total, name) => total + (metrics[name] ?? 0), 0),
    );
  return {
    pg_clipfrac: mean('clip/low', 'clip/high'),
    ppo_kl: mean('kl/update'),
    pg_clipfrac_lower: mean('clip/dual'),
  };
}

/** A policy loss with verl's three diagnostics. */
function verl(
  options: (params: FixtureCase['params']) => PolicyLossOptions,
  aggregation?: AggregationOptions,
): OperationsAdapter {
  return async (fixtureCase, operations) => {
    const fixed = aggregation === undefined ? {} : { aggregation };
    const answer = await verlLoss(fixtureCase, operations, options(fixtureCase.params), fixed);
    return { ...answer, metrics: diagnostics(fixtureCase, answer) };
  };
}

const rowMeans: AggregationOptions = lossPresets.verl.sequenceMean;
const allRows: AggregationOptions = { mode: 'sequence-mean-token-mean', emptySequences: 'count' };

/** Cases where all eligible tokens are drawn, whatever the random numbers. */
const clipCov: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const { clip_cov_ratio: share, clip_cov_lb: low, clip_cov_ub: high } = params.policy_loss;
  const keep = clipCovarianceKeep(
    {
      logprobs: inputs.log_prob,
      proximalLogprobs: inputs.old_log_prob,
      advantages: inputs.advantages,
      masks: inputs.mask,
    },
    RandomStream.named('conformance'),
    { share, low, high, ...bounds(params), ...lossPresets.verl.clipCovariance },
  );
  const options = { ...bounds(params), keep: 'column' } as const;
  const answer = await verlLoss(fixtureCase, operations, options, { columns: { keep } });
  const dropped = keep.map((row) => row.map((kept) => 1 - kept));
  const pgClipfrac = maskedMean(dropped, inputs.mask, { countEpsilon: 1e-8 });
  return { ...answer, metrics: { ...diagnostics(fixtureCase, answer), pg_clipfrac: pgClipfrac } };
};

const klCov: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const selected = klCovarianceSelection(
    { logprobs: inputs.log_prob, advantages: inputs.advantages, masks: inputs.mask },
    { share: params.policy_loss.kl_cov_ratio, ...lossPresets.verl.klCovariance },
  );
  const answer = await verlLoss(
    fixtureCase,
    operations,
    {
      surrogate: 'importance-sampling',
      proximalKlCoefficient: params.policy_loss.ppo_kl_coef,
      proximalKlTokens: 'column',
    },
    { columns: { selected } },
  );
  const { outputs } = await operations.differentiate({
    inputs: tensorsOf(inputs),
    by: [],
    compute: (ops, { logprobs, old }) => ({
      loss: klEstimate(ops, { logprobs: logprobs!, referenceLogprobs: old! }, { estimator: 'absolute' }),
    }),
  });
  return { ...answer, metrics: { ppo_kl: maskedMean(outputs.loss!, inputs.mask, { countEpsilon: 1e-8 }) } };
};

/** GMPO's correction is the geometric mean of a sequence's weights, and its fractions count both bounds for either sign. */
const geometricMean: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const limits = bounds(params);
  const { outputs } = await operations.differentiate({
    inputs: { ...tensorsOf(inputs), weights: inputs.is_weights ?? inputs.mask },
    by: [],
    compute(ops, { logprobs, old, advantages, mask, weights }) {
      const zero = ops.constant(0);
      const moved = ops.sub(logprobs!, old!);
      const outside = ops.add(
        ops.greater(moved, ops.constant(limits.clipHigh)),
        ops.greater(ops.constant(-limits.clipLow), moved),
      );
      const logs = { logprobs: ops.log(ops.add(weights!, ops.constant(1e-10))), proximalLogprobs: zero };
      return {
        loss: importanceRatio(
          ops,
          { ...logs, mask: mask! },
          { level: 'sequence', countFloor: { plus: 1e-8 } },
        ),
        good: ops.mul(outside, ops.greater(advantages!, zero)),
        bad: ops.mul(outside, ops.greater(zero, advantages!)),
      };
    },
  });
  const isWeights = inputs.is_weights && wide(outputs.loss!, inputs.mask);
  const answer = await verlLoss(
    { params, inputs: { ...inputs, is_weights: isWeights } },
    operations,
    {
      surrogate: 'gmpo',
      countEpsilon: 1e-8,
      ...limits,
    },
    { aggregation: allRows },
  );
  const fraction = (name: string) => maskedMean(outputs[name]!, inputs.mask, { countEpsilon: 1e-8 });
  const metrics = { pg_clipfrac: fraction('good'), pg_clipfrac_lower: fraction('bad') };
  return { ...answer, metrics: { ...diagnostics(fixtureCase, answer), ...metrics } };
};

export const verlLosses: OperationsTable = {
  loss_aggregation_verl: { agg_loss: aggregate },
  policy_loss_verl_vanilla: {
    vanilla: verl((params) => ({
      ...bounds(params),
      dualClip: params.clip_ratio_c,
      ...lossPresets.verl.clip,
    })),
  },
  policy_loss_verl_gspo: {
    gspo: verl((params) => ({ ...lossPresets.verl.gspo, ...bounds(params) }), rowMeans),
  },
  policy_loss_verl_cispo: {
    cispo: verl((params) => ({ surrogate: 'cispo', ...bounds(params), logRatioLimit: 20 })),
  },
  policy_loss_verl_sapo: {
    sapo: verl(
      ({ tau_pos: temperaturePositive, tau_neg: temperatureNegative }) => ({
        surrogate: 'sapo',
        temperaturePositive,
        temperatureNegative,
        logRatioLimit: 20,
      }),
      rowMeans,
    ),
  },
  policy_loss_verl_gpg: { gpg: verl(() => ({ surrogate: 'policy-gradient' })) },
  policy_loss_verl_clip_cov: { clip_cov: clipCov },
  policy_loss_verl_kl_cov: { kl_cov: klCov },
  policy_loss_verl_geo_mean: { geo_mean: geometricMean },
};
