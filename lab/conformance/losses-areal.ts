import type { PolicyLossOptions } from '@rlp/algorithms/loss';
import { maskedRowMeans } from '@rlp/algorithms/statistics';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss } from './loss-requests.ts';
import { valueLossOf } from './tensor-adapters.ts';

type Params = FixtureCase['params'];

/** AReaL replaces advantages by the row's mean at the sequence level; its dual clip of good tokens never binds. */
function areal(options: (params: Params) => PolicyLossOptions): OperationsAdapter {
  return async ({ inputs, params }, operations) => {
    const { logprobs, mask } = inputs as { logprobs: number[][]; mask: number[][] };
    const isSequence = params.level === 'sequence';
    const means = maskedRowMeans(inputs.advantages, mask);
    const loss = plainPolicyLoss({ ...options(params), ratio: isSequence ? 'sequence' : 'token' });
    const answer = await evaluateLoss(operations, loss, {
      logprobs,
      mask,
      aggregation: { mode: 'token-mean' },
      columns: {
        advantages: isSequence ? logprobs.map((row, b) => row.map(() => means[b]!)) : inputs.advantages,
        proximalLogprobs: inputs.old_logprobs,
      },
    });
    const { metrics } = answer;
    return { ...answer, clip_fraction: (metrics['clip/low'] ?? 0) + (metrics['clip/high'] ?? 0) };
  };
}

const arealClip = areal((params) => ({
  clipLow: params.eps_clip,
  clipHigh: params.eps_clip_higher ?? params.eps_clip,
  dualClip: params.c_clip ?? undefined,
}));

const arealSoftGate = areal(({ tau_pos: temperaturePositive, tau_neg: temperatureNegative }) => ({
  surrogate: 'sapo',
  temperaturePositive,
  temperatureNegative,
}));

const arealValue: OperationsAdapter = ({ inputs, params }, operations) =>
  valueLossOf(
    operations,
    {
      values: inputs.values,
      oldValues: inputs.old_values,
      returns: inputs.targets,
      mask: inputs.mask,
      aggregation: { mode: 'token-mean' },
    },
    { clip: params.value_eps_clip, huberDelta: params.loss === 'huber' ? params.huber_delta : undefined },
  );

export const arealLosses: OperationsTable = {
  policy_loss_areal: {
    areal_ppo_token: arealClip,
    areal_ppo_sequence: arealClip,
    areal_sapo_token: arealSoftGate,
    areal_sapo_sequence: arealSoftGate,
    areal_value: arealValue,
  },
};
