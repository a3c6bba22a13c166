import type { Metrics } from '@rlp/core';
import type { ResolvedRlOptions } from './options.ts';
import type { ScoredGroup } from './protocol.ts';

/**
 * How many publications old the weights were that sampled an iteration's trajectories. Of a trajectory, the oldest of its steps counts.
 * With `lookAhead` also their mean, and the share of trajectories whose steps have several versions.
 */
export function stalenessMetrics<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  { version, options }: { readonly version: number; readonly options: ResolvedRlOptions },
): Metrics {
  const trajectories = groups.flatMap(({ group }) => group.trajectories);
  const ages = trajectories.map(({ policyVersion }) => Math.max(0, version - policyVersion));
  const count = ages.length;
  if (count === 0) return {};
  const most = { 'staleness/max': Math.max(...ages) };
  if (options.lookAhead === 0) return most;
  const mixed = trajectories.filter(({ steps }) => new Set(steps.map((step) => step.policyVersion)).size > 1);
  return {
    ...most,
    'staleness/mean': ages.reduce((sum, age) => sum + age, 0) / count,
    'staleness/mixed': mixed.length / count,
  };
}
