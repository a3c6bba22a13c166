import {
  type AggregationOptions,
  aggregationWeights,
  clippedSurrogate,
  gammaWeights,
  geometricMeanRatio,
  highEntropyKeep,
  importanceRatio,
  importanceSampling,
  klEstimate,
  offPolicySequenceMask,
  type PolicyLossOptions,
  policyGradient,
  samplerWeights,
  valueLoss,
} from '@rlp/algorithms/loss';
import { lossPresets } from '@rlp/algorithms/presets';
import type { Loss, TensorOps } from '@rlp/core';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss, wide } from './loss-requests.ts';
import type { Operations, Request, Rows } from './operations.ts';

type Params = FixtureCase['params'];

/** Gradient accumulation divides the means over rows and tokens, not those over `num_items_in_batch`. */
function aggregationOf(params: Params, mask: Rows): AggregationOptions {
  const { grad_accum: accumulation } = params;
  const totalSequences = mask.length * accumulation;
  switch (params.loss_type) {
    case 'grpo':
    case 'sapo':
      return { ...lossPresets.trl.sequenceMean, totalSequences };
    case 'luspo':
      return { mode: 'sequence-mean-token-sum', totalSequences };
    case 'bnpo': {
      const tokens = mask.reduce((sum, row) => Array.from(row).reduce((a, b) => a + b, sum), 0);
      return { mode: 'token-mean', totalTokens: Math.max(1, tokens) * accumulation };
    }
    case 'dr_grpo':
      return { mode: 'sequence-mean-token-sum-norm', totalSequences, constant: params.max_completion_length };
    default:
      return { mode: 'token-mean', totalTokens: Math.max(1, params.num_items_in_batch) };
  }
}

function surrogateOf(params: Params): PolicyLossOptions {
  switch (params.loss_type) {
    case 'cispo':
      return { surrogate: 'cispo', clipLow: 1, clipHigh: params.epsilon_high - 1 };
    case 'sapo':
      return { surrogate: 'sapo', temperaturePositive: 1, temperatureNegative: 1.05 };
    case 'vespo':
      return { surrogate: 'vespo' };
    default:
      return { clipLow: params.epsilon_low, clipHigh: params.epsilon_high, ratioCap: params.delta };
  }
}

function columnsOf({
  inputs,
  params,
}: Pick<FixtureCase, 'inputs' | 'params'>): Record<string, Rows | undefined> {
  const { per_token_logps: logprobs, old_per_token_logps: old, importance_ratio: correction } = inputs;
  const share = params.top_entropy_quantile;
  return {
    advantages: wide(inputs.advantages, logprobs),
    proximalLogprobs: old ?? logprobs,
    behaviorLogprobs: old ?? logprobs,
    referenceLogprobs: inputs.ref_per_token_logps ?? undefined,
    correctionWeights: correction ? wide(correction, logprobs) : undefined,
    keep: share && highEntropyKeep({ entropies: inputs.entropies, masks: inputs.mask }, { share }),
  };
}

/** TRL averages the entropy bonus over the tokens that are kept, whatever the losses are averaged over. */
async function entropyBonus({ inputs, params }: FixtureCase, operations: Operations): Promise<number> {
  if (params.entropy_coef === undefined) return 0;
  const bonus: Loss = {
    key: 'entropy',
    columns: [],
    entropies: 'needed',
    compute: (ops, { entropies }) => ({
      tokenLosses: ops.mul(ops.constant(-params.entropy_coef), entropies!),
    }),
  };
  const mask = columnsOf({ inputs, params }).keep ?? inputs.mask;
  const isOverItems = ['cispo', 'dapo', 'vespo'].includes(params.loss_type);
  const aggregation = aggregationOf({ ...params, loss_type: isOverItems ? 'dapo' : 'bnpo' }, mask);
  const answer = await evaluateLoss(operations, bonus, {
    logprobs: inputs.per_token_logps,
    mask,
    entropies: inputs.entropies,
    aggregation,
  });
  return answer.loss;
}

