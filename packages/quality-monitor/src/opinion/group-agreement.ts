import { counted, type ScoredTrajectory } from '@rlp/core';

/** Least responses of a task that can agree, and characters of an answer that are compared. */
const [leastMembers, longestAnswer] = [3, 60];

/** For each response the share of its task's other responses with the same final answer. NaN without enough of them. */
export function agreementInGroups(trajectories: readonly ScoredTrajectory[]): number[] {
  const tasks = trajectories.map(({ trajectory }) => trajectory.task.id);
  const answers = trajectories.map(({ trajectory }, at) =>
    JSON.stringify([tasks[at], finalAnswer(trajectory.response)]),
  );
  const [sizes, times] = [counted(tasks), counted(answers)];
  return answers.map((answer, at) => {
    const size = sizes.get(tasks[at]!)!;
    return size < leastMembers ? Number.NaN : (times.get(answer)! - 1) / (size - 1);
  });
}

/** The last number of a text, or else its last line without case and punctuation. */
function finalAnswer(text: string): string {
  const end = text.slice(-400).trimEnd();
  const numbers = end.replaceAll(',', '').match(/[-.\d]*\d/g);
  const number = numbers?.at(-1);
  if (number !== undefined) return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
  const line = end.slice(end.lastIndexOf('\n') + 1).slice(-longestAnswer);
  return (line.toLowerCase().match(/\p{L}+/gu) ?? []).join(' ');
}
