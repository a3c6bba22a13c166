import {
  type AggregationOptions,
  aggregationWeights,
  chosenLogprobs,
  clippedSurrogate,
  crossEntropy,
  entropyOf,
  importanceRatio,
  importanceSampling,
  klEstimate,
  policyGradient,
  samplerWeights,
} from '@rlp/algorithms/loss';
import { maskedMean, maskedRowMeans, maskedVariance } from '@rlp/algorithms/statistics';
import type { TensorOps } from '@rlp/core';
import type { FixtureCase, OperationsAdapter, OperationsTable } from './fixture.ts';
import type { Operations, Request, Rows } from './operations.ts';
import { valueLossOf } from './tensor-adapters.ts';

/** Logprobs and entropies of `[B][T]` labels under `[B][T][V]` logits, and the way back to the logits. */
interface Scored {
  readonly logprobs: number[][];
  readonly entropies: number[][];
  /** Slopes by the logits, from those by logprobs and entropies. */
  slopes(byLogprobs: Rows, byEntropies: Rows): Promise<number[][][]>;
}

const column = (rows: Rows) => rows.flatMap((row) => Array.from(row, (value) => [value]));

async function score(operations: Operations, { inputs }: FixtureCase): Promise<Scored> {
  const logits = (inputs.logits as number[][][]).flat();
  const labels = inputs.labels as number[][];
  const chosen = labels.flat().map((label) => logits[0]!.map((_, token) => (token === label ? 1 : 0)));
  const width = labels[0]!.length;
  const fold = <Item>(items: readonly Item[]) =>
    labels.map((_, b) => items.slice(b * width, (b + 1) * width));
  const run = (byLogprobs: Rows, byEntropies: Rows) =>
    operations.differentiate({
      inputs: { logits, chosen, byLogprobs, byEntropies },
      by: ['logits'],
      compute(ops, { logits: given, chosen: picked, byLogprobs: slopes, byEntropies: entropySlopes }) {
        const logprobs = chosenLogprobs(ops, given!, picked!);
        const entropies = entropyOf(ops, given!);
        const loss = ops.add(ops.mul(logprobs, slopes!), ops.mul(entropies, entropySlopes!));
        return { loss, logprobs, entropies };
      },
    });
  const none = logits.map(() => [0]);
  const { outputs } = await run(none, none);
  return {
    logprobs: fold(outputs.logprobs!.map(([value]) => value!)),
    entropies: fold(outputs.entropies!.map(([value]) => value!)),
    async slopes(byLogprobs, byEntropies) {
      return fold((await run(column(byLogprobs), column(byEntropies))).gradients.logits!);
    },
  };
}

/** A loss on sequences: of the ratio of mean logprobs, and of the mean logprobs themselves. */
type SequenceLoss = (fixtureCase: FixtureCase) => {
  readonly weights: Rows;
  readonly compute: Request['compute'];
  readonly entropyCoefficient: number;
};

/** Mean over all sequences. */
const overAll = (count: number) => aggregationWeights(new Array(count).fill([1]), { mode: 'token-mean' });

const sequenceTensors = ({ inputs }: FixtureCase, { logprobs }: Scored): Record<string, Rows> => ({
  logprobs,
  mask: inputs.mask,
  old: (inputs.old_seq_logprobs as number[]).map((old) => [old]),
  advantages: (inputs.advantages as number[]).map((advantage) => [advantage]),
});

function sequences(
  build: SequenceLoss,
  metrics: (fixtureCase: FixtureCase, outputs: Readonly<Record<string, number[][]>>) => object,
): OperationsAdapter {
  return async (fixtureCase, operations) => {
    const scored = await score(operations, fixtureCase);
    const { weights, compute, entropyCoefficient } = build(fixtureCase);
    const { mask } = fixtureCase.inputs;
    const { value, outputs, gradients } = await operations.differentiate({
      inputs: sequenceTensors(fixtureCase, scored),
      by: ['logprobs'],
      weights,
      compute,
    });
    const entropy = maskedMean(scored.entropies, mask);
    const tokenMean: AggregationOptions = { mode: 'token-mean' };
    const byEntropies = aggregationWeights(mask, tokenMean).map((row) =>
      row.map((weight) => -entropyCoefficient * weight),
    );
    const { advantages } = fixtureCase.inputs;
    return {
      loss: value - entropyCoefficient * entropy,
      grad: await scored.slopes(gradients.logprobs!, byEntropies),
      metrics: {
        pg_loss: value,
        entropy,
        avg_logprob: maskedMean([maskedRowMeans(scored.logprobs, mask)]),
        avg_advantage: maskedMean([advantages]),
        ...metrics(fixtureCase, outputs),
      },
    };
  };
}

