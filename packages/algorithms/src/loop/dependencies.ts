import {
  abortSignal,
  type CriticBackend,
  callback,
  having,
  type InferenceEngine,
  isRecord,
  type Loss,
  type MetricsLogger,
  type Monitor,
  needed,
  parseOptions,
} from '@rlp/core';
import * as z from 'zod';
import type { PolicyColumn } from '../loss/policy-loss.ts';
import { backendWith } from '../training/backend-with.ts';
import type {
  AdvantageEstimator,
  EstimatorNeed,
  GroupCollector,
  GroupFilter,
  InterventionHandlers,
  RlDependencies,
} from './protocol.ts';

const needs = Object.keys({
  values: true,
  proximalLogprobs: true,
  referenceLogprobs: true,
  entropies: true,
  greedyRewards: true,
} satisfies Record<EstimatorNeed, true>);

/** Schema of an estimator of advantages. */
export const estimatorSchema = z
  .custom<AdvantageEstimator>(
    (value) =>
      typeof value === 'function' || typeof (value as { estimate?: unknown } | null)?.estimate === 'function',
    'must be an estimator; `estimators` of @rlp/algorithms/advantage has some',
  )
  .superRefine((value, context) => {
    const given = typeof value === 'object' ? [value?.needs ?? []].flat() : [];
    for (const need of given.filter((name) => !needs.includes(name))) {
      context.addIssue({
        code: 'custom',
        message: `needs: expected ${needs.join(', ')}, got ${String(need)}`,
      });
    }
  });

/** Schema of a loss. */
const lossSchema = having<Loss<PolicyColumn>>('compute', 'a loss; defineLoss of @rlp/core makes one').refine(
  (loss) =>
    typeof loss?.compute !== 'function' || (typeof loss.key === 'string' && Array.isArray(loss.columns)),
  'must have a key that names its computation and a list of columns, such as { key, columns, compute }',
);

/** Schema of a collector of groups. */
export const collectorSchema = having<GroupCollector>(
  'collectGroups',
  'a collector of groups, such as a RolloutManager',
).refine(
  (given) => typeof given?.collectGroups !== 'function' || isRecord(given.options?.sampling),
  'must have `options` with the `sampling` that it collects with, such as { sampling: { temperature: 1 } }',
);

/** Dependencies that the loop and the algorithms share. */
export const sharedShape = {
  tasks: needed.tasks,
  rewards: needed.rewards,
  backend: backendWith('forwardBackward', 'optimStep', 'logprobs', 'publish'),
  publications: z.string().optional(),
  loss: lossSchema.optional(),
  monitor: having<Monitor>(
    'observe',
    'a monitor; createDefaultMonitor of @rlp/quality-monitor makes one',
  ).optional(),
  interventions: z
    .custom<InterventionHandlers>((value) => typeof value === 'object', 'must be an object of handlers')
    .optional(),
  logger: having<MetricsLogger>('log', 'a logger, an object with log(step, metrics) and close()').optional(),
  clock: callback<() => number>().optional(),
  sleep: callback<NonNullable<RlDependencies['sleep']>>().optional(),
};

/** Schema of {@link RlDependencies}. */
export const rlDependencySchema = z.strictObject({
  ...sharedShape,
  rollouts: collectorSchema,
  inference: having<InferenceEngine>('updateWeights', 'the sampler that takes over the weights'),
  critic: having<CriticBackend>('forwardBackward', 'a training backend with a value head').optional(),
  advantages: estimatorSchema.optional(),
  groupFilter: callback<GroupFilter>().optional(),
  greedyRollouts: collectorSchema.optional(),
  onInterrupted: callback<NonNullable<RlDependencies['onInterrupted']>>().optional(),
  signal: abortSignal.optional(),
} satisfies Record<keyof RlDependencies, z.ZodType>);

/** @throws OptionsError naming every dependency that is missing, unfit or not known. */
export function requireKnown(dependencies: object): void {
  parseOptions('runRlTraining', rlDependencySchema, dependencies, 'RlDependencies');
}
