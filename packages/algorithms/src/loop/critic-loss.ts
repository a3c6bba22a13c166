import type { Loss, LossOutput, TensorOps } from '@rlp/core';
import { valueLoss } from '../loss/value-loss.ts';
import type { ResolvedRlOptions } from './options.ts';

type CriticOptions = ResolvedRlOptions['critic'];

/** What the value loss reads; each `[B, T]`. */
interface CriticInputs<T> {
  readonly values?: T | undefined;
  readonly columns: Readonly<Record<string, T>>;
}

function criticColumns({ clip }: CriticOptions): string[] {
  return clip === undefined ? ['returns'] : ['returns', 'oldValues'];
}

function criticOutput<T>(
  ops: TensorOps<T>,
  { values, columns }: CriticInputs<T>,
  { clip, clipForm, huberDelta }: CriticOptions,
): LossOutput<T> {
  const inputs = { values: values!, oldValues: columns.oldValues, returns: columns.returns! };
  const { losses, clipped } = valueLoss(ops, inputs, { clip, clipForm, huberDelta });
  return {
    tokenLosses: losses,
    metrics: {
      'loss/value': ops.stopGradient(losses),
      ...(clip !== undefined && { 'clip/value': clipped }),
    },
  };
}

/** The loss of a critic of its own: reads the columns `returns` and, when clipped, `oldValues`. */
export function criticLoss(options: CriticOptions): Loss {
  const { clip, clipForm, huberDelta } = options;
  return {
    key: `critic-loss ${JSON.stringify({ clip, clipForm, huberDelta })}`,
    columns: criticColumns(options),
    values: 'only',
    compute: (ops, inputs) => criticOutput(ops, inputs, options),
  };
}

/** A policy's loss and its critic's on one trunk: `policy + coefficient · value`. */
export function sharedLoss(policy: Loss, options: CriticOptions): Loss {
  const { coefficient, clip, clipForm, huberDelta } = options;
  return {
    key: `${policy.key} with ${JSON.stringify({ coefficient, clip, clipForm, huberDelta })}`,
    columns: [...policy.columns, ...criticColumns(options)],
    entropies: policy.entropies,
    values: 'needed',
    compute: (ops, inputs) => {
      const ofPolicy = policy.compute(ops, inputs);
      const ofCritic = criticOutput(ops, inputs, options);
      return {
        tokenLosses: ops.add(ofPolicy.tokenLosses, ops.mul(ops.constant(coefficient), ofCritic.tokenLosses)),
        metrics: { ...ofPolicy.metrics, ...ofCritic.metrics },
      };
    },
  };
}
