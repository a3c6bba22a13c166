import {
  type ForwardBackwardResult,
  type Metrics,
  plural,
  promptMessages,
  type ScoredTrajectory,
  type Trajectory,
} from '@rlp/core';
import { hasRewardVariance } from '../advantage/group-relative.ts';
import type { Collection } from './collect.ts';
import type { Coefficients } from './experience.ts';
import type { LearnResult } from './learn.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { ScoredGroup } from './protocol.ts';
import { rewardsOf, sampledTokens } from './trajectory-rows.ts';
import type { Updates } from './updates.ts';

/** Rewards, groups and trajectories of one iteration, as metrics and as sentences for a person. */
export function groupMetrics(groups: readonly ScoredGroup[]): { metrics: Metrics; notes: string[] } {
  const scored = groups.flatMap((group) => group.scored);
  const rewards = scored.map(({ reward }) => reward).filter((reward) => reward !== null);
  const compared = groups.filter((group) => group.scored.length > 1);
  const flat = compared.filter((group) => !hasRewardVariance(rewardsOf(group))).length;
  const trajectories = scored.map(({ trajectory }) => trajectory);
  const share = (status: Trajectory['status']) =>
    mean(trajectories.map((trajectory) => (trajectory.status === status ? 1 : 0)));
  const lengths = trajectories.map(sampledTokens);
  return {
    metrics: {
      ...rewardMetrics(rewards),
      ...means(
        'reward/component/',
        scored.map(({ components }) => components),
      ),
      ...means(
        'environment/',
        trajectories.map(({ metrics = {} }) => metrics),
      ),
      'groups/count': groups.length,
      'groups/zero-variance': flat,
      'trajectories/count': trajectories.length,
      'trajectories/unscored': scored.length - rewards.length,
      ...(trajectories.length > 0 && {
        'trajectories/truncated': share('truncated'),
        'trajectories/failed': share('failed'),
        'trajectories/steps': mean(trajectories.map(({ steps }) => steps.length)),
        'response/tokens': mean(lengths),
        'response/tokens-max': lengths.reduce((largest, length) => Math.max(largest, length), 0),
      }),
    },
    notes: [...failureNotes(trajectories), ...toolNotes(trajectories), ...unscoredNote(scored)],
  };
}

/** How an iteration was collected. */
export function collectionMetrics({ rejected, rounds }: Collection): Metrics {
  return {
    ...(rejected !== undefined && { 'groups/rejected': rejected }),
    ...(rounds > 1 && { 'groups/rounds': rounds }),
  };
}

/** What was lost while an iteration was collected. `kept` groups are left to learn from. */
export function collectionNotes(
  { collected, taken, rounds }: Collection,
  kept: number,
  { tasksPerIteration }: ResolvedRlOptions,
): string[] {
  const lost = taken - collected.length;
  const isShort = rounds > 1 && kept < tasksPerIteration;
  return [
    ...(lost > 0
      ? [`${lost} of ${plural(taken, 'group')} ${lost === 1 ? 'was' : 'were'} dropped by the failure policy`]
      : []),
    ...(isShort
      ? [
          `${kept} of ${plural(tasksPerIteration, 'group')} ${kept === 1 ? 'was' : 'were'} worth learning from after ${plural(rounds, 'round')} of collection`,
        ]
      : []),
  ];
}

/** Nothing if nothing was scored. */
function rewardMetrics(rewards: readonly number[]): Metrics {
  if (rewards.length === 0) return {};
  return {
    'reward/mean': mean(rewards),
    'reward/std': deviation(rewards),
    'reward/min': rewards.reduce((least, reward) => Math.min(least, reward)),
    'reward/max': rewards.reduce((largest, reward) => Math.max(largest, reward)),
  };
}

function failureNotes(trajectories: readonly Trajectory[]): string[] {
  const failures = trajectories.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  if (failures.length === 0) return [];
  const { boundary, message } = failures.at(-1)!;
  return [
    `${failures.length} of ${plural(trajectories.length, 'trajectory', 'trajectories')} failed, the last at the ${boundary}: ${message}`,
  ];
}

/** Calls in an iteration below which a tool that never worked is not blamed. */
const fewestCalls = 4;

/** Tools that failed in every call. The policy learns to live with them, so no other figure shows it. */
function toolNotes(trajectories: readonly Trajectory[]): string[] {
  const said = trajectories.flatMap(({ messages, task }) =>
    messages.slice(promptMessages(task.prompt).length).filter(({ role }) => role === 'tool'),
  );
  return [...new Set(said.map(({ name }) => name))].flatMap((tool) => {
    const calls = said.filter(({ name }) => name === tool).map(({ content }) => content);
    if (calls.length < fewestCalls || !calls.every((content) => content.startsWith(failed))) return [];
    return [
      `tool "${tool}": ${calls.length === 1 ? 'the only call' : `all ${calls.length} calls`} failed, the first: ${calls[0]!.slice(failed.length)}`,
    ];
  });
}

