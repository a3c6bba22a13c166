import type { Evaluation } from '@rlp/core';
import { plural } from '@rlp/core';
import { writeTextFile } from '@rlp/data/store';
import { type MetricRow, type ReportSample, renderReport } from '@rlp/tracking';
import type { StageName } from '../config/modes.ts';
import type { RunFiles } from '../folder/run-files.ts';
import type { Answered, Measured } from './measure.ts';
import { stages } from './stages/stages.ts';

/** Curves of a report, if the run has them. */
const curves = [
  'evaluation/accuracy',
  'evaluation/reward',
  'reward/mean',
  'reward_quality/suspected_reward_hacking',
  'loss/sft',
  'loss/preference',
  'reward/accuracy',
  'reward/margin',
  'kl/reference',
  'entropy/mean',
  'response/tokens',
  'gradient/norm',
  'learning-rate',
];

/** What a report shows. */
export interface RunReport {
  readonly title: string;
  readonly mode: string;
  readonly seconds: number;
  /** Evaluations on all held-out tasks, in order: `before` training, and after each stage. */
  readonly measured: ReadonlyMap<string, Measured>;
  readonly rows: readonly MetricRow[];
}

/** A share in percent with its interval, `99.0 % (97.5–99.6 %)`, and how many responses do not count in it. */
export function accuracyText({ accuracy, low, high, reward, unscored }: Evaluation): string {
  const percent = (share: number) => (100 * share).toFixed(1);
  const missing = unscoredText(unscored);
  if (accuracy === undefined && reward === undefined)
    return `not measured${missing && `, because ${missing}`}`;
  const interval = low === undefined || high === undefined ? '' : ` (${percent(low)}–${percent(high)} %)`;
  const measured = accuracy === undefined ? rewardText(reward!) : `${percent(accuracy)} %${interval}`;
  return `${measured}${missing && `; ${missing}`}`;
}

/** The mean of a reward that is not a share, with its interval. */
function rewardText({ value, low, high }: NonNullable<Evaluation['reward']>): string {
  const interval =
    low === undefined || high === undefined ? '' : ` (${low.toFixed(3)} to ${high.toFixed(3)})`;
  return `none, because rewards are graded; mean reward ${value.toFixed(3)}${interval}`;
}

/** How many responses count in no number, and why. Empty if all count. */
function unscoredText({ count, causes }: Evaluation['unscored']): string {
  const [cause] = Object.keys(causes);
  if (count === 0 || cause === undefined) return '';
  return `${plural(count, 'response')} got no score: ${cause}`;
}

function accuracyLabel(name: string): string {
  if (name === 'before') return 'accuracy before';
  return name === 'final' ? 'accuracy' : `accuracy after ${stages[name as StageName].label}`;
}

/** Writes `report.html`. */
export async function writeReport(files: RunFiles, report: RunReport): Promise<void> {
  const { title, measured, rows, seconds, mode } = report;
  const [first, ...later] = measured.values();
  const last = later.at(-1) ?? first;
  const meaning =
    last?.record.notes.find((note) => note.startsWith('accuracy is ')) ??
    'accuracy is the share of right responses to held-out tasks';
  const known = new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)));
  const components = [...known].filter((name) => name.startsWith('reward/component/'));
  const page = renderReport({
    title,
    description: `Mode ${mode}. ${meaning[0]!.toUpperCase()}${meaning.slice(1)}, with its 95 % interval.`,
    summary: {
      ...Object.fromEntries(
        [...measured].map(([name, { record }]) => [accuracyLabel(name), accuracyText(record)]),
      ),
      ...(last && { tasks: last.record.tasks.length }),
      seconds: Math.round(seconds),
      iterations: rows.length,
    },
    runs: rows.length === 0 ? [] : [{ name: mode, rows }],
    metrics: [...components, ...curves].filter((name) => known.has(name)),
    samples: samplesOf(later.length > 0 ? first : undefined, last),
  });
  await writeTextFile(files.report, page);
}

function samplesOf(before: Measured | undefined, after: Measured | undefined): ReportSample[] {
  const first = new Map((before?.answers ?? []).map((answer) => [answer.task, answer]));
  const shown = new Map((after?.answers ?? []).map((answer) => [answer.task, answer]));
  return [...shown.values()].slice(0, 12).map((later): ReportSample => {
    const earlier: Answered | undefined = first.get(later.task);
    return {
      prompt: later.prompt,
      before: earlier?.response ?? '',
      after: later.response,
      rewardBefore: earlier?.reward ?? null,
      rewardAfter: later.reward,
      ...(later.answer !== undefined && { reference: later.answer }),
    };
  });
}
