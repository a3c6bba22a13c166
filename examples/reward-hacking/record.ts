import { join } from 'node:path';
import {
  chartFigure,
  type Html,
  html,
  lineChart,
  type Mark,
  renderPage,
  type Series,
  summaryList,
  type ValueRow,
  valueTable,
} from '@rlp/page';
import type { ArmName } from './arm.ts';
import { type ArmRecord, type Told, writeWhole } from './progress.ts';
import { type Story, smoothed, summaryOf } from './story.ts';

/** What was found in the arms that were run, in their order. */
export type ArmRecords = ReadonlyMap<ArmName, ArmRecord>;

/** The summary, by arm. */
export function storyOf(records: ArmRecords): Story {
  return Object.fromEntries([...records].map(([name, record]) => [name, summaryOf(record)]));
}

/** The records of a run, in the order of their arms. */
export function recordsOf({ arms }: Told): ArmRecords {
  return new Map(Object.entries(arms) as [ArmName, ArmRecord][]);
}

/** Writes `told.json` (each arm's whole record), `summary.json` and `report.html`. */
export async function writeRecord(out: string, told: Told): Promise<void> {
  const records = recordsOf(told);
  await writeWhole(join(out, 'told.json'), json(told));
  await writeWhole(join(out, 'summary.json'), json({ seed: told.seed, arms: storyOf(records) }));
  await writeWhole(join(out, 'report.html'), storyPage(records));
}

const named: Readonly<Record<ArmName, string>> = {
  honest: 'honest reward',
  watched: 'flawed, watched',
  saved: 'flawed, monitor intervenes',
};

/** A page that stands alone: held-out accuracy of every arm, with the alarm marked in it. */
export function storyPage(records: ArmRecords): string {
  const story = storyOf(records);
  const { alarmIteration, fellAtIteration } = story.watched ?? story.saved ?? {};
  const marks: Mark[] = [
    ...mark(alarmIteration, 'critical', 'the monitor suspects reward hacking'),
    ...mark(fellAtIteration, 'low', 'accuracy is 10 % below its best'),
  ];
  const names = [...records.keys()].map((name) => named[name]);
  const accuracy = [...records.values()].map(({ heldOut }) => smoothed(heldOut).slice(1));
  const keywords = [...records.values()].map((record) => record.keywords);
  const chart = (title: string, values: readonly (readonly number[])[]) =>
    chartFigure(title, lineChart(title, seriesOf(names, values), marks));
  return renderPage({
    title: 'Is it learning or hacking?',
    lead:
      'A small model learns to add by GRPO. The flawed reward also pays for each "therefore", without a limit. Accuracy: share of ' +
      'held-out sums that come out right, mean of three iterations.',
    body: html`${summaryList(figures(story))}
<section><h2>Curves, by iteration</h2>
<ul class="legend">${names.map((name, index) => html`<li class="series-${index}"><span></span><b>${name}</b></li>`)}</ul>
<div class="charts">${chart('held-out accuracy', accuracy)}${chart('"therefore" per response', keywords)}</div>
<p>${alarmOf(story)}</p></section>
<section><h2>Values</h2>${valueTable('held-out accuracy', rowsOf(names, accuracy), names)}</section>`,
  });
}

function seriesOf(names: readonly string[], values: readonly (readonly number[])[]): Series[] {
  return names.map((name, at) => ({ name, points: values[at]!.map((value, step) => ({ step, value })) }));
}

function mark(step: number | null | undefined, level: Mark['level'], name: string): Mark[] {
  return step === null || step === undefined ? [] : [{ from: step, to: step, level, name }];
}

function figures({ watched, saved, honest }: Story): Record<string, string> {
  return {
    ...(honest && { 'honest reward, end': percent(honest.heldOutEnd) }),
    ...(watched && { 'flawed, end': percent(watched.heldOutEnd) }),
    ...(saved && { 'monitor intervenes, end': percent(saved.heldOutEnd) }),
  };
}

/** When the monitor spoke, and when accuracy fell. */
function alarmOf({ watched, saved }: Story): Html {
  const told = watched ?? saved;
  if (told?.alarmIteration === null || told?.heldOutAtAlarm === null || told === undefined)
    return html`No alarm.`;
  const fall =
    told.fellAtIteration === null
      ? 'accuracy never fell by 10 %'
      : `accuracy lay 10 % below its best from iteration ${told.fellAtIteration} on`;
  return html`Alarm in iteration ${told.alarmIteration} (red), at ${percent(told.heldOutAtAlarm)} held-out accuracy; ${fall} (grey). ${told.alarm ?? ''}`;
}

function rowsOf(names: readonly string[], values: readonly (readonly number[])[]): ValueRow[] {
  return (values[0] ?? []).map((_, step) => ({
    step,
    metrics: Object.fromEntries(names.map((name, at) => [name, values[at]![step] ?? Number.NaN])),
  }));
}

/** As people read it: `42.0 %`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
