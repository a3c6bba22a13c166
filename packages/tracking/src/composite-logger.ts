import { ArgumentError, described, Failures, type MetricsLogger } from '@rlp/core';

/**
 * Logs to several loggers. A logger that throws does not stop the others. A process warning reports the first error, and the
 * count when the logger closes.
 */
export function compositeLogger(...loggers: readonly MetricsLogger[]): MetricsLogger {
  for (const logger of loggers) {
    if (typeof logger?.log === 'function') continue;
    throw new ArgumentError(
      `compositeLogger: expected loggers, got ${described(logger)}; write compositeLogger(first, second)`,
    );
  }
  const shown = loggers.map(({ shows }) => shows);
  const failures = new Failures((message) => process.emitWarning(message));
  const each = (call: (logger: MetricsLogger) => void): void => {
    for (const [at, logger] of loggers.entries()) {
      failures.attempt(`compositeLogger: logger ${at} threw`, () => call(logger));
    }
  };
  return {
    shows: shown.includes('console') ? 'console' : shown.find((shows) => shows !== undefined),
    log: (step, metrics) => each((logger) => logger.log(step, metrics)),
    note: (step, text) => each((logger) => logger.note?.(step, text)),
    samples: (step, rows) => each((logger) => logger.samples?.(step, rows)),
    finding: (step, finding) => each((logger) => logger.finding?.(step, finding)),
    async close() {
      const results = await Promise.allSettled(loggers.map(async (logger) => logger.close()));
      failures.conclude();
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}
