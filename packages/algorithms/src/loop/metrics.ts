import type { ForwardBackwardResult, Metrics, ScoredTrajectory, Trajectory } from '@rlp/core';
import { hasRewardVariance } from '../advantage/group-relative.ts';
import { rewardsOf } from './experience.ts';
import type { LearnResult } from './learn.ts';
import type { ScoredGroup } from './protocol.ts';

/** Rewards, groups and trajectories of one iteration, as metrics and as sentences for a person. */
export function groupMetrics(groups: readonly ScoredGroup[]): { metrics: Metrics; notes: string[] } {
  const scored = groups.flatMap((group) => group.scored);
  const rewards = scored.map(({ reward }) => reward).filter((reward) => reward !== null);
  const flat = groups.filter((group) => !hasRewardVariance(rewardsOf(group))).length;
  const trajectories = scored.map(({ trajectory }) => trajectory);
  const share = (status: Trajectory['status']) =>
    mean(trajectories.map((trajectory) => (trajectory.status === status ? 1 : 0)));
  const lengths = trajectories.map(({ steps }) => steps.reduce((sum, { tokens }) => sum + tokens.length, 0));
  return {
    metrics: {
      'reward/mean': mean(rewards),
      'reward/std': deviation(rewards),
      ...componentMeans(groups),
      'groups/count': groups.length,
      'groups/zero-variance': flat,
      'trajectories/count': trajectories.length,
      'trajectories/unscored': scored.length - rewards.length,
      'trajectories/truncated': share('truncated'),
      'trajectories/failed': share('failed'),
      'trajectories/steps': mean(trajectories.map(({ steps }) => steps.length)),
      'response/tokens': mean(lengths),
      'response/tokens-max': lengths.reduce((largest, length) => Math.max(largest, length), 0),
    },
    notes: [...varianceNote(flat, groups.length), ...failureNotes(trajectories), ...unscoredNote(scored)],
  };
}

function varianceNote(flat: number, count: number): string[] {
  return flat === 0 ? [] : [`${flat} of ${count} groups had no reward variance`];
}

function failureNotes(trajectories: readonly Trajectory[]): string[] {
  const failures = trajectories.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  if (failures.length === 0) return [];
  const { boundary, message } = failures.at(-1)!;
  return [
    `${failures.length} of ${trajectories.length} trajectories failed, the last at the ${boundary}: ${message}`,
  ];
}

/** Trajectories that ran to their end and still got no reward: the reward functions broke, or declined. */
function unscoredNote(scored: readonly ScoredTrajectory[]): string[] {
  const finished = scored.filter(
    ({ trajectory: { status } }) => status === 'completed' || status === 'truncated',
  );
  const unscored = finished.filter(({ reward }) => reward === null).length;
  return unscored === 0
    ? []
    : [
        `${unscored} of ${finished.length} finished trajectories got no reward: see the statistics of the reward functions`,
      ];
}

function componentMeans(groups: readonly ScoredGroup[]): Metrics {
  const values = new Map<string, number[]>();
  for (const { components } of groups.flatMap(({ scored }) => scored)) {
    for (const [name, value] of Object.entries(components)) {
      if (value !== null) values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return Object.fromEntries(
    [...values].map(([name, numbers]) => [`reward/component/${name}`, mean(numbers)]),
  );
}

/** What an iteration's updates did. The loss's own metrics are means over trained tokens of all passes. */
export function learnMetrics({ passes, updates, referenceKl, entropy, surprise }: LearnResult): Metrics {
  const last = updates.at(-1);
  const trained = passes.reduce((sum, { tokens }) => sum + tokens.trained, 0);
  return {
    'update/count': updates.length,
    'entropy/estimate': surprise,
    'tokens/trained': trained,
    'tokens/computed': passes.reduce((sum, { tokens }) => sum + tokens.total, 0),
    ...(last && {
      'loss/policy': mean(passes.map(({ loss }) => loss)),
      'gradient/norm': mean(updates.map(({ gradientNorm }) => gradientNorm)),
      'learning-rate': last.learningRate,
      ...lossMetrics(passes, trained),
    }),
    ...(entropy !== undefined && { 'entropy/mean': entropy }),
    ...(referenceKl !== undefined && { 'kl/reference': referenceKl }),
  };
}

function lossMetrics(passes: readonly ForwardBackwardResult[], trained: number): Metrics {
  const names = Object.keys(passes[0]?.metrics ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const total = passes.reduce((sum, { metrics, tokens }) => sum + metrics[name]! * tokens.trained, 0);
      return [name, trained === 0 ? 0 : total / trained];
    }),
  );
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Population standard deviation. */
function deviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
}
