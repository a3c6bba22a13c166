import { type AggregationOptions, aggregationWeights, klEstimate, policyLoss } from '@rlp/algorithms';
import { evaluate, type Matrix, matrixFromRows, matrixRows, Tape } from '@rlp/backprop/eager';
import type { Loss } from '@rlp/core';
import { type AdapterTable, type FixtureCase, unsupported } from './fixture.ts';

type Rows = readonly (readonly number[])[];

interface GlobalBatch {
  readonly dp_size: number;
  readonly batch_num_tokens?: number;
  readonly global_batch_size?: number;
  readonly loss_scale_factor?: number;
}

/** verl's aggregation; the result for a share of a larger batch is scaled by the number of shares. */
function verlAggregation(mode: string, global: Partial<GlobalBatch> = {}): AggregationOptions | undefined {
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
      return { mode: 'sequence-mean-token-mean', countEpsilon: 1e-8, ...totals };
    case 'seq-mean-token-sum-norm': {
      const constant = global.loss_scale_factor;
      return { mode: 'token-sum-norm', constant };
    }
    default:
      return undefined;
  }
}

/** Evaluates a loss with its gradient by the policy's logprobs. */
function run(
  loss: Loss,
  given: {
    readonly logprobs: Rows;
    readonly mask: Rows;
    readonly aggregation: AggregationOptions;
    readonly columns: Readonly<Record<string, Rows>>;
    readonly entropies?: Rows | undefined;
  },
): { loss: number; grad: Float64Array[]; metrics: Readonly<Record<string, number>> } {
  const { value, gradients, metrics } = evaluate(loss, {
    logprobs: matrixFromRows(given.logprobs),
    mask: matrixFromRows(given.mask),
    weights: matrixFromRows(aggregationWeights(given.mask, given.aggregation)),
    entropies: given.entropies && matrixFromRows(given.entropies),
    columns: Object.fromEntries(
      Object.entries(given.columns).map(([name, rows]) => [name, matrixFromRows(rows)]),
    ),
  });
  return { loss: value, grad: matrixRows(gradients.logprobs), metrics };
}

/** The aggregation alone: its loss is the matrix itself. */
function aggregate({ inputs, params }: FixtureCase): unknown {
  const aggregation = verlAggregation(params.mode, params);
  if (aggregation === undefined) return unsupported;
  const itself: Loss = {
    key: 'itself',
    columns: [],
    compute: (_, { logprobs }) => ({ tokenLosses: logprobs }),
  };
  return run(itself, { logprobs: inputs.loss, mask: inputs.mask, aggregation, columns: {} });
}

/** verl's means divide by the count plus 1e-8. */
function verlVanilla({ inputs, params }: FixtureCase): unknown {
  const aggregation = verlAggregation(params.agg, params.global_batch_info);
  if (aggregation === undefined) return unsupported;
  const loss = policyLoss({
    clipLow: params.clip_ratio_low ?? params.clip_ratio,
    clipHigh: params.clip_ratio_high ?? params.clip_ratio,
    dualClip: params.clip_ratio_c,
    proximal: 'column',
    correction: inputs.is_weights === null ? 'none' : 'column',
  });
  const result = run(loss, {
    logprobs: inputs.log_prob,
    mask: inputs.mask,
    aggregation,
    columns: {
      advantages: inputs.advantages,
      proximalLogprobs: inputs.old_log_prob,
      ...(inputs.is_weights && { correctionWeights: inputs.is_weights }),
    },
  });
  const trained = (inputs.mask as number[][]).flat().filter((counts) => counts !== 0).length;
  const mean = (...names: string[]) =>
    names.reduce((sum, name) => sum + result.metrics[name]!, 0) * (trained / (trained + 1e-8));
  return {
    ...result,
    metrics: {
      pg_clipfrac: mean('clip/low', 'clip/high'),
      ppo_kl: mean('kl/update'),
      pg_clipfrac_lower: mean('clip/dual'),
    },
  };
}

/** What TRL's options ask for beyond ours. */
const trlBeyond = [
  'importance_sampling_level',
  'use_bias_correction_kl',
  'top_entropy_quantile',
  'off_policy_mask_threshold',
];

function trlAggregation(params: FixtureCase['params']): AggregationOptions {
  const { grad_accum: accumulation } = params;
  switch (params.loss_type as 'grpo' | 'bnpo' | 'dr_grpo' | 'dapo') {
    case 'grpo':
      return { mode: 'sequence-mean-token-mean', emptySequences: 'count' };
    case 'bnpo':
      return { mode: 'token-mean' };
    case 'dr_grpo':
      return {
        mode: 'sequence-mean-token-sum-norm',
        emptySequences: 'count',
        constant: params.max_completion_length * accumulation,
      };
    case 'dapo':
      return { mode: 'token-mean', totalTokens: params.num_items_in_batch };
  }
}

