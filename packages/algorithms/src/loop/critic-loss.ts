import type { Loss, LossOutput, TensorOps } from '@rlp/core';
import { valueLoss } from '../loss/value-loss.ts';
import type { ResolvedRlOptions } from './options.ts';

type CriticOptions = ResolvedRlOptions['critic'];

/** What the value loss reads. Each `[B, T]`. */
interface CriticInputs<T> {
  readonly values?: T | undefined;
  readonly columns: Readonly<Record<string, T>>;
}

function criticColumns({ clip }: CriticOptions): string[] {
  return clip === undefined ? ['returns'] : ['returns', 'oldValues'];
}

/** What a critic's losses differ by. */
function distinguishing({ scale, clip, clipForm, huberDelta }: CriticOptions) {
  return { scale, clip, clipForm, huberDelta };
}

function criticOutput<T>(
  ops: TensorOps<T>,
  { values, columns }: CriticInputs<T>,
  options: CriticOptions,
): LossOutput<T> {
  const oldValues = 'oldValues' in columns ? columns.oldValues : undefined;
  const inputs = { values: values!, oldValues, returns: columns.returns! };
  const { losses, clipped } = valueLoss(ops, inputs, distinguishing(options));
  return {
    tokenLosses: losses,
    metrics: {
      'loss/value': ops.stopGradient(losses),
      ...(options.clip !== undefined && { 'clip/value': clipped }),
    },
  };
}

/** Loss of a separate critic. Reads the columns `returns` and, when clipped, `oldValues`. */
export function criticLoss(options: CriticOptions): Loss {
  return {
    key: `critic-loss ${JSON.stringify(distinguishing(options))}`,
    columns: criticColumns(options),
    values: 'only',
    compute: (ops, inputs) => criticOutput(ops, inputs, options),
  };
}

/**
 * A policy's loss and its critic's on one trunk, `policy + coefficient · value`.
 *
 * If the critic has a separate aggregation, its part is multiplied by the column `criticFactors`.
 */
export function sharedLoss(policy: Loss, options: CriticOptions): Loss {
  const { coefficient, aggregation } = options;
  const weighting = aggregation === undefined ? [] : ['criticFactors'];
  return {
    key: `${policy.key} with ${JSON.stringify({ coefficient, weighting, ...distinguishing(options) })}`,
    columns: [...policy.columns, ...criticColumns(options), ...weighting],
    entropies: policy.entropies,
    values: 'needed',
    compute: (ops, inputs) => {
      const ofPolicy = policy.compute(ops, inputs);
      const ofCritic = criticOutput(ops, inputs, options);
      const scaled = ops.mul(ops.constant(coefficient), ofCritic.tokenLosses);
      const added = aggregation === undefined ? scaled : ops.mul(scaled, inputs.columns.criticFactors!);
      return {
        tokenLosses: ops.add(ofPolicy.tokenLosses, added),
        metrics: { ...ofPolicy.metrics, ...ofCritic.metrics },
      };
    },
  };
}
