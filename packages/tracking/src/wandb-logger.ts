import { ArgumentError, type MetricsLogger } from '@rlp/core';

/** As much of a Weights & Biases run as logging needs; give it yours. */
export interface WandbRun {
  log(data: Readonly<Record<string, number>>, options: { readonly step: number }): unknown;
  finish?(): unknown;
}

/**
 * Logs to a Weights & Biases run. There is no kept client for JavaScript, so the run is injected: whatever has a `log`.
 *
 * @param options.onProblem - Told, once, when the run throws. Default `process.emitWarning`.
 * @throws ArgumentError for a run without `log`.
 */
export function wandbLogger(
  run: WandbRun,
  {
    onProblem = (message: string) => process.emitWarning(message),
  }: { readonly onProblem?: (message: string) => void } = {},
): MetricsLogger {
  if (typeof run?.log !== 'function') {
    throw new ArgumentError(
      'wandbLogger: expected a run with a log function; start the run before the logger',
    );
  }
  let problems = 0;
  const report = (error: unknown) => {
    problems += 1;
    if (problems > 1) return;
    const reason = error instanceof Error ? error.message : String(error);
    onProblem(`wandbLogger: metrics are not logged: ${reason}; this is said once`);
  };
  return {
    log(step, metrics) {
      try {
        Promise.resolve(run.log(metrics, { step })).catch(report);
      } catch (error) {
        report(error);
      }
    },
    async close() {
      try {
        await run.finish?.();
      } catch (error) {
        report(error);
      }
    },
  };
}
