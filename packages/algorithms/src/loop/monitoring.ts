import type { Finding, Intervention, Metrics, RewardsFor } from '@rlp/core';
import { plural } from '@rlp/core';
import type { Coefficients } from './experience.ts';
import type { RlDependencies, ScoredGroup } from './protocol.ts';

/** Where an iteration stands before its monitor has seen it. */
export interface WatchContext {
  readonly iteration: number;
  readonly coefficients: Coefficients;
  /** What components' weights were multiplied by so far. */
  readonly weightFactors: Readonly<Record<string, number>>;
  /** As it was measured last. */
  readonly referenceKl: number | undefined;
}

type Watching<Metadata> = Pick<RlDependencies<Metadata>, 'monitor' | 'rewards' | 'interventions' | 'signal'>;

/** An iteration's batch as its monitor wants it. */
export interface Watched<Metadata> {
  /** Without the rewards of dropped trajectories. */
  readonly groups: readonly ScoredGroup<Metadata>[];
  readonly coefficients: Coefficients;
  readonly weightFactors: Readonly<Record<string, number>>;
  /** As it was measured last. Unknown of weights that the run went back to. */
  readonly referenceKl: number | undefined;
  /** `stop` ends the run after the report, `skip` goes on with the next batch. Neither learns from this one. */
  readonly verdict: 'learn' | 'skip' | 'stop';
  readonly metrics: Metrics;
  readonly findings: readonly Finding[];
  /** What was done, and why. */
  readonly notes: readonly string[];
}

/**
 * Shows a batch to the monitor, where there is one, and carries out what it asks for.
 *
 * @throws whatever the handlers of pause and roll-back reject with.
 */
export async function watch<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  dependencies: Watching<Metadata>,
  { iteration, ...standing }: WatchContext,
): Promise<Watched<Metadata>> {
  const unseen = { ...standing, groups, verdict: 'learn', metrics: {}, findings: [], notes: [] } as const;
  if (dependencies.monitor === undefined) return unseen;
  const trajectories = groups.flatMap(({ scored }) => scored);
  const { referenceKl } = standing;
  const {
    metrics,
    findings,
    interventions = [],
  } = dependencies.monitor.observe({
    iteration,
    trajectories,
    ...(referenceKl !== undefined && { metrics: { 'kl/reference': referenceKl } }),
  });
  const counts = { 'monitor/findings': findings.length, 'monitor/interventions': interventions.length };
  let watched: Watched<Metadata> = { ...unseen, findings, metrics: { ...metrics, ...counts } };
  const firstRollBack = interventions.findIndex(({ action }) => action === 'roll-back');
  for (const [at, intervention] of interventions.entries()) {
    // Once, however many findings ask for it: a handler may go further back each time.
    if (intervention.action === 'roll-back' && at > firstRollBack) continue;
    watched = await carriedOut(intervention, watched, dependencies);
  }
  return watched;
}

async function carriedOut<Metadata>(
  intervention: Intervention,
  watched: Watched<Metadata>,
  { rewards, interventions, monitor, signal }: Watching<Metadata>,
): Promise<Watched<Metadata>> {
  const done = (what: string, change: Partial<Watched<Metadata>> = {}): Watched<Metadata> => ({
    ...watched,
    ...change,
    notes: [...watched.notes, `monitor, ${intervention.cause.rule}: ${what}`],
  });
  switch (intervention.action) {
    case 'drop': {
      const dropped = new Set(intervention.trajectories);
      return done(`${plural(dropped.size, 'trajectory is', 'trajectories are')} left out`, {
        groups: without(watched.groups, dropped),
      });
    }
    case 'stop':
      return done('the run stops', { verdict: 'stop' });
    case 'raise-kl': {
      const kl = watched.coefficients.kl * intervention.factor;
      if (kl === 0)
        return done('the KL coefficient cannot be raised, it is 0: give the loss a klCoefficient');
      return done(`the KL coefficient is raised to ${kl}`, { coefficients: { ...watched.coefficients, kl } });
    }
    case 'lower-weight': {
      const { component, factor } = intervention;
      const inAll = (watched.weightFactors[component] ?? 1) * factor;
      if (rewards.scaleWeight?.(component, inAll) !== 'scaled') {
        return done(`the weight of "${component}" stays: the reward computer knows no such weight`);
      }
      const weightFactors = { ...watched.weightFactors, [component]: inAll };
      return done(`the weight of "${component}" is multiplied by ${factor}`, { weightFactors });
    }
    case 'pause':
      if (interventions?.pause === undefined) return done('a pause was asked for, and nobody handles it');
      await interventions.pause(intervention, signal);
      return done('the run was paused');
    case 'roll-back':
      if (interventions?.rollBack === undefined)
        return done('a roll-back was asked for, and nobody handles it');
      await interventions.rollBack(intervention);
      monitor?.rolledBack?.();
      return done('the run went back to its last good weights', {
        verdict: watched.verdict === 'stop' ? 'stop' : 'skip',
        referenceKl: undefined,
      });
  }
}

/** Trajectories without a reward are not learned from, and their group's statistics do without them. */
function without<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  dropped: ReadonlySet<string>,
): ScoredGroup<Metadata>[] {
  return groups.map(({ group, scored }) => ({
    group,
    scored: scored.map((score) => (dropped.has(score.trajectory.id) ? { ...score, reward: null } : score)),
  }));
}

/** A run's own view of the rewards: weights that it scales are as they were once it is over. */
export function scaledForTheRun<Metadata>(given: RewardsFor<Metadata>): {
  readonly rewards: RewardsFor<Metadata>;
  readonly restore: () => void;
} {
  const scaled = new Set<string>();
  return {
    rewards: {
      computeRewards: (group, options) => given.computeRewards(group, options),
      prepare: (trajectory, options) => given.prepare?.(trajectory, options),
      waitingFor: () => given.waitingFor?.() ?? [],
      scaleWeight(component, factor) {
        scaled.add(component);
        return given.scaleWeight?.(component, factor) ?? 'unknown component';
      },
    },
    restore() {
      for (const component of scaled) given.scaleWeight?.(component, 1);
    },
  };
}
