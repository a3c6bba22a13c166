import {
  entropyWeightedAdvantages,
  groupIndices,
  groupRelativeAdvantages,
  scatterGroups,
} from '@rlp/algorithms/advantage';
import {
  type AggregationOptions,
  clippedSurrogate,
  entropyShapedRewards,
  importanceRatio,
  mixedRatio,
  separatelyWhitened,
} from '@rlp/algorithms/loss';
import { advantagePresets } from '@rlp/algorithms/presets';
import type { OperationsAdapter, OperationsTable } from './fixture.ts';
import { evaluateLoss, plainPolicyLoss, split } from './loss-requests.ts';

const joined = (rows: readonly ArrayLike<number>[]) => rows.flatMap((row) => Array.from(row));

/** GTPO: shaped rewards, whitened apart, in a clipped surrogate. */
const gtpo: OperationsAdapter = async ({ inputs, params }, operations) => {
  const { rewards, new_logprobs: logprobs, old_logprobs: old } = inputs;
  const entropies = split(inputs.entropies as number[], inputs.lengths);
  const { alpha_1: base, alpha_2: bonus, reward_threshold: successAbove, eps: epsilon } = params;
  const shaped = entropyShapedRewards({ rewards, entropies }, { base, bonus, successAbove, epsilon });
  const successes = (rewards as number[]).map((reward) => reward > successAbove);
  const advantages = joined(separatelyWhitened(shaped, successes, { epsilon }));
  const { clip_epsilon: clip } = params;
  const answer = await evaluateLoss(operations, plainPolicyLoss({ clipLow: clip, clipHigh: clip }), {
    logprobs: [logprobs],
    mask: [advantages.map(() => 1)],
    aggregation: { mode: 'token-mean' },
    columns: { advantages: [advantages], proximalLogprobs: [old] },
  });
  return {
    shaped_rewards: joined(shaped),
    is_positive: successes.flatMap((isSuccess, b) =>
      shaped[b]!.length === 0 ? [] : Array.from(shaped[b]!, () => isSuccess),
    ),
    advantages,
    loss: answer.loss,
    grad: answer.grad[0],
  };
};

/** Entropies weigh the tokens of the whole batch. */
const weighted: OperationsAdapter = ({ inputs, params }) => {
  const [centred] = groupRelativeAdvantages([inputs.rewards], advantagePresets.textpolicy.grpo);
  const factors = entropyWeightedAdvantages(1, inputs.entropies, { strength: params.entropy_weight });
  const spread = (inputs.lengths as number[]).flatMap((length, b) =>
    new Array<number>(length).fill(centred![b]!),
  );
  return { advantages: spread.map((advantage, t) => advantage * factors[t]!) };
};

const maxrl: OperationsAdapter = ({ inputs, params }) => {
  const groups = groupIndices(inputs.prompt_ids);
  const rewards = groups.map((rows) => rows.map((row) => inputs.rewards[row] as number));
  const options = { ...advantagePresets.textpolicy.maxrl, epsilon: params.eps };
  const advantages = groupRelativeAdvantages(rewards, options);
  return { advantages: scatterGroups(groups, advantages) };
};

const tokenMean: AggregationOptions = { mode: 'token-mean' };

/** textpolicy has flat arrays without a mask. */
const textpolicyClip: OperationsAdapter = async ({ inputs, params }, operations) => {
  const { new_logprobs: logprobs, old_logprobs: old, advantages } = inputs;
  const loss = plainPolicyLoss({
    clipLow: params.clip_ratio ?? params.clip_ratio_low,
    clipHigh: params.clip_ratio ?? params.clip_ratio_high,
  });
  const answer = await evaluateLoss(operations, loss, {
    logprobs: [logprobs],
    mask: [logprobs.map(() => 1)],
    aggregation:
      params.normalize_constant === null
        ? tokenMean
        : { mode: 'token-sum-norm', constant: params.normalize_constant },
    columns: { advantages: [advantages], proximalLogprobs: [old] },
  });
  return { loss: answer.loss, grad: answer.grad[0] };
};

/** The same, filled up with 0 to the longest. */
function filledUp(tokens: readonly number[], lengths: readonly number[]): number[][] {
  const width = Math.max(1, ...lengths);
  return split(tokens, lengths).map((row) => [...row, ...new Array<number>(width - row.length).fill(0)]);
}

const flatten = (rows: readonly (readonly number[])[], lengths: readonly number[]) =>
  rows.flatMap((row, b) => row.slice(0, lengths[b]));

/** Sequence, token and the mixture of both; the first clips its weight before the surrogate. */
function textpolicyGspo(level: 'sequence' | 'token' | 'hybrid'): OperationsAdapter {
  return async ({ inputs, params }, operations) => {
    const lengths = inputs.lengths as number[];
    const ones = filledUp(
      inputs.new_logprobs.map(() => 1),
      lengths,
    );
    const tokens = lengths.reduce((total, length) => total + length, 0);
    const isSequence = level === 'sequence';
    const { clip_ratio: clip, alpha, beta } = params;
    const { value, outputs, gradients } = await operations.differentiate({
      inputs: {
        logprobs: filledUp(inputs.new_logprobs, lengths),
        old: filledUp(inputs.old_logprobs, lengths),
        mask: ones,
        advantages: (inputs.advantages as number[]).map((advantage) => [advantage]),
      },
      by: ['logprobs'],
      weights: isSequence
        ? lengths.map(() => [1 / lengths.length])
        : ones.map((row) => row.map((one) => one / tokens)),
      compute(ops, { logprobs, old, mask, advantages }) {
        const pair = { logprobs: logprobs!, proximalLogprobs: old!, mask: mask! };
        const free =
          level === 'hybrid'
            ? mixedRatio(ops, pair, { sequence: alpha, token: beta })
            : importanceRatio(ops, pair, { level, logRatioLimit: 1e6 });
        const ratio = isSequence ? ops.clip(free, 1 - clip, 1 + clip) : free;
        const bounds = { clipLow: clip, clipHigh: clip };
        return { loss: clippedSurrogate(ops, { ratio, advantages: advantages! }, bounds), ratio };
      },
    });
    const weights = isSequence ? outputs.ratio!.map(([ratio]) => ratio) : flatten(outputs.ratio!, lengths);
    return {
      loss: value,
      grad: flatten(gradients.logprobs!, lengths),
      weights: level === 'token' ? null : weights,
    };
  };
}

export const textpolicyLosses: OperationsTable = {
  policy_loss_textpolicy: {
    gtpo_loss: gtpo,
    gtpo_advantages: weighted,
    maxrl_per_prompt: maxrl,
    policy_loss: textpolicyClip,
    gspo_sequence: textpolicyGspo('sequence'),
    gspo_token: textpolicyGspo('token'),
    gspo_hybrid: textpolicyGspo('hybrid'),
  },
};
