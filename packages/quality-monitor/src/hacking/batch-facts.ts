import type { ScoredTrajectory } from '@rlp/core';
import type { RunningMoments } from './running-moments.ts';

/** Responses of late that a batch's mean is pooled with, at most. */
export const pooledResponses = 24;
/** Part of the mean that a reward differs from it by at least, if not by rounding. */
const rounding = 1e-9;

/**
 * How clearly each response was rewarded, in −1..1: its reward's distance from what is usual, over half of the median distance
 * of those on its side, at most 1; divided by how often its text was given to its task. 0 where that cannot be said.
 *
 * Usual is the mean of the batch's `n` rewards and of the `m ≤ 24` that `lately` stands for: `(n · own + m · lately) / (n + m)`. So a small
 * batch that was paid well as a whole counts as rewarded as a whole, while a large one is compared with itself.
 *
 * Evidence is weighted by it: what earned a little more than usual says little, and a policy that says the same each time says
 * it once. Where there are two rewards only it is 1 and −1, texts all different.
 *
 * @param texts - Hashes of the responses.
 * @param lately - Rewards of the batches before.
 */
export function standings(
  trajectories: readonly ScoredTrajectory[],
  texts: readonly number[],
  tasks: Tasks,
  lately: Pick<RunningMoments, 'mean' | 'weight'>,
): Float32Array {
  const rewards = finiteRewards(trajectories);
  const pooled = Math.min(pooledResponses, lately.weight);
  const own = mean(rewards);
  const usual = own + (pooled / Math.max(1, pooled + rewards.length)) * (lately.mean - own);
  const distances = trajectories.map(({ reward }) => distance(reward, usual));
  const above = median(distances.filter((distance) => distance > 0));
  const below = median(distances.filter((distance) => distance < 0));
  const times = timesGiven(tasks, texts);
  return Float32Array.from(distances, (distance, at) => {
    if (distance === 0) return 0;
    return (distance > 0 ? weight(distance, above) : -weight(distance, below)) / times[at]!;
  });
}

/** A batch's rewards without those that are missing or not finite. */
export function finiteRewards(trajectories: readonly ScoredTrajectory[]): number[] {
  return trajectories.flatMap(({ reward }) => (reward !== null && Number.isFinite(reward) ? [reward] : []));
}

/** How often each text was given to its task. */
function timesGiven(tasks: Tasks, texts: readonly number[]): number[] {
  const times = texts.map(() => 1);
  for (const [, members] of tasks) {
    if (members.length === 1) continue;
    const given = new Map<number, number>();
    for (const at of members) given.set(texts[at]!, (given.get(texts[at]!) ?? 0) + 1);
    for (const at of members) times[at] = given.get(texts[at]!)!;
  }
  return times;
}

/** 0 where there is no reward, or nothing but rounding between the two. */
function distance(reward: number | null, usual: number): number {
  if (reward === null || !Number.isFinite(reward)) return 0;
  return Math.abs(reward - usual) > rounding * Math.abs(usual) ? reward - usual : 0;
}

function weight(distance: number, typical: number): number {
  return Number.isFinite(distance) ? Math.min(1, (2 * distance) / typical) : 1;
}

/** The upper one of two in the middle; NaN of nothing. */
function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[values.length >>> 1] ?? Number.NaN;
}

/** Tasks with indices of their trajectories. */
export type Tasks = readonly (readonly [task: string, members: readonly number[]])[];

/** The tasks of a batch. Where there are hardly any, each response stands for itself. */
export function byTask(trajectories: readonly ScoredTrajectory[]): Tasks {
  const tasks = new Map<string, number[]>();
  for (const [at, { trajectory }] of trajectories.entries()) {
    const members = tasks.get(trajectory.task.id);
    if (members === undefined) tasks.set(trajectory.task.id, [at]);
    else members.push(at);
  }
  return tasks.size < 3 ? trajectories.map(({ trajectory }, at) => [trajectory.id, [at]]) : [...tasks];
}

/** Mean; 0 of nothing. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]! / values.length;
  return sum;
}

/** Pearson's, over the pairs of finite numbers; 0 where it is not defined. */
export function correlation(left: readonly number[], right: readonly number[]): number {
  const [finite, other]: [number[], number[]] = [[], []];
  for (let at = 0; at < left.length; at++) {
    if (!(Math.abs(left[at]!) < 1e100)) continue;
    finite.push(left[at]!);
    other.push(right[at]!);
  }
  const [a, b] = [mean(finite), mean(other)];
  let [both, ofLeft, ofRight] = [0, 0, 0];
  for (let at = 0; at < finite.length; at++) {
    const [x, y] = [finite[at]! - a, other[at]! - b];
    both += x * y;
    ofLeft += x ** 2;
    ofRight += y ** 2;
  }
  const scale = Math.sqrt(ofLeft) * Math.sqrt(ofRight);
  return scale > 0 && Number.isFinite(scale) ? both / scale : 0;
}