const grpo: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const isSequence = params.importance_sampling_level === 'sequence';
  const loss = plainPolicyLoss({
    ...(isSequence ? lossPresets.trl.gspo : lossPresets.trl.clip),
    ...surrogateOf(params),
    correction: inputs.importance_ratio === null ? 'none' : 'column',
    keep: params.top_entropy_quantile === undefined ? 'all' : 'column',
    offPolicyThreshold: params.off_policy_mask_threshold,
    klCoefficient: params.beta,
    klWeight: params.use_bias_correction_kl ? 'ratio' : 'one',
  });
  const answer = await evaluateLoss(operations, loss, {
    logprobs: inputs.per_token_logps,
    mask: inputs.mask,
    aggregation: aggregationOf(params, inputs.mask),
    columns: columnsOf(fixtureCase),
  });
  return { ...answer, loss: answer.loss + (await entropyBonus(fixtureCase, operations)) };
};

const tensorsOf = (fixtureCase: FixtureCase): Record<string, Rows> => {
  const { inputs } = fixtureCase;
  const { per_token_logps: logprobs, mask } = inputs;
  return {
    logprobs,
    mask,
    keep: columnsOf(fixtureCase).keep ?? mask,
    proximalLogprobs: inputs.old_per_token_logps ?? logprobs,
    referenceLogprobs: inputs.ref_per_token_logps ?? logprobs,
    advantages: (inputs.advantages as number[]).map((advantage) => [advantage]),
    correction: inputs.importance_ratio ? wide(inputs.importance_ratio, logprobs) : mask,
  };
};

/** Evaluates parts that `policyLoss` puts together otherwise. */
async function composed(
  fixtureCase: FixtureCase,
  operations: Operations,
  { weights, compute }: Pick<Request, 'weights' | 'compute'>,
): Promise<unknown> {
  const request = { inputs: tensorsOf(fixtureCase), by: ['logprobs'], weights, compute };
  const { value, gradients } = await operations.differentiate(request);
  return { loss: value + (await entropyBonus(fixtureCase, operations)), grad: gradients.logprobs };
}

/** The importance ratio at the level the case asks for. */
function ratioOf<T>(
  ops: TensorOps<T>,
  { logprobs, proximalLogprobs, mask }: Readonly<Record<string, T>>,
  params: Params,
): T {
  const pair = { logprobs: logprobs!, proximalLogprobs: proximalLogprobs!, mask: mask! };
  return importanceRatio(ops, pair, {
    level: params.importance_sampling_level ?? 'token',
    logRatioLimit: 1e6,
  });
}

/** The mean over all rows, those without tokens included, of one loss per row. */
function rowMeanWeights({ inputs, params }: FixtureCase): Rows {
  const rows = (inputs.mask as number[][]).map(() => [1]);
  const accumulation = params.loss_type === 'rloo' ? 1 : params.grad_accum;
  return aggregationWeights(rows, { mode: 'token-mean', totalTokens: rows.length * accumulation });
}

/** What token losses of a composed loss are multiplied by and what is added to them. */
function finished<T>(
  ops: TensorOps<T>,
  losses: T,
  ratio: T,
  { logprobs, proximalLogprobs, referenceLogprobs, ...given }: Readonly<Record<string, T>>,
  { inputs, params }: FixtureCase,
): T {
  const factors: T[] = [];
  if (params.off_policy_mask_threshold !== undefined) {
    const gap = { logprobs: logprobs!, behaviorLogprobs: proximalLogprobs! };
    const pair = { ...gap, advantages: given.advantages!, mask: given.mask! };
    factors.push(offPolicySequenceMask(ops, pair, { threshold: params.off_policy_mask_threshold }));
  }
  if (params.top_entropy_quantile !== undefined) factors.push(given.keep!);
  if (inputs.importance_ratio && params.loss_type !== 'vespo') factors.push(given.correction!);
  const weighed = factors.reduce((product, factor) => ops.mul(product, factor), losses);
  if (params.beta === 0) return weighed;
  const pair = { logprobs: logprobs!, referenceLogprobs: referenceLogprobs! };
  const kl = klEstimate(ops, pair, lossPresets.trl.kl);
  const counted = params.use_bias_correction_kl ? ops.mul(kl, ratio) : kl;
  return ops.add(weighed, ops.mul(ops.constant(params.beta), counted));
}

