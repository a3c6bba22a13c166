import { type Measure, requireArguments } from '@rlp/core';
import { twoSidedQuantile } from './distributions.ts';

/** Scores of the responses to one task. Not empty. */
export type TaskScores = readonly number[];

/** Mean of at least one value. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Wilson's score interval of a share `p` of `n` independent trials:
 *
 *     (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
 *
 * It stays within 0 and 1, and has a width if all trials agree, as the normal interval has not.
 *
 * @see Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953
 */
export function wilsonInterval(share: number, trials: number, z: number): readonly [number, number] {
  requireArguments('wilsonInterval', { share: 'number', trials: 'number', z: 'number' }, share, trials, z);
  const shrink = 1 + z ** 2 / trials;
  const center = (share + z ** 2 / (2 * trials)) / shrink;
  const half = (z / shrink) * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2));
  return [share === 0 ? 0 : Math.max(0, center - half), share === 1 ? 1 : Math.min(1, center + half)];
}

/**
 * Mean over tasks of numbers between 0 and 1, with an interval for shares.
 *
 * With one response per task this is Wilson's interval. Responses to one task are not independent, because tasks differ in
 * difficulty. With several per task, the spread of the means of tasks gives the standard error `s`, and Wilson's interval is
 * computed with `n = p(1 − p)/s²` trials and Student's quantile. `n` is never more than the responses. If all scores are 0, or all 1, it is
 * the number of tasks.
 *
 * @param responses - How many the scores were computed from. Default: one per score.
 *
 * @see Dean & Pagano 2015, https://doi.org/10.1093/jssam/smv024 (intervals for shares of clustered samples)
 */
export function shareOf(
  scores: readonly TaskScores[],
  confidence: number,
  responses = scores.reduce((sum, { length }) => sum + length, 0),
): Measure | undefined {
  const tasks = scores.length;
  if (tasks === 0) return undefined;
  const means = scores.map(meanOf);
  const value = Math.min(1, meanOf(means));
  if (responses === tasks && means.every((mean) => mean === 0 || mean === 1)) {
    const [low, high] = wilsonInterval(value, tasks, twoSidedQuantile(confidence, Infinity));
    return { value, low, high, interval: 'wilson', tasks, responses };
  }
  if (tasks === 1) return { value, interval: 'wilson-clustered', tasks, responses };
  const variance = squaresAround(means, value) / (tasks * (tasks - 1));
  const trials = value === 0 || value === 1 ? tasks : Math.min(responses, (value * (1 - value)) / variance);
  const [low, high] = wilsonInterval(value, trials, twoSidedQuantile(confidence, tasks - 1));
  return { value, low, high, interval: 'wilson-clustered', tasks, responses };
}

/**
 * Share of parts of tasks, such as instructions: tasks count as much as they have parts. The standard error is that of a ratio of means over
 * tasks.
 */
export function shareOfParts(
  tasks: readonly { readonly scores: TaskScores; readonly weight: number }[],
  confidence: number,
): Measure | undefined {
  const count = tasks.length;
  if (count === 0) return undefined;
  const total = tasks.reduce((sum, { weight }) => sum + weight, 0);
  const rows = tasks.map(({ scores, weight }) => ({ mean: meanOf(scores), weight }));
  const value = Math.min(1, rows.reduce((sum, { mean, weight }) => sum + mean * weight, 0) / total);
  const responses = tasks.reduce((sum, { scores }) => sum + scores.length, 0);
  const measure: Measure = { value, interval: 'wilson-clustered', tasks: count, responses };
  if (count === 1) return measure;
  const squares = rows.reduce((sum, { mean, weight }) => sum + (weight * (mean - value)) ** 2, 0);
  const variance = (squares * count) / (count - 1) / total ** 2;
  const trials =
    variance === 0 ? count : Math.min(total * (responses / count), (value * (1 - value)) / variance);
  const [low, high] = wilsonInterval(value, trials, twoSidedQuantile(confidence, count - 1));
  return { ...measure, low, high };
}

/** Mean over tasks of any numbers, with Student's interval over the means of tasks. Two tasks are needed for one. */
export function meanOfTasks(scores: readonly TaskScores[], confidence: number): Measure | undefined {
  const tasks = scores.length;
  if (tasks === 0) return undefined;
  const means = scores.map(meanOf);
  const value = meanOf(means);
  const responses = scores.reduce((sum, { length }) => sum + length, 0);
  const measure: Measure = { value, interval: 't', tasks, responses };
  if (tasks === 1) return measure;
  const half = twoSidedQuantile(confidence, tasks - 1) * standardError(means);
  return { ...measure, low: value - half, high: value + half };
}

/** A share if all scores are 0 or 1, else a mean. */
export function measureOf(scores: readonly TaskScores[], confidence: number): Measure | undefined {
  const isShare = scores.every((task) => task.every((score) => score === 0 || score === 1));
  return (isShare ? shareOf : meanOfTasks)(scores, confidence);
}

/** Standard error of a mean. */
function standardError(values: readonly number[]): number {
  return Math.sqrt(squaresAround(values, meanOf(values)) / ((values.length - 1) * values.length));
}

function squaresAround(values: readonly number[], center: number): number {
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0);
}
