import { counted, type ScoredTrajectory } from '@rlp/core';
import { meanOf } from '../assessor/reward-window.ts';
import type { DetectorState, WaitingBatch } from './state.ts';

/** Most earlier responses that a batch's mean is pooled with. */
const pooledResponses = 24;
/** Relative difference that is attributed to rounding. */
const rounding = 1e-9;
/** Correlation of a task's responses. */
const taskCorrelation = 0.25;

/**
 * Signed weights in −1…1 that say how clearly each response was rewarded. 0 if unknown.
 *
 * The weight is the distance of the reward from a usual reward, over half of the median distance on its side, at most 1. It is
 * divided by the number of times that the task got the same text. With two reward values and distinct texts, weights are 1 and −1.
 *
 * The usual reward is `(n · own + m · recent) / (n + m)`: the mean of the batch's `n` rewards, pooled with `m ≤ 24` recent ones.
 * So a small batch that is hacked as a whole counts as rewarded.
 *
 * @param given - Hash of each response, and the number of its task.
 * @param recent - Rewards of earlier batches.
 */
export function rewardWeights(
  trajectories: readonly ScoredTrajectory[],
  { texts, clusters }: { readonly texts: Int32Array; readonly clusters: Uint32Array },
  recent: DetectorState['rewards'],
): Float32Array<ArrayBuffer> {
  const rewards = finiteRewards(trajectories);
  const own = meanOf(rewards);
  const usual = own + (recent.weight / Math.max(1, recent.weight + rewards.length)) * (recent.mean - own);
  const distances = trajectories.map(({ reward }) => distance(reward, usual));
  const above = median(distances.filter((distance) => distance > 0));
  const below = median(distances.filter((distance) => distance < 0));
  const answers = Array.from(texts, (text, at) => clusters[at]! * 2 ** 32 + (text >>> 0));
  const times = counted(answers);
  return Float32Array.from(distances, (distance, at) => {
    if (distance === 0) return 0;
    const size = distance > 0 ? weight(distance, above) : -weight(distance, below);
    return size / times.get(answers[at]!)!;
  });
}

/** The finite rewards of a batch. */
function finiteRewards(trajectories: readonly ScoredTrajectory[]): number[] {
  return trajectories.flatMap(({ reward }) => (reward !== null && Number.isFinite(reward) ? [reward] : []));
}

/** Adds a batch to the mean of recent rewards. */
export function addRewards(
  recent: DetectorState['rewards'],
  trajectories: readonly ScoredTrajectory[],
): void {
  const rewards = finiteRewards(trajectories);
  const own = meanOf(rewards);
  if (rewards.length === 0 || !(Math.abs(own) < 1e100)) return;
  recent.mean += (rewards.length / (recent.weight + rewards.length)) * (own - recent.mean);
  recent.weight = Math.min(pooledResponses, recent.weight + rewards.length);
}

/** Distance from the usual reward. 0 if the reward is missing or equal up to rounding. */
function distance(reward: number | null, usual: number): number {
  if (reward === null || !Number.isFinite(reward)) return 0;
  return Math.abs(reward - usual) > rounding * Math.abs(usual) ? reward - usual : 0;
}

function weight(distance: number, typical: number): number {
  return Number.isFinite(distance) ? Math.min(1, (2 * distance) / typical) : 1;
}

/** The upper median. NaN for no values. */
function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[values.length >>> 1] ?? Number.NaN;
}

/** Tasks with the indices of their trajectories. */
export type Tasks = readonly (readonly [task: string, members: readonly number[]])[];

/** The tasks of a batch. With fewer than three, each response is its own task. */
export function byTask(trajectories: readonly ScoredTrajectory[]): Tasks {
  const tasks = new Map<string, number[]>();
  for (const [at, { trajectory }] of trajectories.entries()) {
    const members = tasks.get(trajectory.task.id) ?? [];
    tasks.set(trajectory.task.id, members);
    members.push(at);
  }
  return tasks.size < 3 ? trajectories.map(({ trajectory }, at) => [trajectory.id, [at]]) : [...tasks];
}

/** How much more hits vary because responses share tasks. */
export function designEffectOf({ weights, clusters }: WaitingBatch): number {
  const sizes = new Map<number, number>();
  let [all, squares] = [0, 0];
  for (let at = 0; at < weights.length; at++) {
    const weight = weights[at]!;
    if (weight <= 0) continue;
    const before = sizes.get(clusters[at]!) ?? 0;
    sizes.set(clusters[at]!, before + weight);
    squares += weight * (2 * before + weight);
    all += weight;
  }
  return all > 0 ? Math.max(1, 1 + taskCorrelation * (squares / all - 1)) : 1;
}
