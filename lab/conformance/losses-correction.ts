import { type AcceptanceCriterion, acceptanceMask, samplerWeights } from '@rlp/algorithms/loss';
import {
  maskedMean,
  maskedRowMeans,
  maskedVariance,
  normalizedWeights,
  tokenStatistics,
} from '@rlp/algorithms/statistics';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss } from './loss-requests.ts';
import { verlAggregation, verlMean } from './losses-verl.ts';
import type { Operations, Rows } from './operations.ts';

type Level = 'token' | 'sequence';

const verlCount = { countEpsilon: 1e-8 };

/** Truncated weights as verl applies them, 0 where a token does not count, and what they were before. */
async function weightsOf(
  operations: Operations,
  { logRatio, mask }: { readonly logRatio: Rows; readonly mask: Rows },
  { level, threshold }: { readonly level: Level; readonly threshold: number },
): Promise<{ weights: number[][]; raw: number[][]; bounded: number[][]; whole: number[] }> {
  const { outputs } = await operations.differentiate({
    inputs: { logRatio, mask },
    by: [],
    compute(ops, { logRatio: gap, mask: counts }) {
      const inputs = { proximalLogprobs: gap!, behaviorLogprobs: ops.constant(0), mask: counts! };
      const spread = (weight: Parameters<typeof ops.mul>[0]) => ops.mul(weight, counts!);
      return {
        loss: spread(samplerWeights(ops, inputs, { level, outside: 'clamp', high: threshold })),
        bounded: spread(
          samplerWeights(ops, inputs, { level, outside: 'clamp', low: 1 / threshold, high: threshold }),
        ),
        raw: spread(samplerWeights(ops, inputs, { level, outside: 'clamp' })),
        whole: samplerWeights(ops, inputs, { level: 'sequence', outside: 'clamp', logRatioLimit: 80 }),
      };
    },
  });
  return {
    weights: outputs.loss!,
    raw: outputs.raw!,
    bounded: outputs.bounded!,
    whole: outputs.whole!.map(([ratio]) => ratio!),
  };
}

const indicator = (rows: Rows, test: (value: number) => boolean) =>
  rows.map((row) => Array.from(row, (value) => (test(value) ? 1 : 0)));

const isWeights: OperationsAdapter = async ({ inputs, params }, operations) => {
  const { log_ratio: logRatio, mask } = inputs;
  const { level, threshold } = params as { level: Level; threshold: number };
  const { weights, raw, bounded, whole } = await weightsOf(
    operations,
    { logRatio, mask },
    { level, threshold },
  );
  const mean = (rows: Rows) => maskedMean(rows, mask, verlCount);
  const squares = bounded.map((row) => row.map((weight) => weight * weight));
  const above = (value: number) => value > threshold;
  const below = (value: number) => value < 1 / threshold;
  const [high, low] =
    level === 'token'
      ? [mean(indicator(raw, above)), mean(indicator(raw, below))]
      : [maskedMean(indicator([whole], above)), maskedMean(indicator([whole], below))];
  const { count } = tokenStatistics(raw, mask);
  const extremes = level === 'token' ? tokenStatistics(raw, mask) : tokenStatistics([whole]);
  const normal = params.batch_normalize
    ? normalizedWeights(weights, mask, { over: level === 'token' ? 'tokens' : 'sequences', ...verlCount })
    : weights;
  return {
    weights: normal,
    metrics: {
      rollout_is_mean: mean(raw),
      rollout_is_ratio_fraction_high: high,
      rollout_is_ratio_fraction_low: low,
      rollout_is_max: Math.min(Math.exp(20), extremes.maximum),
      rollout_is_min: extremes.minimum,
      rollout_is_std: count > 1 ? Math.sqrt(Math.max(0, mean(squares) - mean(bounded) ** 2)) : 0,
      rollout_is_eff_sample_size: (mean(bounded) + 1e-8) ** 2 / mean(squares),
      ...sequenceMetrics(raw, mask),
      rollout_is_seq_fraction_high: maskedMean(indicator([maskedRowMeans(raw, mask, verlCount)], above)),
      rollout_is_seq_fraction_low: maskedMean(indicator([maskedRowMeans(raw, mask, verlCount)], below)),
      ...(params.batch_normalize && { rollout_is_batch_norm_factor: factorOf(weights, normal, mask) }),
    },
  };
};

function sequenceMetrics(weights: Rows, mask: Rows): Record<string, number> {
  const means = maskedRowMeans(weights, mask, verlCount);
  const { mean, minimum, maximum } = tokenStatistics([means]);
  return {
    rollout_is_seq_mean: mean,
    rollout_is_seq_std: Math.sqrt(maskedVariance([means])),
    rollout_is_seq_max: maximum,
    rollout_is_seq_min: minimum,
    rollout_is_seq_max_deviation: tokenStatistics([means.map((value) => Math.abs(value - 1))]).maximum,
  };
}

/** By what the weights were divided. */
function factorOf(weights: Rows, normal: Rows, mask: Rows): number {
  return maskedMean(weights, mask) / maskedMean(normal, mask);
}

