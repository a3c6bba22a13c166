import { describe, expect, it } from 'vitest';
import type { MetricsLogger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';

/** What the suite needs from an implementation. */
export interface MetricsLoggerSubject {
  /** A new logger with a new, empty destination. */
  readonly create: () => MetricsLogger;
  /** What the destination of the logger created last holds now; omit where it cannot be read back. */
  readonly read?: () => Promise<readonly { readonly step: number; readonly metrics: Metrics }[]>;
}

/**
 * Contract of {@link MetricsLogger}: run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeMetricsLogger(name: string, { create, read }: MetricsLoggerSubject): void {
  describe(`${name} is a MetricsLogger`, () => {
    it('takes any numbers without throwing', async () => {
      const logger = create();
      logger.log(0, {});
      logger.log(1, { 'reward/mean': Number.NaN, 'kl/reference': Number.POSITIVE_INFINITY });
      logger.log(2, { 'reward/mean': -1e300 });
      await logger.close();
    });

    it('closes twice, and empty', async () => {
      const logger = create();
      await logger.close();
      await logger.close();
    });

    it('does not throw into a loop that logs after closing', async () => {
      const logger = create();
      await logger.close();
      expect(() => logger.log(0, { 'reward/mean': 1 })).not.toThrow();
    });

    it.skipIf(read === undefined)('holds everything logged, in order, once closed', async () => {
      const logger = create();
      const rows = [0, 1, 5].map((step) => ({
        step,
        metrics: { 'reward/mean': step / 3, 'kl/mean': 1 - step },
      }));
      for (const { step, metrics } of rows) logger.log(step, metrics);
      await logger.close();
      expect(await read!()).toEqual(rows);
    });
  });
}
