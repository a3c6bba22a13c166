import { causeOf, type ScoredTrajectory, type UnscoredResponses, withPlace } from '@rlp/core';
import type { ScoredTask } from './scored-task.ts';

/** Longest message that is kept. */
const longestMessage = 200;

/**
 * Counts responses without a score by cause. Groups that were never begun count too.
 *
 * @param wanted - Responses that were asked for.
 */
export function unscoredOf(groups: readonly ScoredTask[], wanted: number): UnscoredResponses {
  const all = groups.flatMap(({ trajectories }) => trajectories);
  const causes = new Map<string, number>();
  const add = (cause: string, count = 1) => causes.set(cause, (causes.get(cause) ?? 0) + count);
  const without = all.filter(({ reward }) => reward === null);
  for (const scored of without) add(reasonOf(scored));
  const missing = wanted - all.length;
  if (missing > 0) add('not begun', missing);
  return { count: without.length + missing, causes: Object.fromEntries(causes) };
}

function reasonOf({ trajectory, failures }: ScoredTrajectory): string {
  const { status, failure } = trajectory;
  if (failure !== undefined) return `${failure.boundary} failed: ${short(failure.message)}`;
  if (status === 'aborted' || status === 'pending') return 'stopped before its end';
  const [first] = failures ?? [];
  if (first !== undefined) {
    const place = `reward "${first.source}"`;
    const said = first.message.startsWith(place)
      ? first.message
      : `${place} ${first.cause}: ${first.message}`;
    return withPlace(short(said), causeOf(first));
  }
  return 'the reward returned null';
}

function short(message: string): string {
  const line = message.split('\n', 1)[0]!;
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line;
}