function trl({ inputs, params }: FixtureCase): unknown {
  if (trlBeyond.some((name) => params[name] !== undefined)) return unsupported;
  const isScaled = params.grad_accum !== 1 && (params.loss_type === 'grpo' || params.loss_type === 'bnpo');
  const isApart = params.entropy_coef !== undefined && params.loss_type === 'grpo'; // averaged over tokens
  if (isScaled || isApart) return unsupported;
  const logprobs = inputs.per_token_logps as number[][];
  const loss = policyLoss({
    clipLow: params.epsilon_low,
    clipHigh: params.epsilon_high,
    ratioCap: params.delta,
    proximal: 'column',
    correction: inputs.importance_ratio === null ? 'none' : 'column',
    klCoefficient: params.beta,
    logRatioLimit: 1e6,
    entropyCoefficient: params.entropy_coef,
  });
  return run(loss, {
    logprobs,
    mask: inputs.mask,
    aggregation: trlAggregation(params),
    entropies: inputs.entropies,
    columns: {
      advantages: logprobs.map((row, b) => row.map(() => inputs.advantages[b])),
      proximalLogprobs: inputs.old_per_token_logps ?? logprobs,
      ...(inputs.ref_per_token_logps && { referenceLogprobs: inputs.ref_per_token_logps }),
      ...(inputs.importance_ratio && { correctionWeights: wide(inputs.importance_ratio, logprobs) }),
    },
  });
}

/** One number per sequence, spread over its tokens. */
function wide(values: Rows | readonly number[], like: Rows): Rows {
  return like.map((row, b) => {
    const value = values[b]!;
    if (typeof value === 'number') return row.map(() => value);
    return value.length === 1 ? row.map(() => value[0]!) : value;
  });
}

const estimators = {
  k1: 'k1',
  kl: 'k1',
  k2: 'k2',
  mse: 'k2',
  k3: 'k3',
  low_var_kl: 'k3',
  abs: 'absolute',
} as const;

/** Elementwise KL estimates and their slopes. */
function kl(
  logprobs: Matrix,
  referenceLogprobs: Matrix,
  options: { readonly kind: string; readonly limit?: number | undefined; readonly logRatioLimit: number },
): { kl: Float64Array[]; grad: Float64Array[] } | typeof unsupported {
  const estimator = estimators[options.kind as keyof typeof estimators];
  if (estimator === undefined) return unsupported;
  const tape = new Tape();
  const variable = tape.variable(logprobs);
  const inputs = { logprobs: variable, referenceLogprobs: tape.data(referenceLogprobs) };
  const estimate = klEstimate(tape, inputs, { ...options, estimator });
  tape.backward(estimate, { ...logprobs, data: new Float64Array(logprobs.data.length).fill(1) });
  return { kl: matrixRows(estimate), grad: matrixRows(tape.gradient(variable)) };
}

function verlKl({ inputs, params }: FixtureCase): unknown {
  const { kind } = params;
  const limit = kind === 'k3' || kind === 'low_var_kl' ? 10 : undefined;
  return kl(matrixFromRows(inputs.log_prob), matrixFromRows(inputs.ref_log_prob), {
    kind,
    limit,
    logRatioLimit: 20,
  });
}

function openrlhfKl({ inputs, params }: FixtureCase): unknown {
  const options = { kind: params.kind, limit: 10, logRatioLimit: Number.POSITIVE_INFINITY };
  return kl(matrixFromRows(inputs.log_probs), matrixFromRows(inputs.ref_log_probs), options);
}

/** slime works on one sequence; it clamps only `low_var_kl`, and only its result. */
function slimeKl({ inputs, params }: FixtureCase): unknown {
  if (inputs.importance_ratio !== null) return unsupported;
  const limit = params.kind === 'low_var_kl' ? 10 : undefined;
  const options = { kind: params.kind, limit, logRatioLimit: Number.POSITIVE_INFINITY };
  const result = kl(matrixFromRows([inputs.log_probs]), matrixFromRows([inputs.ref_log_probs]), options);
  if (result === unsupported) return unsupported;
  return { kl: result.kl[0], grad: result.grad[0] };
}

/** AReaL's token level; its cap of positive advantages' losses never binds, for those are not positive. */
function areal({ inputs, params }: FixtureCase): unknown {
  const loss = policyLoss({
    clipLow: params.eps_clip,
    clipHigh: params.eps_clip_higher ?? params.eps_clip,
    dualClip: params.c_clip ?? undefined,
    proximal: 'column',
    correction: 'none',
    logRatioLimit: 1e6,
  });
  const result = run(loss, {
    logprobs: inputs.logprobs,
    mask: inputs.mask,
    aggregation: { mode: 'token-mean' },
    columns: { advantages: inputs.advantages, proximalLogprobs: inputs.old_logprobs },
  });
  return { ...result, clip_fraction: result.metrics['clip/low']! + result.metrics['clip/high']! };
}

export const losses: AdapterTable = {
  loss_aggregation_verl: { agg_loss: aggregate },
  policy_loss_verl_vanilla: { vanilla: verlVanilla },
  policy_loss_trl: { trl_grpo: trl, trl_bnpo: trl, trl_dr_grpo: trl, trl_dapo: trl },
  kl_value_entropy_verl: { kl_penalty: verlKl },
  policy_loss_openrlhf: { openrlhf_kl: openrlhfKl },
  policy_loss_slime: { slime_kl: slimeKl },
  policy_loss_areal: { areal_ppo_token: areal },
};
