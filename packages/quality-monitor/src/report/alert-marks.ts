import type { Mark } from '@rlp/page';
import type { AlertRecord } from '../monitor/sink.ts';

/** Steps from one alert to the next up to which they are drawn as one mark, at least; marks of one rule and severity. */
const [leastGap, mostMarks] = [2, 200];

/**
 * Marks of the steps that alerts were raised at; those of one rule that follow each other closely become one, as many as a chart
 * can tell apart at most.
 */
export function alertMarks(alerts: readonly AlertRecord[]): Mark[] {
  const span = (alerts.at(-1)?.step ?? 0) - (alerts[0]?.step ?? 0);
  const gap = Math.max(leastGap, span / mostMarks);
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
