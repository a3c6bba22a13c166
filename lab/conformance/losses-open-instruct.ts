import {
  type AcceptanceCriterion,
  acceptanceMask,
  importanceRatio,
  klEstimate,
  samplerWeights,
} from '@rlp/algorithms/loss';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { elementwise, plainPolicyLoss } from './loss-requests.ts';
import type { Operations } from './operations.ts';

type Params = FixtureCase['params'];

const positive = (bound: number) => (bound > 0 ? bound : undefined);

/** open-instruct: weights of the gap, then the surrogate, then one of four KL estimates. */
const openInstruct: OperationsAdapter = async (fixtureCase, operations) => {
  const { inputs, params } = fixtureCase;
  const weights = await openInstructWeights(fixtureCase, operations);
  const isCispo = params.loss_fn === 'cispo';
  const loss = plainPolicyLoss({
    ...(isCispo ? { surrogate: 'cispo', clipLow: 1 } : { clipLow: params.clip_lower }),
    clipHigh: params.clip_higher,
    correction: 'column',
  });
  const { losses, grad, clipped } = await elementwise(operations, loss, {
    logprobs: inputs.new_logprobs,
    mask: inputs.mask,
    columns: {
      advantages: inputs.advantages,
      proximalLogprobs: inputs.old_logprobs,
      correctionWeights: weights,
    },
  });
  return {
    rho_weights: weights,
    per_token_loss: losses,
    clipfrac: clipped.map((row, b) => row.map((isClipped, t) => (weights[b]![t] === 0 ? 0 : isClipped))),
    kl: await openInstructKl(fixtureCase, operations),
    grad,
  };
};

async function openInstructWeights(
  { inputs, params }: FixtureCase,
  operations: Operations,
): Promise<number[][]> {
  if (!params.use_rho_correction) return (inputs.mask as number[][]).map((row) => row.map(() => 1));
  const { outputs } = await operations.differentiate({
    inputs: {
      old: inputs.old_logprobs,
      sampler: inputs.sampler_logprobs,
      mask: inputs.mask,
      advantages: inputs.advantages,
    },
    by: [],
    compute(ops, { old, sampler, mask, advantages }) {
      const limited = ops.clip(ops.sub(old!, sampler!), -10, 10);
      const gap = { proximalLogprobs: limited, behaviorLogprobs: ops.constant(0), mask: mask! };
      const weights = samplerWeights(ops, gap, {
        level: params.rho_mask_sequence_level ? 'geometric' : 'token',
        outside: 'clamp',
        low: positive(params.rho_clamp_lower_bound),
        high: positive(params.rho_clamp_upper_bound),
      });
      const accepted = acceptanceMask(ops, gap, [openInstructCriterion(params)]);
      if (!params.rho_mask_tv_divergence) return { loss: ops.mul(weights, accepted) };
      const outward = ops.greater(ops.mul(limited, advantages!), ops.constant(0));
      return { loss: ops.mul(ops.mul(weights, mask!), ops.where(outward, accepted, mask!)) };
    },
  });
  return outputs.loss!;
}

function openInstructCriterion(params: Params): AcceptanceCriterion {
  const [low, high] = [positive(params.rho_mask_lower_bound), positive(params.rho_mask_upper_bound)];
  if (params.rho_mask_tv_divergence) return { statistic: 'tv', over: 'sequence-mean', low, high };
  return {
    statistic: 'k1',
    over: params.rho_mask_sequence_level ? 'sequence-mean' : 'token',
    low: high === undefined ? undefined : -Math.log(high),
    high: low === undefined ? undefined : -Math.log(low),
  };
}

/** The fourth estimate is k1 times the ratio. */
async function openInstructKl({ inputs, params }: FixtureCase, operations: Operations): Promise<number[][]> {
  const estimator = (['k1', 'k2', 'k3', 'k1'] as const)[params.kl_estimator as number]!;
  const { outputs } = await operations.differentiate({
    inputs: {
      logprobs: inputs.new_logprobs,
      old: inputs.old_logprobs,
      reference: inputs.ref_logprobs,
      mask: inputs.mask,
    },
    by: [],
    compute(ops, { logprobs, old, reference, mask }) {
      const pair = { logprobs: logprobs!, referenceLogprobs: reference! };
      const kl = klEstimate(ops, pair, { estimator, logRatioLimit: 40 });
      if (params.kl_estimator !== 3) return { loss: kl };
      const moved = { logprobs: logprobs!, proximalLogprobs: old!, mask: mask! };
      return { loss: ops.mul(kl, importanceRatio(ops, moved, { logRatioLimit: 1e6 })) };
    },
  });
  return outputs.loss!;
}

export const openInstructLosses: OperationsTable = {
  policy_loss_openinstruct: { openinstruct_dapo: openInstruct, openinstruct_cispo: openInstruct },
};
