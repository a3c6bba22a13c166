import {
  ArgumentError,
  Failures,
  type Finding,
  type LoggedSample,
  type MetricsLogger,
  requireArguments,
} from '@rlp/core';
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
  /** Makes a block of HTML of your client, such as `new wandb.Html(…)`. By default findings are text. */
  readonly html?: ((markup: string) => unknown) | undefined;
  /** Called once when the run throws. Default `process.emitWarning`. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/** Findings that W&B shows at a step. */
const recentFindings = 10;

const levels = { low: 'INFO', medium: 'WARN', high: 'ERROR', critical: 'ERROR' } as const;

/**
 * Logs to a Weights & Biases run. JavaScript has no maintained client, so you pass the run. Any object with a `log` will do.
 *
 * Metrics keep their names. Notes are logged as `notes`, samples as the table `samples`, the ten latest findings as `findings` and,
 * if the run has `alert`, each as an alert.
 *
 * @throws ArgumentError for a run without `log`.
 */
export function wandbLogger(run: WandbRun, options: WandbLoggerOptions = {}): MetricsLogger {
  requireArguments('wandbLogger', { options: 'object?' }, options);
  const {
    table = (columns, data) => ({ columns, data }),
    html,
    onProblem = (message) => process.emitWarning(message),
  } = options;
  if (typeof run?.log !== 'function') {
    throw new ArgumentError(
      'wandbLogger: expected a run with a log function; start the run before the logger',
    );
  }
  const failures = new Failures(onProblem);
  const attempt = (call: () => unknown): void => {
    failures.attempt('wandbLogger: metrics are not logged', call);
  };
  let recent: readonly string[] = [];
  return {
    log: (step, metrics) => attempt(() => run.log(metrics, { step })),
    note: (step, text) => attempt(() => run.log({ notes: text }, { step })),
    samples: (step, rows) => attempt(() => run.log({ samples: sampleTable(rows, table) }, { step })),
    finding(step, finding) {
      const { rule, severity, message } = finding;
      const shown = html === undefined ? `${severity} ${rule}: ${message}` : blockOf(step, finding);
      recent = [...recent, shown].slice(-recentFindings);
      attempt(() => run.log({ findings: html?.(recent.join('')) ?? recent.join('\n') }, { step }));
      attempt(() => run.alert?.({ title: rule, text: message, level: levels[severity] }));
    },
    async close() {
      attempt(() => run.finish?.());
      await failures.settled();
      failures.conclude();
    },
  };
}

/** A finding with its advice, as HTML. */
function blockOf(step: number, { rule, severity, message, note }: Finding): string {
  const advice = (note?.mitigation ?? []).map((one) => `<li>${escaped(one)}</li>`).join('');
  return `<section><h4>${escaped(severity)} ${escaped(rule)}, step ${step}</h4><p>${escaped(message)}</p><ul>${advice}</ul></section>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function sampleTable(
  rows: readonly LoggedSample[],
  table: NonNullable<WandbLoggerOptions['table']>,
): unknown {
  const { columns, data } = sampleColumns(rows);
  return table(columns, data);
}
