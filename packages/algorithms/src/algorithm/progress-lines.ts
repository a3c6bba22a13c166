import type { Metrics, MetricsLogger } from '@rlp/core';

const columns = [
  ['reward', 'reward/mean'],
  ['KL', 'kl/reference'],
  ['entropy', 'entropy/estimate'],
  ['gradient', 'gradient/norm'],
  ['response tokens', 'response/tokens'],
] as const;

/** Prints what a person reads of a run: one line of numbers per iteration, one for each note and finding that is not shown elsewhere. */
export function linePrinter(
  print: (line: string) => void,
  total: number,
  findings: 'printed' | 'shown elsewhere',
): MetricsLogger {
  const head = (step: number) => `iteration ${step + 1}/${total}`;
  return {
    shows: 'console',
    log: (step, metrics) => print(`${head(step)}: ${numbers(metrics)}`),
    note: (step, text) => print(`${head(step)}, note: ${text}`),
    ...(findings === 'printed' && {
      finding: (step, { severity, rule, message }) =>
        print(`${head(step)}, ${severity} finding ${rule}: ${message}`),
    }),
    close: async () => undefined,
  };
}

function numbers(metrics: Metrics): string {
  const shown = columns.flatMap(([label, metric]) => {
    const value = metrics[metric];
    return value === undefined ? [] : [`${label} ${Number(value.toPrecision(3))}`];
  });
  return metrics['reward/mean'] === undefined ? ['no reward', ...shown].join(', ') : shown.join(', ');
}

/** Two loggers as one. */
export function bothLoggers(first: MetricsLogger, second: MetricsLogger | undefined): MetricsLogger {
  if (second === undefined) return first;
  return {
    // What the second returns is returned, because an asynchronous one may reject.
    log(step, metrics) {
      first.log(step, metrics);
      return second.log(step, metrics);
    },
    note(step, text) {
      first.note?.(step, text);
      return second.note?.(step, text);
    },
    ...(second.samples && { samples: (step, rows) => second.samples?.(step, rows) }),
    finding(step, finding) {
      first.finding?.(step, finding);
      return second.finding?.(step, finding);
    },
    close: () => second.close(),
  };
}
