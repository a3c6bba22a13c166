import type { Mark } from '@rlp/page';
import type { AlertRecord } from '../monitor/sink.ts';

/** Marks of the steps that alerts were raised at; those of one rule that follow each other closely become one. */
export function alertMarks(alerts: readonly AlertRecord[]): Mark[] {
  const marks = new Map<string, Mark[]>();
  for (const { pathologyType, severity, step } of alerts) {
    const key = `${pathologyType} ${severity}`;
    const before = marks.get(key) ?? [];
    const last = before.at(-1);
    if (last !== undefined && step - last.to <= gap)
      before[before.length - 1] = { ...last, to: Math.max(last.to, step) };
    else before.push({ from: step, to: step, level: severity, name: pathologyType });
    marks.set(key, before);
  }
  return [...marks.values()].flat();
}

/** Steps without an alert that two marks may have between them and still be drawn as one. */
const gap = 2;
