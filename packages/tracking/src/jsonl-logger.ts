import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import {
  type Finding,
  type LoggedSample,
  type LogRow,
  type Metrics,
  type MetricsLogger,
  parseOptions,
} from '@rlp/core';
import * as z from 'zod';
import { AppendFile } from './append-file.ts';
import { logRowToLine } from './metric-rows.ts';

const schema = z.strictObject({
  path: z.string().min(1),
  onProblem: z
    .custom<(message: string) => void>((value) => typeof value === 'function', 'must be a function')
    .default(() => (message: string) => process.emitWarning(message)),
});

/** Options of {@link JsonlLogger}. */
export interface JsonlLoggerOptions {
  /** File to append to; it and its directory are created where they are missing. */
  readonly path: string;
  /** Told, once, when a row cannot be written. Default `process.emitWarning`. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/**
 * Metrics, notes, samples and findings as JSON Lines: `{"step":3,"metrics":{"reward/mean":0.5}}`, `{"step":3,"note":"…"}`.
 *
 * Every row is with the operating system before `log` returns, so a crash of the process loses none; `close` has it on
 * disk. A row that an earlier crash cut short is removed on opening. Read it back with
 * `metricRowsFromJsonl` or `logRowsFromJsonl`.
 */
export class JsonlLogger implements MetricsLogger {
  readonly #file: AppendFile;

  /** @throws `OptionsError` for bad options, the system's error where the file cannot be opened. */
  constructor(options: JsonlLoggerOptions) {
    const { path, onProblem } = parseOptions('JsonlLogger', schema, options);
    this.#file = new AppendFile(path, { owner: 'JsonlLogger', onProblem });
    endLastLine(this.#file.descriptor!);
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
    this.#file.append(Buffer.from(`${logRowToLine(row)}\n`));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

/** A row that a crash cut short goes; whatever else ends without a line break gets one. */
function endLastLine(descriptor: number): void {
  const status = fstatSync(descriptor);
  if (!status.isFile()) return;
  const start = startOfLastLine(descriptor, status.size);
  const line = Buffer.alloc(status.size - start);
  readSync(descriptor, line, 0, line.length, start);
  if (isCutShort(line.toString())) ftruncateSync(descriptor, start);
  else if (line.length > 0) writeSync(descriptor, '\n');
}

/** Where what follows the last line break begins. */
function startOfLastLine(descriptor: number, size: number): number {
  const chunk = Buffer.alloc(65_536);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const read = readSync(descriptor, chunk, 0, end - start, start);
    const lineBreak = chunk.subarray(0, read).lastIndexOf(0x0a);
    if (lineBreak >= 0) return start + lineBreak + 1;
    end = start;
  }
  return 0;
}

/** Whether a line begins as our rows do, and does not end as they do. */
function isCutShort(line: string): boolean {
  if (line === '' || !line.startsWith('{"step":'.slice(0, line.length))) return false;
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}
