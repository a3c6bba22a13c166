import type { Metrics } from '@rlp/core';
import type { RlReport } from '../loop/protocol.ts';

const columns = [
  ['reward', 'reward/mean'],
  ['KL', 'kl/reference'],
  ['entropy', 'entropy/estimate'],
  ['gradient', 'gradient/norm'],
  ['response tokens', 'response/tokens'],
] as const;

/** What a person reads of an iteration: one line of numbers, one for each note and finding. */
export function progressLines({ iteration, metrics, notes, findings }: RlReport, total: number): string[] {
  const head = `iteration ${iteration + 1}/${total}`;
  return [
    `${head}: ${numbers(metrics)}`,
    ...notes.map((note) => `${head}, note: ${note}`),
    ...findings.map(({ severity, rule, message }) => `${head}, ${severity} finding ${rule}: ${message}`),
  ];
}

function numbers(metrics: Metrics): string {
  const shown = columns.flatMap(([label, metric]) => {
    const value = metrics[metric];
    return value === undefined ? [] : [`${label} ${Number(value.toPrecision(3))}`];
  });
  return metrics['reward/mean'] === undefined ? ['no reward', ...shown].join(', ') : shown.join(', ');
}
