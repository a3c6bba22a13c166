import {
  aggregationWeights,
  chosenLogprobs,
  collisionProbability,
  entropyOf,
  fullKl,
  klPenalizedRewards,
  logSoftmax,
  nextKlCoefficient,
} from '@rlp/algorithms/loss';
import { lossPresets } from '@rlp/algorithms/presets';
import { maskedMean, maskedRowMeans } from '@rlp/algorithms/statistics';
import { type FixtureCase, type OperationsAdapter, type OperationsTable, unsupported } from './fixture.ts';
import { split } from './loss-requests.ts';
import { verlAggregation } from './losses-verl.ts';
import type { Operations, Rows } from './operations.ts';
import { estimatorNames, klOf, valueLossOf } from './tensor-adapters.ts';

const verlCount = { countEpsilon: 1e-8 };

async function verlKl(
  operations: Operations,
  { logprobs, reference, kind }: { readonly logprobs: Rows; readonly reference: Rows; readonly kind: string },
): Promise<{ kl: number[][]; grad: number[][] } | typeof unsupported> {
  const estimator = estimatorNames[kind as keyof typeof estimatorNames];
  if (estimator === undefined) return unsupported;
  return klOf(operations, { logprobs, reference }, estimator === 'k3' ? lossPresets.verl.kl : { estimator });
}

const penalty: OperationsAdapter = ({ inputs, params }, operations) =>
  verlKl(operations, { logprobs: inputs.log_prob, reference: inputs.ref_log_prob, kind: params.kind });

const klInReward: OperationsAdapter = async ({ inputs, params }, operations) => {
  const { old_log_prob: logprobs, ref_log_prob: reference, mask } = inputs;
  const estimate = await verlKl(operations, { logprobs, reference, kind: params.kind });
  if (estimate === unsupported) return unsupported;
  const { kl } = estimate;
  const masked = kl.map((row, b) => row.map((value, t) => value * mask[b][t]));
  const current = maskedMean([maskedRowMeans(masked, mask, verlCount)]);
  const { beta: coefficient, target_kl: target, horizon, controller } = params;
  const steps = mask.length;
  return {
    token_rewards: klPenalizedRewards({ rewards: inputs.token_scores, kl, masks: mask }, { coefficient }),
    current_kl: current,
    new_beta:
      controller === 'adaptive'
        ? nextKlCoefficient(coefficient, { kl: current, target, horizon, steps })
        : coefficient,
  };
};

const adaptiveKl: OperationsAdapter = ({ inputs, params }) => {
  const { init, target, horizon } = params;
  let coefficient = init;
  const values = (inputs.kls as number[]).map((kl) => {
    coefficient = nextKlCoefficient(coefficient, { kl, target, horizon, steps: inputs.n_steps });
    return coefficient;
  });
  return { values };
};

const value: OperationsAdapter = async ({ inputs, params }, operations) => {
  const given = {
    values: inputs.vpreds,
    oldValues: inputs.values,
    returns: inputs.returns,
    mask: inputs.mask,
    aggregation: verlAggregation(params.agg)!,
  };
  const answer = await valueLossOf(operations, given, { clip: params.cliprange_value });
  return { ...answer, clipfrac: maskedMean(answer.clipped, inputs.mask, verlCount) };
};

const entropy: OperationsAdapter = async ({ inputs, params }, operations) => {
  const lengths = (inputs.mask as number[][]).map(({ length }) => length);
  const weights = aggregationWeights(inputs.mask, verlAggregation(params.agg)!);
  const {
    value: loss,
    outputs,
    gradients,
  } = await operations.differentiate({
    inputs: { logits: (inputs.logits as number[][][]).flat() },
    by: ['logits'],
    weights: weights.flatMap((row) => Array.from(row, (weight) => [weight])),
    compute: (ops, { logits }) => ({ loss: entropyOf(ops, logits!) }),
  });
  return {
    loss,
    grad: split(gradients.logits!, lengths),
    token_entropy: split(column(outputs.loss!), lengths),
  };
};

const column = (rows: readonly (readonly number[])[]) => rows.map(([value]) => value!);

/** One-hot rows; a label that is not there (−100) gives zeros. */
function oneHot(labels: readonly number[], size: number): number[][] {
  return labels.map((label) => Array.from({ length: size }, (_, token) => (token === label ? 1 : 0)));
}

const distribution: OperationsAdapter = async ({ inputs, params }: FixtureCase, operations) => {
  const { temperature } = params;
  const size = inputs.logits[0].length;
  const tensors = { logits: inputs.logits, other: inputs.other_logits, chosen: oneHot(inputs.labels, size) };
  const request = (compute: Parameters<Operations['differentiate']>[0]['compute']) =>
    operations.differentiate({ inputs: tensors, by: ['logits'], compute });
  const logprob = await request((ops, { logits, chosen }) => {
    const scaled = ops.div(logits!, ops.constant(temperature ?? 1));
    const logs = logSoftmax(ops, scaled);
    return { loss: chosenLogprobs(ops, scaled, chosen!), logs, probabilities: ops.exp(logs) };
  });
  const entropies = await request((ops, { logits }) => {
    const scaled = ops.div(logits!, ops.constant(temperature ?? 1));
    return { loss: entropyOf(ops, scaled), squares: collisionProbability(ops, scaled) };
  });
  const kl = await request((ops, { logits, other }) => {
    const scaled = (x: Parameters<typeof ops.div>[0]) => ops.div(x, ops.constant(temperature ?? 1));
    return { loss: fullKl(ops, scaled(logits!), scaled(other!)) };
  });
  const logprobs = column(logprob.outputs.loss!);
  return {
    log_softmax: logprob.outputs.logs,
    softmax: logprob.outputs.probabilities,
    logprobs,
    grad_logprob: logprob.gradients.logits,
    entropy: column(entropies.outputs.loss!),
    grad_entropy: entropies.gradients.logits,
    sum_p_squared: column(entropies.outputs.squares!),
    kl_to_other: column(kl.outputs.loss!),
    grad_kl: kl.gradients.logits,
    cross_entropy_mean: -maskedMean([logprobs]),
  };
};

const tokenEntropy: OperationsAdapter = async ({ inputs }, operations) => {
  const { outputs } = await operations.differentiate({
    inputs: { logits: inputs.logits },
    by: [],
    compute: (ops, { logits }) => ({ loss: entropyOf(ops, logits!) }),
  });
  return { entropy: column(outputs.loss!) };
};

export const valueLosses: OperationsTable = {
  kl_value_entropy_verl: {
    kl_penalty: penalty,
    kl_in_reward: klInReward,
    adaptive_kl: adaptiveKl,
    value_loss: value,
    entropy_loss: entropy,
  },
  softmax_logprob_entropy: { logits: distribution },
  policy_loss_textpolicy: { token_entropy: tokenEntropy },
};
