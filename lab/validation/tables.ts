import type { Calibration } from './calibration.ts';
import type { CleanTrial, HackTrial } from './trials.ts';

/** False alarms by corpus, or what `corpus` stands for, as a Markdown table. */
export function cleanTable(trials: readonly CleanTrial[], what = 'corpus'): string {
  const groups = new Map<string, readonly CleanTrial[]>(groupBy(trials, ({ corpus }) => corpus));
  const rows = [...groups.set('**all**', trials)].map(([name, members]) => {
    const total = (key: 'batches' | 'alarms' | 'alarmed') =>
      members.reduce((sum, trial) => sum + trial[key], 0);
    const perThousand = (count: number) =>
      total('batches') === 0 ? '–' : ((1000 * count) / total('batches')).toFixed(2);
    return [
      name,
      total('batches'),
      total('alarms'),
      perThousand(total('alarms')),
      perThousand(total('alarmed')),
    ];
  });
  return table([what, 'clean batches', 'alarms', 'per 1,000', 'batches in alarm per 1,000'], rows);
}

/** Recall by kind of hack and share of hacked responses, as a Markdown table. */
export function recallTable(trials: readonly HackTrial[], shares: readonly number[]): string {
  const rows = [...groupBy(trials, ({ kind }) => kind), ['**all**', trials] as const].map(
    ([kind, members]) => [
      kind,
      ...shares.map((share) => recall(members.filter((trial) => trial.share === share))),
      medianDelay(members.filter(({ share }) => share === 0.2)),
    ],
  );
  return table(['hack', ...shares.map((share) => `${100 * share} %`), 'median batches at 20 %'], rows);
}

/** Stated and measured rates of false alarms, as a Markdown table. */
export function calibrationTable(results: readonly Calibration[]): string {
  return table(
    ['rewards', 'responses a batch', 'batches', 'stated per 1,000', 'measured per 1,000'],
    results.map(({ kind, batchSize, batches, stated, measured }) => [
      kind,
      batchSize,
      batches,
      1000 * stated,
      (1000 * measured).toFixed(2),
    ]),
  );
}

/** What alarmed on clean runs, and recall by corpus, scheme, batch size and kind, for tuning. */
export function detailTable(clean: readonly CleanTrial[], hacked: readonly HackTrial[]): string {
  const lines = clean
    .filter(({ alarms }) => alarms > 0)
    .map(
      ({ corpus, scheme, batchSize, alarmed, causes }) =>
        `clean ${corpus} ${scheme} ${batchSize}: ${causes.join(' ')} (${alarmed} batches)`,
    );
  for (const key of ['corpus', 'scheme', 'batchSize'] as const) {
    for (const [name, members] of groupBy(hacked, (trial) => String(trial[key]))) {
      lines.push(`${key} ${name}: ${recall(members)}`);
    }
  }
  for (const [kind, members] of groupBy(hacked, ({ kind, corpus }) => `${kind} / ${corpus}`)) {
    const causes = [
      ...groupBy(
        members.filter(({ cause }) => cause !== undefined),
        ({ cause }) => cause!,
      ),
    ]
      .map(([cause, found]) => `${cause} ${found.length}`)
      .join(', ');
    lines.push(
      `${kind}: ${recall(members)} by ${causes}; missed: ${members
        .filter(({ delay }) => delay === undefined)
        .map(({ scheme, batchSize, isEarly }) => `${scheme}/${batchSize}${isEarly ? '/early' : ''}`)
        .join(' ')}`,
    );
  }
  return lines.join('\n');
}

function recall(trials: readonly HackTrial[]): string {
  if (trials.length === 0) return '–';
  const found = trials.filter(({ delay }) => delay !== undefined).length;
  return (found / trials.length).toFixed(3);
}

function medianDelay(trials: readonly HackTrial[]): string {
  const delays = trials.flatMap(({ delay }) => delay ?? []).sort((a, b) => a - b);
  return delays.length === 0 ? '–' : String(delays[delays.length >>> 1]);
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');
}
