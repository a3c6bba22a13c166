import {
  type AggregationOptions,
  aggregationWeights,
  type PolicyLossOptions,
  policyLoss,
} from '@rlp/algorithms/loss';
import type { Loss } from '@rlp/core';
import type { LossAnswer, Operations, Rows } from './operations.ts';

/** Evaluates a loss under an aggregation. */
export function evaluateLoss(
  operations: Operations,
  loss: Loss,
  given: {
    readonly logprobs: Rows;
    readonly mask: Rows;
    readonly aggregation: AggregationOptions;
    readonly columns?: Readonly<Record<string, Rows | undefined>>;
    readonly entropies?: Rows | undefined;
  },
): Promise<LossAnswer> {
  const { logprobs, mask, aggregation, entropies } = given;
  const weights = aggregationWeights(mask, aggregation);
  const columns = Object.fromEntries(
    Object.entries(given.columns ?? {}).filter((entry): entry is [string, Rows] => entry[1] !== undefined),
  );
  return operations.evaluate({ loss, logprobs, mask, weights, columns, entropies });
}

/** `policyLoss` without any correction or limit of its own, which many references do not have. */
export function plainPolicyLoss(options: PolicyLossOptions): Loss {
  return policyLoss({ proximal: 'column', correction: 'none', logRatioLimit: 1e6, ...options });
}

/** One number per sequence, spread over its tokens. */
export function wide(values: Rows | ArrayLike<number>, like: Rows): number[][] {
  return like.map((row, b) => {
    const value = values[b]!;
    if (typeof value === 'number') return Array.from(row, () => value);
    return value.length === 1 ? Array.from(row, () => value[0]!) : Array.from(value);
  });
}

/** The plain sum of token losses. */
export const sum: AggregationOptions = { mode: 'token-sum-norm', constant: 1 };

/** A loss token by token, those that do not count included, with its slopes and where its bounds stopped it. */
export async function elementwise(
  operations: Operations,
  loss: Loss,
  given: { readonly logprobs: Rows; readonly mask: Rows; readonly columns: Readonly<Record<string, Rows>> },
): Promise<{ losses: number[][]; grad: number[][]; clipped: number[][] }> {
  const { outputs, gradients } = await operations.differentiate({
    inputs: { logprobs: given.logprobs, mask: given.mask, ...given.columns },
    by: ['logprobs'],
    compute(ops, { logprobs, mask, ...columns }) {
      const { tokenLosses: losses, metrics } = loss.compute(ops, {
        logprobs: logprobs!,
        mask: mask!,
        columns,
      });
      return { loss: losses, clipped: ops.add(metrics!['clip/low']!, metrics!['clip/high']!) };
    },
  });
  return {
    losses: outputs.loss!,
    grad: gradients.logprobs!,
    clipped: wide(outputs.clipped!, given.logprobs),
  };
}

/** What stands one after the other as rows of these lengths. */
export function split<Item>(items: readonly Item[], lengths: readonly number[]): Item[][] {
  let start = 0;
  return lengths.map((length) => {
    start += length;
    return items.slice(start - length, start);
  });
}

/** Token losses that are given, as the logprobs: what is left is their aggregation. */
export const itself: Loss = {
  key: 'itself',
  columns: [],
  compute: (_, { logprobs }) => ({ tokenLosses: logprobs }),
};
