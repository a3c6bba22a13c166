import type { ScoredTrajectory } from '@rlp/core';

/** Least responses of a task that can agree. */
const leastMembers = 3;

/** For each response the share of its task's other responses with the same final answer. NaN without enough of them. */
export function agreementInGroups(trajectories: readonly ScoredTrajectory[]): number[] {
  const groups = new Map<string, Map<string, number>>();
  const sizes = new Map<string, number>();
  const answers = trajectories.map(({ trajectory }) => finalAnswer(trajectory.response));
  for (const [at, { trajectory }] of trajectories.entries()) {
    const task = trajectory.task.id;
    const counts = groups.get(task) ?? new Map<string, number>();
    groups.set(task, counts);
    counts.set(answers[at]!, (counts.get(answers[at]!) ?? 0) + 1);
    sizes.set(task, (sizes.get(task) ?? 0) + 1);
  }
  return trajectories.map(({ trajectory }, at) => {
    const { id } = trajectory.task;
    const size = sizes.get(id)!;
    if (size < leastMembers) return Number.NaN;
    return (groups.get(id)!.get(answers[at]!)! - 1) / (size - 1);
  });
}

/** The last number of a text, or else its last line without case and punctuation. */
function finalAnswer(text: string): string {
  const end = text.slice(-400);
  const number = end.match(/-?\d[\d,]*(?:\.\d+)?/g)?.at(-1);
  if (number !== undefined)
    return number
      .replaceAll(',', '')
      .replace(/(\.\d*?)0+$/, '$1')
      .replace(/\.$/, '');
  const line = end.trimEnd().split('\n').at(-1) ?? '';
  return line
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim();
}
