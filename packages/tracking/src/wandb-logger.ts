import { ArgumentError, type LoggedSample, type MetricsLogger } from '@rlp/core';
import { Problems } from './problems.ts';
import { sampleColumns } from './sample-columns.ts';

/** The part of a Weights & Biases run that logging needs. */
export interface WandbRun {
  log(data: Readonly<Record<string, unknown>>, options: { readonly step: number }): unknown;
  /** Gets findings, and their severity as a level. */
  alert?(alert: {
    readonly title: string;
    readonly text: string;
    readonly level: 'INFO' | 'WARN' | 'ERROR';
  }): unknown;
  finish?(): unknown;
}

/** Options of {@link wandbLogger}. */
export interface WandbLoggerOptions {
  /** Makes a table of your client, such as `new wandb.Table(…)`. By default an object with `columns` and `data`. */
  readonly table?:
    | ((columns: readonly string[], data: readonly (readonly (string | number | null)[])[]) => unknown)
    | undefined;
  /** Called once when the run throws. Default `process.emitWarning`. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

const levels = { low: 'INFO', medium: 'WARN', high: 'ERROR', critical: 'ERROR' } as const;

/**
 * Logs to a Weights & Biases run. JavaScript has no maintained client, so you pass the run. Any object with a `log` will do.
 *
 * Metrics keep their names. Notes are logged as `notes`, samples as the table `samples`, findings as `findings` and, if the
 * run has `alert`, as alerts.
 *
 * @throws ArgumentError for a run without `log`.
 */
export function wandbLogger(
  run: WandbRun,
  {
    table = (columns, data) => ({ columns, data }),
    onProblem = (message) => process.emitWarning(message),
  }: WandbLoggerOptions = {},
): MetricsLogger {
  if (typeof run?.log !== 'function') {
    throw new ArgumentError(
      'wandbLogger: expected a run with a log function; start the run before the logger',
    );
  }
  const problems = new Problems('wandbLogger: metrics are not logged', onProblem);
  const report = (error: unknown) => problems.report(error);
  const attempt = (call: () => unknown): void => {
    try {
      Promise.resolve(call()).catch(report);
    } catch (error) {
      report(error);
    }
  };
  return {
    log: (step, metrics) => attempt(() => run.log(metrics, { step })),
    note: (step, text) => attempt(() => run.log({ notes: text }, { step })),
    samples: (step, rows) => attempt(() => run.log({ samples: sampleTable(rows, table) }, { step })),
    finding(step, { rule, severity, message }) {
      attempt(() => run.log({ findings: `${severity} ${rule}: ${message}` }, { step }));
      attempt(() => run.alert?.({ title: rule, text: message, level: levels[severity] }));
    },
    async close() {
      try {
        await run.finish?.();
      } catch (error) {
        report(error);
      }
      problems.conclude();
    },
  };
}

function sampleTable(
  rows: readonly LoggedSample[],
  table: NonNullable<WandbLoggerOptions['table']>,
): unknown {
  const { columns, data } = sampleColumns(rows);
  return table(columns, data);
}