const first = (rows: Rows) => rows.map((row) => row[0]!);

const grpo = sequences(
  ({ inputs }) => ({
    weights: overAll(inputs.advantages.length),
    entropyCoefficient: 0,
    compute: (ops, given) => ({
      loss: policyGradient(ops, { logprobs: meanLogprob(ops, given), advantages: given.advantages! }),
    }),
  }),
  () => ({}),
);

/** The ratio of mean logprobs, its logarithm and what they say about each sequence. */
function ratioOf<T>(ops: TensorOps<T>, given: Readonly<Record<string, T>>) {
  const pair = { logprobs: meanLogprob(ops, given), proximalLogprobs: given.old!, mask: given.advantages! };
  const ratio = importanceRatio(ops, pair, { logRatioLimit: 1e6 });
  const logRatio = ops.log(ratio);
  const toOld = { logprobs: ops.constant(0), referenceLogprobs: logRatio };
  const k3 = klEstimate(ops, toOld, { estimator: 'k3', logRatioLimit: 1e6 });
  return { ratio, logRatio, k3 };
}

/** The masked mean of a sequence's logprobs, 0 without tokens: what this project calls a sequence's logprob. */
function meanLogprob<T>(ops: TensorOps<T>, { logprobs, mask }: Readonly<Record<string, T>>): T {
  const counts = ops.maximum(ops.rowSum(mask!), ops.constant(1));
  return ops.div(ops.rowSum(ops.where(mask!, logprobs!, ops.constant(0))), counts);
}

const clipped = sequences(
  ({ inputs, params }) => ({
    weights: overAll(inputs.advantages.length),
    entropyCoefficient: params.entropy_coef,
    compute(ops, given) {
      const parts = ratioOf(ops, given);
      const bounds = { clipLow: params.clip_range, clipHigh: params.clip_range };
      const inputsOfLoss = { ratio: parts.ratio, advantages: given.advantages! };
      return { ...parts, loss: clippedSurrogate(ops, inputsOfLoss, bounds) };
    },
  }),
  ({ params }, outputs) => ({
    approx_kl: maskedMean([first(outputs.k3!)]),
    avg_ratio: maskedMean([first(outputs.ratio!)]),
    clipfrac: maskedMean([
      first(outputs.ratio!).map((ratio) => (Math.abs(ratio - 1) > params.clip_range ? 1 : 0)),
    ]),
  }),
);

/** Importance sampling over the sequences within the bounds, and the log-ratio of those outside, each averaged apart. */
const windowed = sequences(
  ({ params }) => ({
    weights: [[1]],
    entropyCoefficient: 0,
    compute(ops, given) {
      const { old, advantages } = given;
      const parts = ratioOf(ops, given);
      const one = ops.constant(1);
      const current = ops.stopGradient(meanLogprob(ops, given));
      const gap = { proximalLogprobs: current, behaviorLogprobs: old!, mask: ops.greaterEqual(old!, old!) };
      const bounds = { low: params.ratio_low, high: params.ratio_high, logRatioLimit: 1e6 };
      const weights = samplerWeights(ops, gap, { level: 'token', outside: 'zero', ...bounds });
      const kept = ops.greater(weights, ops.constant(0));
      const dropped = ops.sub(one, kept);
      const meanOver = (part: typeof kept, value: typeof kept) =>
        ops.div(ops.sum(ops.mul(part, value)), ops.maximum(ops.sum(part), one));
      const policy = meanOver(kept, importanceSampling(ops, { ratio: parts.ratio, advantages: advantages! }));
      const away = meanOver(dropped, parts.logRatio);
      return { ...parts, policy, loss: ops.add(policy, ops.mul(ops.constant(params.kl_coef), away)) };
    },
  }),
  ({ params }, outputs) => {
    const ratios = first(outputs.ratio!);
    const share = (test: (ratio: number) => boolean) =>
      maskedMean([ratios.map((ratio) => (test(ratio) ? 1 : 0))]);
    const [low, high] = [
      share((ratio) => ratio < params.ratio_low),
      share((ratio) => ratio > params.ratio_high),
    ];
    return {
      pg_loss: outputs.policy![0]![0],
      masked_frac: low + high,
      masked_low_frac: low,
      masked_high_frac: high,
      mismatch_kl: maskedMean([first(outputs.k3!)]),
      avg_ratio: maskedMean([ratios]),
    };
  },
);

