import { join } from 'node:path';
import {
  callback,
  type Finding,
  type LoggedSample,
  type Metrics,
  type MetricsLogger,
  parseOptions,
} from '@rlp/core';
import * as z from 'zod';
import { LogFile } from '../log-file.ts';
import { sampleColumns } from '../sample-columns.ts';
import { eventRecord } from './event-file.ts';

const schema = z.strictObject({
  directory: z.string().min(1),
  clock: callback<() => number>().default(() => () => Date.now()),
  name: z.string().min(1).default('rlp'),
  onProblem: callback<(message: string) => void>().default(
    () => (message: string) => process.emitWarning(message),
  ),
});

/** Options of {@link TensorBoardLogger}. */
export interface TensorBoardLoggerOptions {
  /** Directory of the run. Pass it or its parent to `tensorboard --logdir`. */
  readonly directory: string;
  /** Milliseconds since 1970. Times of rows and the file name come from it. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** Ends the file's name, where TensorBoard's own writers put the host. Default `rlp`. */
  readonly name?: string | undefined;
  /** Told, once, when a row cannot be written. Default `process.emitWarning`. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/**
 * Metrics as TensorBoard scalars, one event file per logger. A resumed run adds another one to the same directory. Notes,
 * samples and findings are on its text page.
 *
 * Every row is with the operating system before `log` returns, and `tensorboard` shows it at its next refresh.
 */
export class TensorBoardLogger implements MetricsLogger {
  readonly #file: LogFile;
  readonly #clock: () => number;

  /** @throws OptionsError for bad options, the system's error where the file cannot be opened. */
  constructor(options: TensorBoardLoggerOptions) {
    const { directory, clock, name, onProblem } = parseOptions('TensorBoardLogger', schema, options);
    const now = clock();
    const seconds = String(Math.floor(now / 1000)).padStart(10, '0');
    const file = `events.out.tfevents.${seconds}.${name}.${process.pid}.${Math.floor(now % 1000)}`;
    this.#clock = clock;
    const path = join(directory, file);
    this.#file = new LogFile({ path, content: 'bytes', owner: 'TensorBoardLogger', onProblem });
    this.#file.append(eventRecord({ wallTime: now / 1000, fileVersion: 'brain.Event:2' }));
  }

  log(step: number, metrics: Metrics): void {
    this.#file.append(eventRecord({ wallTime: this.#clock() / 1000, step, scalars: metrics }));
  }

  note(step: number, text: string): void {
    this.#text(step, 'notes', text);
  }

  samples(step: number, rows: readonly LoggedSample[]): void {
    if (rows.length > 0) this.#text(step, 'samples', markdownTable(rows));
  }

  finding(step: number, { rule, severity, message }: Finding): void {
    this.#text(step, 'findings', `**${severity} ${rule}**: ${message}`);
  }

  #text(step: number, tag: string, text: string): void {
    this.#file.append(eventRecord({ wallTime: this.#clock() / 1000, step, texts: { [tag]: text } }));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

/** The text page renders Markdown. What a policy wrote is shown as it is. */
function markdownTable(rows: readonly LoggedSample[]): string {
  const { columns, data } = sampleColumns(rows);
  const line = (cells: readonly (string | number | null)[]) => `| ${cells.map(markdownCell).join(' | ')} |`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...data.map(line)].join('\n');
}

function markdownCell(cell: string | number | null): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  return cell.replace(/[\\`*_{}[\]<>#|~&]/g, '\\$&').replace(/\r?\n/g, ' ⏎ ');
}