/** How tools of `withTools` answer a call that failed. */
const failed = 'Error: ';

/** Trajectories that ran to their end and still got no reward: the reward functions broke, or declined. */
function unscoredNote(scored: readonly ScoredTrajectory[]): string[] {
  const finished = scored.filter(
    ({ trajectory: { status } }) => status === 'completed' || status === 'truncated',
  );
  const unscored = finished.filter(({ reward }) => reward === null);
  if (unscored.length === 0) return [];
  const failure = unscored.flatMap(({ failures = [] }) => failures)[0];
  const why = failure === undefined ? 'the reward was null' : `the first failed: ${failure.message}`;
  return [`${unscored.length} of ${finished.length} finished trajectories got no reward: ${why}`];
}

/** The mean of each number over the rows that have it. */
function means(prefix: string, rows: readonly Readonly<Record<string, number | null>>[]): Metrics {
  const values = new Map<string, number[]>();
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    if (value === null) continue;
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return Object.fromEntries([...values].map(([name, numbers]) => [prefix + name, mean(numbers)]));
}

/** What an iteration's updates did. The losses' own metrics are means over trained tokens of all passes. */
export function learnMetrics(result: LearnResult): Metrics {
  const { policy, critic, referenceKl, rewardKl, entropy, surprise, values, anchors } = result;
  const last = policy.updates.at(-1);
  return {
    'update/count': applied(policy).length,
    ...(policy.skipped > 0 && { 'update/skipped': policy.skipped }),
    ...(surprise !== undefined && { 'entropy/estimate': surprise }),
    'tokens/trained': total(policy, 'trained'),
    'tokens/computed': total(policy, 'total'),
    ...(last && {
      'loss/policy': mean(policy.passes.map(({ loss }) => loss)),
      ...gradientMetrics(policy, 'gradient/norm', 'update/overflowed'),
      'learning-rate': last.learningRate,
      ...lossMetrics(policy.passes, total(policy, 'trained')),
    }),
    ...(critic && criticMetrics(critic)),
    ...(values && {
      'value/mean': values.mean,
      'value/returns': values.returns,
      ...(values.explained !== undefined && { 'value/explained-variance': values.explained }),
    }),
    ...(entropy !== undefined && { 'entropy/mean': entropy }),
    ...(rewardKl !== undefined && { 'kl/reward': rewardKl }),
    ...(referenceKl !== undefined && { 'kl/reference': referenceKl }),
    ...(anchors && { 'anchors/compared': anchors.compared, 'anchors/steps': anchors.steps }),
  };
}

/** Mean norm of the gradients that were applied, and how many were not because they overflowed. */
function gradientMetrics(made: Updates, norm: string, overflowed: string): Metrics {
  const norms = applied(made).map(({ gradientNorm }) => gradientNorm);
  const lost = made.updates.length - norms.length;
  return { ...(norms.length > 0 && { [norm]: mean(norms) }), ...(lost > 0 && { [overflowed]: lost }) };
}

/** Updates that changed the weights. */
function applied({ updates }: Updates) {
  return updates.filter(({ skipped }) => skipped === undefined);
}

function criticMetrics(critic: Updates): Metrics {
  const last = critic.updates.at(-1);
  return {
    'update/critic-count': applied(critic).length,
    ...(last && {
      ...gradientMetrics(critic, 'gradient/critic-norm', 'update/critic-overflowed'),
      'learning-rate/critic': last.learningRate,
      ...lossMetrics(critic.passes, total(critic, 'trained')),
    }),
  };
}

/** The coefficients of an iteration that controllers or a monitor move. */
export function coefficientMetrics(
  { kl, klForm, entropy }: Coefficients,
  { entropyControl }: ResolvedRlOptions,
): Metrics {
  return {
    ...(klForm === 'moving' && kl > 0 && { 'kl/coefficient': kl }),
    ...(entropyControl && { 'entropy/coefficient': entropy }),
  };
}

function total({ passes }: Updates, of: 'trained' | 'total'): number {
  return passes.reduce((sum, { tokens }) => sum + tokens[of], 0);
}

function lossMetrics(passes: readonly ForwardBackwardResult[], trained: number): Metrics {
  const names = trained === 0 ? [] : Object.keys(passes[0]?.metrics ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const weighed = passes.reduce((sum, { metrics, tokens }) => sum + metrics[name]! * tokens.trained, 0);
      return [name, weighed / trained];
    }),
  );
}

/** Of at least one value. */
function mean(values: readonly number[]): number {
  const total = values.reduce((sum, value) => sum + value, 0);
  // Components are not bounded: their sum may overflow where their mean does not.
  if (!Number.isFinite(total)) return values.reduce((sum, value) => sum + value / values.length, 0);
  return total / values.length;
}

/** Population standard deviation. */
function deviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
}
