import type { MetricsLogger } from '@rlp/core';

/** Logs to several places. One that throws, against its contract, does not keep the others from getting their row. */
export function compositeLogger(...loggers: readonly MetricsLogger[]): MetricsLogger {
  return {
    log(step, metrics) {
      for (const logger of loggers) {
        try {
          logger.log(step, metrics);
        } catch {
          // A logger never throws into the loop; the one at fault has had its chance to report.
        }
      }
    },
    async close() {
      const results = await Promise.allSettled(loggers.map(async (logger) => logger.close()));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}