/** LUSPO: times the row's length, plainly averaged over the matrix, tokens that do not count included. */
const luspo: OperationsAdapter = (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const mask = inputs.mask as number[][];
  const weights = aggregationWeights(mask, aggregationOf(params, mask)).map((row, b) => {
    const length = mask[b]!.reduce((total, counts) => total + counts, 0);
    const weight = Math.max(...row);
    return row.map(() => (weight * length) / row.length);
  });
  return composed(fixtureCase, operations, {
    weights,
    compute(ops, given) {
      const ratio = ratioOf(ops, given, params);
      const { epsilon_low: clipLow, epsilon_high: clipHigh, delta: ratioCap } = params;
      const bounds = { clipLow, clipHigh, ratioCap };
      const losses = clippedSurrogate(ops, { ratio, advantages: given.advantages! }, bounds);
      return { loss: finished(ops, losses, ratio, given, fixtureCase) };
    },
  });
};

/** GMPO: rows without tokens count with `−A`. */
const gmpo: OperationsAdapter = (fixtureCase, operations) => {
  const { params } = fixtureCase;
  return composed(fixtureCase, operations, {
    weights: rowMeanWeights(fixtureCase),
    compute(ops, { logprobs, proximalLogprobs, referenceLogprobs, advantages, mask }) {
      const ratio = geometricMeanRatio(
        ops,
        { logprobs: logprobs!, proximalLogprobs: proximalLogprobs!, advantages: advantages!, mask: mask! },
        { clipLow: params.epsilon_low, clipHigh: params.epsilon_high, logRatioLimit: 1e6 },
      );
      const loss = importanceSampling(ops, { ratio, advantages: advantages! });
      if (params.beta === 0) return { loss };
      const inputs = { logprobs: logprobs!, referenceLogprobs: referenceLogprobs! };
      const kl = klEstimate(ops, inputs, lossPresets.trl.kl);
      const counts = ops.maximum(ops.rowSum(mask!), ops.constant(1));
      const mean = ops.div(ops.rowSum(ops.where(mask!, kl, ops.constant(0))), counts);
      return { loss: ops.add(loss, ops.mul(ops.constant(params.beta), mean)) };
    },
  });
};

/** RLOO: the ratio of whole sequences. */
const rloo: OperationsAdapter = (fixtureCase, operations) => {
  const { params } = fixtureCase;
  return composed(fixtureCase, operations, {
    weights: rowMeanWeights(fixtureCase),
    compute(ops, { logprobs, proximalLogprobs, advantages, mask }) {
      const inputs = { logprobs: logprobs!, proximalLogprobs: proximalLogprobs!, mask: mask! };
      const ratio = importanceRatio(ops, inputs, { level: 'sequence-product', logRatioLimit: 1e6 });
      const bounds = { clipLow: params.epsilon_low, clipHigh: params.epsilon_high };
      return { loss: clippedSurrogate(ops, { ratio, advantages: advantages! }, bounds) };
    },
  });
};

