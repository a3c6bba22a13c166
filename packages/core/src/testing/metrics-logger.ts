import type { LoggedSample, LogRow, MetricsLogger } from '../logger.ts';
import type { Finding } from '../monitor.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface MetricsLoggerSubject {
  /** A new logger with a new, empty destination. */
  readonly create: () => MetricsLogger;
  /**
   * What the destination of the logger created last holds now, in the order of the calls. Omit if it cannot be read back.
   * Rows of methods that the logger does not have are not expected.
   */
  readonly read?: () => Promise<readonly LogRow[]>;
}

const sample: LoggedSample = {
  task: 'sum-1',
  prompt: '1 + 1 =',
  response: 'two,\n"2" <b>',
  reward: 0.5,
  components: { accuracy: 1, format: null },
};

const finding: Finding = {
  rule: 'variance_collapse',
  severity: 'high',
  message: 'the variance of the rewards fell to 0.01',
  evidence: { variance: 0.01 },
  iteration: 1,
};

/**
 * Contract of {@link MetricsLogger}. Run it on every implementation.
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

    it('takes words, samples and findings without throwing', async () => {
      const logger = create();
      tell(logger, 0);
      logger.samples?.(1, [{ ...sample, prompt: '', response: '', reward: null, components: {} }]);
      logger.samples?.(1, []);
      logger.note?.(1, '');
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
      expect(() => tell(logger, 0)).not.toThrow();
    });

    it.skipIf(read === undefined)('holds everything logged, in order, once closed', async () => {
      const logger = create();
      const rows: LogRow[] = [0, 1, 5].map((step) => ({
        step,
        metrics: { 'reward/mean': step / 3, 'kl/mean': 1 - step },
      }));
      for (const { step, metrics } of rows as { step: number; metrics: Record<string, number> }[]) {
        logger.log(step, metrics);
      }
      rows.push(...tell(logger, 6));
      await logger.close();
      expect(await read!()).toEqual(rows);
    });
  });
}

/** Calls every optional method that the logger has. Gives the rows. */
function tell(logger: MetricsLogger, step: number): LogRow[] {
  logger.note?.(step, '6 of 8 groups had no reward variance');
  logger.samples?.(step, [sample]);
  logger.finding?.(step, finding);
  return [
    ...(logger.note ? [{ step, note: '6 of 8 groups had no reward variance' }] : []),
    ...(logger.samples ? [{ step, samples: [sample] }] : []),
    ...(logger.finding ? [{ step, finding }] : []),
  ];
}
