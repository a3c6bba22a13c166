import type { ScoredTrajectory } from '@rlp/core';

/**
 * How clearly each response was rewarded, in −1..1: its reward's distance from the batch's mean, over half of the median distance
 * of those on its side, at most 1; divided by how often its text was given to its task. 0 where that cannot be said.
 *
 * Evidence is weighted by it: what earned a little more than the mean says little, and a policy that says the same each time says
 * it once. Where there are two rewards only it is 1 and −1, texts all different.
 *
 * @param texts - Hashes of the responses.
 */
export function standings(
  trajectories: readonly ScoredTrajectory[],
  texts: readonly number[],
  tasks: Tasks = byTask(trajectories),
): Float32Array {
  const distances = distancesFromMean(trajectories);
  const above = median(distances.filter((distance) => distance > 0));
  const below = median(distances.filter((distance) => distance < 0));
  const times = timesGiven(tasks, texts);
  return Float32Array.from(distances, (distance, at) => {
    if (Number.isNaN(distance) || distance === 0) return 0;
    return (distance > 0 ? weight(distance, above) : -weight(distance, below)) / times[at]!;
  });
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

/** NaN where there is no reward, 0 where all are alike. */
function distancesFromMean(trajectories: readonly ScoredTrajectory[]): number[] {
  const rewards = trajectories.map(({ reward }) =>
    reward !== null && Number.isFinite(reward) ? reward : Number.NaN,
  );
  const scored = rewards.filter((reward) => !Number.isNaN(reward));
  const line = mean(scored);
  const areAlike = scored.every((reward) => reward === scored[0]);
  return rewards.map((reward) => (areAlike ? 0 * reward : reward - line));
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
