import {
  callback,
  type Finding,
  type LoggedSample,
  type LogRow,
  type Metrics,
  type MetricsLogger,
  parseOptions,
} from '@rlp/core';
import * as z from 'zod';
import { LogFile } from './log-file.ts';
import { logRowToLine } from './metric-rows.ts';

const schema = z.strictObject({
  path: z.string().min(1),
  onProblem: callback<(message: string) => void>().default(
    () => (message: string) => process.emitWarning(message),
  ),
});

/** Options of {@link JsonlLogger}. */
export interface JsonlLoggerOptions {
  /** File to append to. It and its directory are created if they are missing. */
  readonly path: string;
  /** Told, once, when a row cannot be written. Default `process.emitWarning`. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/**
 * Metrics, notes, samples and findings as JSON Lines: `{"step":3,"metrics":{"reward/mean":0.5}}`, `{"step":3,"note":"…"}`.
 *
 * Every row is with the operating system before `log` returns, so a crash of the process loses none. `close` has it on
 * disk. A row that an earlier crash cut short is removed on opening. Read it back with
 * `metricRowsFromJsonl` or `logRowsFromJsonl`.
 */
export class JsonlLogger implements MetricsLogger {
  readonly #file: LogFile;

  /** @throws OptionsError for bad options, the system's error where the file cannot be opened. */
  constructor(options: JsonlLoggerOptions) {
    const { path, onProblem } = parseOptions('JsonlLogger', schema, options);
    this.#file = new LogFile({ path, owner: 'JsonlLogger', onProblem });
  }

  log(step: number, metrics: Metrics): void {
    this.#append({ step, metrics });
  }

  note(step: number, note: string): void {
    this.#append({ step, note });
  }

  samples(step: number, samples: readonly LoggedSample[]): void {
    this.#append({ step, samples });
  }

  finding(step: number, finding: Finding): void {
    this.#append({ step, finding });
  }

  #append(row: LogRow): void {
    this.#file.append(`${logRowToLine(row)}\n`);
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}
