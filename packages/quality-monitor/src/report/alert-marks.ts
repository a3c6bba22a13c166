import type { Finding } from '@rlp/core';
import type { Mark } from '@rlp/page';

/** Least gap in steps between two marks of one rule and severity, and most marks of them on a chart. */
const [leastGap, mostMarks] = [2, 200];

/** Marks the steps with findings. Those of one rule and severity that follow each other closely become one mark. */
export function alertMarks(findings: readonly Finding[]): Mark[] {
  const span = (findings.at(-1)?.iteration ?? 0) - (findings[0]?.iteration ?? 0);
  const gap = Math.max(leastGap, span / mostMarks);
  const marks = new Map<string, Mark[]>();
  for (const { rule, severity, iteration } of findings) {
    const key = `${rule} ${severity}`;
    const before = marks.get(key) ?? [];
    const last = before.at(-1);
    if (last !== undefined && iteration - last.to <= gap)
      before[before.length - 1] = { ...last, to: Math.max(last.to, iteration) };
    else before.push({ from: iteration, to: iteration, level: severity, name: rule });
    marks.set(key, before);
  }
  return [...marks.values()].flat();
}