/** Cross-entropy over the tokens of a mask; labels of −100 have none. */
function supervised(maskOf: (inputs: FixtureCase['inputs']) => number[][]): OperationsAdapter {
  return async (fixtureCase, operations) => {
    const scored = await score(operations, fixtureCase);
    const mask = maskOf(fixtureCase.inputs);
    const weights = aggregationWeights(mask, { mode: 'token-mean' });
    const { logprobs } = scored;
    const { loss, grad } = await operations.evaluate({
      loss: crossEntropy,
      logprobs,
      mask,
      weights,
      columns: {},
    });
    const none = mask.map((row) => row.map(() => 0));
    const tokens = mask.flat().filter((counts) => counts !== 0).length;
    return {
      loss,
      grad: await scored.slopes(grad, none),
      metrics: { loss, perplexity: Math.exp(loss), num_tokens: tokens },
    };
  };
}

/** rl_primitives: losses on vectors, one number per sequence; entropies and KL are data. */
const primitives: OperationsAdapter = async ({ fn, inputs, params }, operations) => {
  const isPpo = fn === 'ppo_loss';
  const optionalMean = (values: readonly number[] | null | undefined) =>
    values === null || values === undefined ? undefined : maskedMean([values]);
  const ones = [inputs.log_probs.map(() => 1)];
  const { value, outputs, gradients } = await operations.differentiate({
    inputs: {
      logprobs: [inputs.log_probs],
      old: [inputs.old_log_probs ?? inputs.log_probs],
      advantages: [inputs.advantages],
      mask: ones,
    },
    by: ['logprobs'],
    weights: aggregationWeights(ones, { mode: 'token-mean' }),
    compute(ops, { logprobs, old, advantages, mask }) {
      const pair = { logprobs: logprobs!, proximalLogprobs: old!, mask: mask! };
      const ratio = importanceRatio(ops, pair, { logRatioLimit: 1e6 });
      const bounds = { clipLow: params.clip_range, clipHigh: params.clip_range };
      const loss = isPpo
        ? clippedSurrogate(ops, { ratio, advantages: advantages! }, bounds)
        : policyGradient(ops, { logprobs: logprobs!, advantages: advantages! });
      return { loss, ratio };
    },
  });
  const [kl, entropy] = [optionalMean(inputs.kl), optionalMean(inputs.entropy)];
  const critic = isPpo && inputs.values ? await criticLoss({ inputs, params }, operations) : undefined;
  const total =
    value +
    params.kl_coef * (kl ?? 0) -
    params.entropy_coef * (entropy ?? 0) +
    (params.value_loss_coef ?? 0) * (critic ?? 0);
  return {
    pg_loss: value,
    policy_loss: value,
    total_loss: total,
    entropy_loss: entropy === undefined ? undefined : -entropy,
    kl_loss: kl,
    value_loss: critic,
    ratio_mean: maskedMean(outputs.ratio!),
    ratio_std: Math.sqrt(maskedVariance(outputs.ratio!)),
    grad: gradients.logprobs![0],
  };
};

/** Not halved, and clipped by the policy's range. */
async function criticLoss(
  { inputs, params }: Pick<FixtureCase, 'inputs' | 'params'>,
  operations: Operations,
): Promise<number> {
  const given = {
    values: [inputs.values],
    oldValues: [inputs.old_values ?? inputs.values],
    returns: [inputs.returns],
    mask: [inputs.values.map(() => 1)],
    aggregation: { mode: 'token-mean' as const },
  };
  const clip = params.clip_value_loss && inputs.old_values ? params.clip_range : undefined;
  return (await valueLossOf(operations, given, { clip, scale: 1 })).loss;
}

export const logitLosses: OperationsTable = {
  losses_rollouts: {
    rollouts_grpo: grpo,
    rollouts_clipped: clipped,
    rollouts_masked: windowed,
    rollouts_sft: supervised(({ mask }) => mask),
    rollouts_pretrain: supervised(({ labels }) =>
      labels.map((row: number[]) => row.map((label) => (label < 0 ? 0 : 1))),
    ),
  },
  losses_rl_primitives: { reinforce_loss: primitives, ppo_loss: primitives },
};
