import type { RunView } from '../../src/run-page/view.ts';
import { counted } from '../numbers.ts';

/** Runs that are drawn in one colour: one run, or the seeds of one configuration. */
export interface DrawnRun {
  readonly name: string;
  readonly runs: readonly RunView[];
  /** Place among the colours of the page, and a dash if there are more curves than colours. */
  readonly colour: number;
  readonly dash: number;
}

const colours = 6;

/** Each run for itself, or runs that differ only in their seeds together. */
export function drawnRuns(runs: readonly RunView[], together: boolean): readonly DrawnRun[] {
  const groups = new Map<string, RunView[]>();
  for (const run of runs) {
    const isAlone = !together || Object.keys(run.configuration).length === 0;
    const key = isAlone ? run.name : JSON.stringify([run.mode, Object.entries(run.configuration).sort()]);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].map((runs, at) => ({
    name: nameOf(runs),
    runs,
    colour: at % colours,
    dash: Math.floor(at / colours),
  }));
}

function nameOf(runs: readonly RunView[]): string {
  const [first, ...others] = runs;
  return others.length === 0 ? first!.name : `${first!.name} and ${counted(others.length, 'more seed')}`;
}