/** verl's names and thresholds; those of k1 are bounds on a ratio. */
function criteriaOf(names: string, thresholds: string | number): AcceptanceCriterion[] {
  const options = names.split(',');
  const specifications = String(thresholds).split(',');
  return options.map((option, index) => {
    const parts = option.split('_');
    const statistic = parts.at(-1) as 'k1' | 'k2' | 'k3';
    const kinds = { sum: 'sequence-sum', mean: 'sequence-mean', max: 'every-token' } as const;
    const over = parts[0] === 'token' ? 'token' : kinds[parts[1] as keyof typeof kinds];
    const bounds = (specifications[index] ?? specifications[0]!).split('_').map(Number);
    if (statistic !== 'k1') return { statistic, over, high: bounds[0]! };
    const [low, high] = bounds.length === 2 ? bounds : [1 / bounds[0]!, bounds[0]!];
    return { statistic, over, low: Math.log(low!), high: Math.log(high!) };
  });
}

async function accepted(
  operations: Operations,
  { logRatio, mask }: { readonly logRatio: Rows; readonly mask: Rows },
  criteria: readonly AcceptanceCriterion[],
): Promise<number[][]> {
  const { outputs } = await operations.differentiate({
    inputs: { logRatio, mask },
    by: [],
    compute: (ops, { logRatio: gap, mask: counts }) => ({
      loss: acceptanceMask(
        ops,
        { proximalLogprobs: gap!, behaviorLogprobs: ops.constant(0), mask: counts! },
        criteria,
      ),
    }),
  });
  return outputs.loss!;
}

const rejection: OperationsAdapter = async ({ inputs, params }, operations) => {
  const { log_ratio: logRatio, mask } = inputs;
  const criteria = criteriaOf(params.options, params.threshold);
  const kept = await accepted(operations, { logRatio, mask }, criteria);
  const incomplete = kept.map((row, b) => (row.every((keep, t) => keep === mask[b][t]) ? 0 : 1));
  return {
    mask: kept,
    masked_fraction: maskedMean(
      indicator(kept, (keep) => keep === 0),
      mask,
      verlCount,
    ),
    seq_masked_fraction: maskedMean([incomplete]),
  };
};

const reinforce: OperationsAdapter = async ({ inputs, params }, operations) => {
  const { log_prob: logprobs, mask, is_weights: weights } = inputs;
  const answer = await evaluateLoss(
    operations,
    plainPolicyLoss({ surrogate: 'policy-gradient', correction: weights ? 'column' : 'none' }),
    {
      logprobs,
      mask,
      aggregation: verlAggregation(params.agg)!,
      columns: {
        advantages: inputs.advantages,
        proximalLogprobs: inputs.rollout_log_prob,
        correctionWeights: weights ?? undefined,
      },
    },
  );
  return { ...answer, metrics: { ppo_kl: verlMean(mask, answer.metrics['kl/update']!) } };
};

/** The correction is computed from the logprobs being trained, as numbers, before the loss sees them. */
const bypass: OperationsAdapter = async ({ inputs, params }: FixtureCase, operations) => {
  const settings = params.rollout_correction;
  const { log_prob: logprobs, rollout_log_prob: sampled } = inputs;
  const logRatio = (logprobs as number[][]).map((row, b) => row.map((value, t) => value - sampled[b][t]));
  const mask = settings.rollout_rs
    ? await accepted(
        operations,
        { logRatio, mask: inputs.mask },
        criteriaOf(settings.rollout_rs, settings.rollout_rs_threshold),
      )
    : inputs.mask;
  const isClip = settings.loss_type === 'ppo_clip';
  const level = settings.rollout_is as Level | null;
  const threshold = settings.rollout_is_threshold ?? 2;
  const { weights } = await weightsOf(
    operations,
    { logRatio, mask: inputs.mask },
    { level: level ?? 'token', threshold },
  );
  const isWeighed = !isClip && level !== null;
  const normal = settings.rollout_is_batch_normalize
    ? normalizedWeights(weights, inputs.mask, {
        over: level === 'token' ? 'tokens' : 'sequences',
        ...verlCount,
      })
    : weights;
  const { clip_ratio_low: clipLow, clip_ratio_high: clipHigh, clip_ratio_c: dualClip } = params;
  const loss = plainPolicyLoss({
    ...(isClip ? { clipLow, clipHigh, dualClip, logRatioLimit: 20 } : { surrogate: 'policy-gradient' }),
    correction: isWeighed ? 'column' : 'none',
  });
  return evaluateLoss(operations, loss, {
    logprobs,
    mask,
    aggregation: verlAggregation(params.agg)!,
    columns: {
      advantages: inputs.advantages,
      proximalLogprobs: sampled,
      correctionWeights: isWeighed ? normal : undefined,
    },
  });
};

export const corrections: OperationsTable = {
  rollout_correction_verl: { is_weights: isWeights, rejection_mask: rejection },
  policy_loss_verl_reinforce: { reinforce, bypass },
};
