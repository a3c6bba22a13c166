import {
  type AggregationOptions,
  aggregationWeights,
  type KlOptions,
  klEstimate,
  type ValueLossOptions,
  valueLoss,
} from '@rlp/algorithms/loss';
import type { Operations, Rows } from './operations.ts';

/** Elementwise KL estimates and their slopes. */
export async function klOf(
  operations: Operations,
  inputs: {
    readonly logprobs: Rows;
    readonly reference: Rows;
    readonly factor?: Rows | undefined;
    /** Of the estimate times the factor. */
    readonly limit?: number;
  },
  options: KlOptions,
): Promise<{ kl: number[][]; grad: number[][] }> {
  const { outputs, gradients } = await operations.differentiate({
    inputs: {
      logprobs: inputs.logprobs,
      reference: inputs.reference,
      ...(inputs.factor && { factor: inputs.factor }),
    },
    by: ['logprobs'],
    compute(ops, { logprobs, reference, factor }) {
      const kl = klEstimate(ops, { logprobs: logprobs!, referenceLogprobs: reference! }, options);
      const weighed = factor === undefined ? kl : ops.mul(kl, factor);
      return { loss: inputs.limit === undefined ? weighed : ops.clip(weighed, -inputs.limit, inputs.limit) };
    },
  });
  return { kl: outputs.loss!, grad: gradients.logprobs! };
}

/** A value loss under an aggregation, with the slopes by the values and the mean of where clipping decided it. */
export async function valueLossOf(
  operations: Operations,
  given: {
    readonly values: Rows;
    readonly oldValues: Rows;
    readonly returns: Rows;
    readonly mask: Rows;
    readonly aggregation: AggregationOptions;
  },
  options: ValueLossOptions,
): Promise<{ loss: number; grad: number[][]; clipped: number[][] }> {
  const { values, oldValues, returns, mask, aggregation } = given;
  const { value, outputs, gradients } = await operations.differentiate({
    inputs: { values, oldValues, returns },
    by: ['values'],
    weights: aggregationWeights(mask, aggregation),
    compute(ops, { values: current, oldValues: old, returns: targets }) {
      const inputs = { values: current!, oldValues: old!, returns: targets! };
      const { losses, clipped } = valueLoss(ops, inputs, options);
      return { loss: losses, clipped };
    },
  });
  return { loss: value, grad: gradients.values!, clipped: outputs.clipped! };
}

/** Names of KL estimators in the references. */
export const estimatorNames = {
  k1: 'k1',
  kl: 'k1',
  k2: 'k2',
  mse: 'k2',
  k3: 'k3',
  low_var_kl: 'k3',
  abs: 'absolute',
} as const;
