import type { ScoredTrajectory } from '@rlp/core';

/** Least responses of a task that can agree, and characters of an answer that are compared. */
const [leastMembers, longestAnswer] = [3, 60];

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
  const end = text.slice(-400).trimEnd();
  let last = end.length - 1;
  while (last >= 0 && !isDigit(end.charCodeAt(last))) last -= 1;
  if (last < 0) {
    const line = end.slice(end.lastIndexOf('\n') + 1).slice(-longestAnswer);
    return line
      .toLowerCase()
      .replaceAll(/[^\p{L}]+/gu, ' ')
      .trim();
  }
  let first = last;
  while (first > 0 && isPartOfNumber(end.charCodeAt(first - 1))) first -= 1;
  const number = end.slice(first, last + 1).replaceAll(',', '');
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** A digit, a comma, a dot or a minus sign. */
function isPartOfNumber(code: number): boolean {
  return isDigit(code) || code === 44 || code === 46 || code === 45;
}