/** VESPO takes the sampler's correction into the weight of the sequence. */
const vespo: OperationsAdapter = (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  return composed(fixtureCase, operations, {
    weights: aggregationWeights(inputs.mask, aggregationOf(params, inputs.mask)),
    compute(ops, given) {
      const { logprobs, proximalLogprobs, advantages, mask, correction } = given;
      const weight = gammaWeights(
        ops,
        {
          logprobs: logprobs!,
          proximalLogprobs: proximalLogprobs!,
          advantages: advantages!,
          mask: mask!,
          logCorrection: inputs.importance_ratio
            ? ops.rowSum(ops.clip(ops.log(correction!), Math.log(1e-8), 20))
            : undefined,
        },
        { positive: { power: 2, rate: 3 }, negative: { power: 3, rate: 2 } },
      );
      const losses = ops.mul(weight, policyGradient(ops, { logprobs: logprobs!, advantages: advantages! }));
      return { loss: finished(ops, losses, ratioOf(ops, given, params), given, fixtureCase) };
    },
  });
};

/** The sampler correction alone. */
const samplerRatio: OperationsAdapter = async ({ inputs, params }, operations) => {
  const [level, outside] = (params.mode as string).split('_') as ['token' | 'sequence', 'truncate' | 'mask'];
  const { outputs } = await operations.differentiate({
    inputs: {
      proximalLogprobs: inputs.old_per_token_logps,
      behaviorLogprobs: inputs.sampling_per_token_logps,
      mask: inputs.mask,
    },
    by: [],
    compute: (ops, { proximalLogprobs, behaviorLogprobs, mask }) => ({
      loss: samplerWeights(
        ops,
        { proximalLogprobs: proximalLogprobs!, behaviorLogprobs: behaviorLogprobs!, mask: mask! },
        {
          level,
          outside: outside === 'truncate' ? 'clamp' : 'zero',
          low: params.clip_min ?? undefined,
          high: params.clip_max ?? undefined,
          logRatioLimit: 1e6,
        },
      ),
    }),
  });
  return { ratio: outputs.loss };
};

/** PPO: the policy's tokens end at the last one, the critic's values one later. */
const ppo: OperationsAdapter = async ({ inputs, params }, operations) => {
  const lengths = inputs.sequence_lengths as number[];
  const maskTo = (extra: number) =>
    (inputs.new_logprobs as number[][]).map((row, b) =>
      row.map((_, t) => (t <= lengths[b]! + extra ? 1 : 0)),
    );
  const policy = await evaluateLoss(
    operations,
    plainPolicyLoss({ clipLow: params.cliprange, clipHigh: params.cliprange }),
    {
      logprobs: inputs.new_logprobs,
      mask: maskTo(0),
      aggregation: { mode: 'token-mean' },
      columns: { advantages: inputs.advantages, proximalLogprobs: inputs.old_logprobs },
    },
  );
  const weights = aggregationWeights(maskTo(1), { mode: 'token-mean' });
  const { vpred, values, returns } = inputs;
  const { value, outputs, gradients } = await operations.differentiate({
    inputs: { vpred, values, returns, counted: weights },
    by: ['vpred'],
    weights,
    compute(ops, { vpred: given, values: old, returns: targets, counted }) {
      const options = { clip: params.cliprange_value };
      const critic = valueLoss(ops, { values: given!, oldValues: old!, returns: targets! }, options);
      return { loss: critic.losses, clipfrac: ops.sum(ops.mul(critic.clipped, counted!)) };
    },
  });
  const coefficient = params.vf_coef;
  return {
    loss: policy.loss + coefficient * value,
    pg_loss: policy.loss,
    vf_loss: value,
    vf_clipfrac: outputs.clipfrac![0]![0],
    grad_logprobs: policy.grad,
    grad_vpred: gradients.vpred!.map((row) => row.map((slope) => coefficient * slope)),
  };
};

export const trlLosses: OperationsTable = {
  policy_loss_trl: {
    trl_grpo: grpo,
    trl_bnpo: grpo,
    trl_dr_grpo: grpo,
    trl_dapo: grpo,
    trl_cispo: grpo,
    trl_sapo: grpo,
    trl_luspo: luspo,
    trl_vespo: vespo,
    trl_gmpo: gmpo,
    trl_rloo: rloo,
  },
  importance_ratio_trl: { trl_is_ratio: samplerRatio },
  policy_value_loss_trl_ppo: { trl_ppo_loss: ppo },
};
