import { type KlOptions, offPolicySequenceMask, type PolicyLossOptions } from '@rlp/algorithms/loss';
import { lossPresets } from '@rlp/algorithms/presets';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { elementwise, plainPolicyLoss } from './loss-requests.ts';
import { estimatorNames, klOf } from './tensor-adapters.ts';

type Params = FixtureCase['params'];

const unlimited = Number.POSITIVE_INFINITY;

/** slime works on one sequence. */
function slime(options: (params: Params) => PolicyLossOptions): OperationsAdapter {
  return async ({ inputs, params }, operations) => {
    const logprobs = [inputs.log_probs as number[]];
    const mask = [inputs.mask ?? logprobs[0]!.map(() => 1)];
    const columns = { advantages: [inputs.advantages], proximalLogprobs: [inputs.old_log_probs] };
    const loss = plainPolicyLoss(options(params));
    const { losses, grad, clipped } = await elementwise(operations, loss, { logprobs, mask, columns });
    return { per_token_loss: losses[0], clipfrac: clipped[0], grad: grad[0] };
  };
}

const bounds = (params: Params) => ({
  clipLow: params.eps_clip,
  clipHigh: params.eps_clip_high,
});

/** It clamps only `low_var_kl`, and only its result, the ratio included. */
const slimeKl: OperationsAdapter = async ({ inputs, params }, operations) => {
  const options: KlOptions = {
    estimator: estimatorNames[params.kind as keyof typeof estimatorNames],
    logRatioLimit: unlimited,
  };
  const factor = inputs.importance_ratio && [inputs.importance_ratio];
  const given = { logprobs: [inputs.log_probs], reference: [inputs.ref_log_probs], factor };
  const limit = params.kind === 'low_var_kl' ? 10 : unlimited;
  const { kl, grad } = await klOf(operations, { ...given, limit }, options);
  return { kl: kl[0], grad: grad[0] };
};

/** Off-policy sequence masking; sequences are given apart. */
const slimeOpsm: OperationsAdapter = async ({ inputs, params }, operations) => {
  const kept: number[][] = [];
  for (const b of (inputs.masks as number[][]).keys()) {
    const { outputs } = await operations.differentiate({
      inputs: {
        logprobs: [inputs.log_probs[b]],
        behavior: [inputs.old_log_probs[b]],
        advantages: [inputs.advantages[b]],
        mask: [inputs.masks[b]],
      },
      by: [],
      compute: (ops, { logprobs, behavior, advantages, mask }) => ({
        loss: offPolicySequenceMask(
          ops,
          { logprobs: logprobs!, behaviorLogprobs: behavior!, advantages: advantages!, mask: mask! },
          { threshold: params.delta },
        ),
      }),
    });
    kept.push(outputs.loss![0]!);
  }
  const counts = (row: ArrayLike<number>) =>
    Math.max(
      1,
      Array.from(row).reduce((a, b) => a + b, 0),
    );
  const shares = kept.map((row, b) => row.filter((keep) => keep === 0).length / counts(inputs.masks[b]));
  return { mask: kept.flat(), clipfrac: shares.reduce((total, share) => total + share, 0) };
};

export const slimeLosses: OperationsTable = {
  policy_loss_slime: {
    slime_ppo: slime((params) => ({ ...bounds(params), dualClip: params.eps_clip_c ?? undefined })),
    slime_cispo: slime((params) => ({ surrogate: 'cispo', ...bounds(params) })),
    slime_gspo: slime((params) => ({
      ...bounds(params),
      dualClip: params.eps_clip_c ?? undefined,
      ...lossPresets.slime.gspo,
    })),
    slime_kl: slimeKl,
    slime_opsm: slimeOpsm,
  },
};
