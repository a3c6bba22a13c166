import type { Finding } from '@rlp/core';
import type { Mark } from '@rlp/page';

/** Least gap in steps between two marks of one rule and severity, and most marks of them on a chart. */
const [leastGap, mostMarks] = [2, 200];

/** Marks the steps with findings. Those of one rule and severity that follow each other closely become one mark. */
export function alertMarks(findings: readonly Finding[]): Mark[] {
  const span = (findings.at(-1)?.iteration ?? 0) - (findings[0]?.iteration ?? 0);
  const gap = Math.max(leastGap, span / mostMarks);
  const marks: (Mark & { to: number })[] = [];
  for (const { rule, severity, iteration } of findings) {
    const last = marks.findLast(({ name, level }) => name === rule && level === severity);
    if (last !== undefined && iteration - last.to <= gap) last.to = Math.max(last.to, iteration);
    else marks.push({ from: iteration, to: iteration, level: severity, name: rule });
  }
  return marks;
}
