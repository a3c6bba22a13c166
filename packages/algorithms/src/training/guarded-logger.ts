import { Failures, type MetricsLogger } from '@rlp/core';

/**
 * A logger whose failures do not end the run, neither errors nor promises that reject. Training goes on, and the metrics are in the
 * reports.
 *
 * @param tell - Receives a sentence about the first failure of each method.
 */
export function guardedLogger(
  logger: MetricsLogger | undefined,
  tell: (message: string) => void,
): MetricsLogger | undefined {
  if (logger === undefined) return undefined;
  const failures = new Failures(tell);
  const attempt = (method: string, work: () => void) => void failures.attempt(`logger.${method}`, work);
  return {
    shows: logger.shows,
    log: (step, metrics) => attempt('log', () => logger.log(step, metrics)),
    note: (step, text) => attempt('note', () => logger.note?.(step, text)),
    ...(logger.samples && {
      samples: (step, rows) => attempt('samples', () => logger.samples?.(step, rows)),
    }),
    finding: (step, finding) => attempt('finding', () => logger.finding?.(step, finding)),
    close: () => logger.close(),
  };
}
