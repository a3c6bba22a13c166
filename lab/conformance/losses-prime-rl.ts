import {
  crossEntropy,
  divergenceMask,
  importanceRatio,
  importanceSampling,
  klEstimate,
  type PolicyLossOptions,
} from '@rlp/algorithms/loss';
import { maskedMean } from '@rlp/algorithms/statistics';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss, sum } from './loss-requests.ts';
import type { Operations, Rows } from './operations.ts';

/** What was dropped and how far it had moved, from prime-rl's three losses of one sequence. */
async function primeMetrics(
  { inputs }: FixtureCase,
  operations: Operations,
  options: Parameters<typeof divergenceMask>[2],
): Promise<Record<string, number>> {
  const { outputs } = await operations.differentiate({
    inputs: {
      logprobs: [inputs.trainer_logprobs],
      old: [inputs.inference_logprobs],
      advantages: [inputs.advantages],
      // Tokens without advantage are dropped where bad ones are.
      sides: [(inputs.advantages as number[]).map((advantage) => (advantage > 0 ? 1 : -1))],
    },
    by: [],
    compute(ops, { logprobs, old, advantages, sides }) {
      const pair = { logprobs: logprobs!, proximalLogprobs: old!, advantages: sides! };
      const zero = ops.constant(0);
      const dropped = ops.sub(ops.constant(1), divergenceMask(ops, pair, options));
      const mismatch = klEstimate(
        ops,
        { logprobs: old!, referenceLogprobs: logprobs! },
        { estimator: 'k3', logRatioLimit: 1e6 },
      );
      return {
        loss: mismatch,
        dropped,
        high: ops.mul(dropped, ops.greater(advantages!, zero)),
        low: ops.mul(dropped, ops.greater(zero, advantages!)),
      };
    },
  });
  const { mask } = inputs;
  const among = (tokens: Rows) => [Array.from(tokens[0]!, (isIn, t) => isIn * mask[t])];
  const dropped = among(outputs.dropped!);
  const kept = [dropped[0]!.map((isDropped, t) => mask[t] - isDropped)];
  return {
    masked_mismatch_kl: maskedMean(outputs.loss!, dropped),
    unmasked_mismatch_kl: maskedMean(outputs.loss!, kept),
    is_masked: maskedMean(outputs.dropped!, [mask]),
    is_masked_low: maskedMean(outputs.low!, [mask]),
    is_masked_high: maskedMean(outputs.high!, [mask]),
    masked_advantage_positive: maskedMean(outputs.high!, dropped),
    masked_advantage_negative: maskedMean(outputs.low!, dropped),
  };
}

/** prime-rl sums over one sequence, weighs its tokens, and holds the policy to the sampler by the squared log-ratio. */
function primeLoss(
  { inputs, params }: FixtureCase,
  operations: Operations,
  options: PolicyLossOptions,
): ReturnType<typeof evaluateLoss> {
  const advantages = inputs.advantages as number[];
  return evaluateLoss(
    operations,
    plainPolicyLoss({
      proximalKlCoefficient: 2 * params.kl_tau,
      proximalKlEstimator: 'k2',
      correction: inputs.weights ? 'column' : 'none',
      ...options,
    }),
    {
      logprobs: [inputs.trainer_logprobs],
      mask: [inputs.mask],
      aggregation: sum,
      columns: {
        advantages: [advantages.map((advantage) => params.adv_tau * advantage)],
        proximalLogprobs: [inputs.inference_logprobs],
        correctionWeights: inputs.weights ? [inputs.weights] : undefined,
      },
    },
  );
}

const primeDefault: OperationsAdapter = async (fixtureCase, operations) => {
  const { dppo_mask_low: divergenceLow, dppo_mask_high: divergenceHigh } = fixtureCase.params;
  const region = { divergence: 'total-variation', divergenceLow, divergenceHigh } as const;
  const answer = await primeLoss(fixtureCase, operations, { surrogate: 'dppo', ...region });
  const metrics = await primeMetrics(fixtureCase, operations, region);
  return { loss: answer.loss, grad: answer.grad[0], metrics };
};

const primeIpo: OperationsAdapter = async (fixtureCase, operations) => {
  const { ipo_threshold: threshold } = fixtureCase.params;
  const region = {
    divergence: 'total-variation',
    divergenceLow: threshold,
    divergenceHigh: threshold,
    dropped: 'both',
  } as const;
  const answer = await primeLoss(fixtureCase, operations, { surrogate: 'dppo', ...region });
  return {
    loss: answer.loss,
    grad: answer.grad[0],
    metrics: await primeMetrics(fixtureCase, operations, region),
  };
};

/** Distillation: the advantage is how much more the reference likes the token; what fell too far is dropped. */
const primeReference: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs } = fixtureCase;
  const region = {
    divergence: 'total-variation',
    divergenceLow: 0.2,
    divergenceHigh: Number.POSITIVE_INFINITY,
    dropped: 'both',
  } as const;
  const { value, gradients } = await operations.differentiate({
    inputs: {
      logprobs: [inputs.trainer_logprobs],
      proximalLogprobs: [inputs.inference_logprobs],
      reference: [inputs.ref_logprobs],
      mask: [inputs.mask],
    },
    by: ['logprobs'],
    weights: [inputs.weights ?? inputs.mask],
    compute(ops, { logprobs, proximalLogprobs, reference, mask }) {
      const pair = { logprobs: logprobs!, proximalLogprobs: proximalLogprobs!, mask: mask! };
      const advantages = ops.stopGradient(ops.sub(reference!, logprobs!));
      const ratio = importanceRatio(ops, pair, { logRatioLimit: 1e6 });
      const kept = divergenceMask(ops, { ...pair, advantages }, region);
      const surrogate = ops.mul(importanceSampling(ops, { ratio, advantages }), kept);
      const anchor = { logprobs: logprobs!, referenceLogprobs: proximalLogprobs! };
      const squared = klEstimate(ops, anchor, { estimator: 'k2' });
      const loss = ops.add(surrogate, ops.mul(ops.constant(2e-3), squared));
      return { loss: ops.where(mask!, loss, ops.constant(0)) };
    },
  });
  const metrics = await primeMetrics(fixtureCase, operations, region);
  const differences = (inputs.ref_logprobs as number[]).map(
    (logprob, t) => logprob - inputs.trainer_logprobs[t],
  );
  return {
    loss: value,
    grad: gradients.logprobs![0],
    metrics: {
      'ref_kl/masked_mismatch_kl': metrics.masked_mismatch_kl,
      'ref_kl/unmasked_mismatch_kl': metrics.unmasked_mismatch_kl,
      'ref_kl/is_masked': metrics.is_masked,
      ref_kl: maskedMean([differences], [inputs.mask]),
    },
  };
};

const primeSupervised: OperationsAdapter = async ({ inputs }, operations) => {
  const weights = inputs.weights ?? (inputs.mask as number[]).map(() => 1);
  const answer = await operations.evaluate({
    loss: crossEntropy,
    logprobs: [inputs.trainer_logprobs],
    mask: [inputs.mask],
    weights: [weights],
    columns: {},
  });
  return {
    loss: answer.loss,
    grad: answer.grad[0],
    metrics: { nll: -maskedMean([inputs.trainer_logprobs], [inputs.mask]) },
  };
};

export const primeRlLosses: OperationsTable = {
  policy_loss_primerl: {
    primerl_default: primeDefault,
    primerl_ipo: primeIpo,
    primerl_ref_kl: primeReference,
    primerl_ce: primeSupervised,
  },
};
