import { fstatSync, ftruncateSync, readSync } from 'node:fs';
import { type Metrics, type MetricsLogger, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { AppendFile } from './append-file.ts';
import { metricRowToLine } from './metric-rows.ts';

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
 * Metrics as JSON Lines: `{"step":3,"metrics":{"reward/mean":0.5}}`.
 *
 * Every row is with the operating system before `log` returns, so a crash of the process loses none; `close` has it on
 * disk. A line that an earlier crash cut short is removed on opening. Read it back with `metricRowsFromJsonl`.
 */
export class JsonlLogger implements MetricsLogger {
  readonly #file: AppendFile;

  /** @throws `OptionsError` for bad options, the system's error where the file cannot be opened. */
  constructor(options: JsonlLoggerOptions) {
    const { path, onProblem } = parseOptions('JsonlLogger', schema, options);
    this.#file = new AppendFile(path, { owner: 'JsonlLogger', onProblem });
    removePartialLine(this.#file.descriptor!);
  }

  log(step: number, metrics: Metrics): void {
    this.#file.append(Buffer.from(`${metricRowToLine({ step, metrics })}\n`));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

/** Cuts what follows the last line break. */
function removePartialLine(descriptor: number): void {
  const status = fstatSync(descriptor);
  if (!status.isFile()) return;
  const chunk = Buffer.alloc(65_536);
  for (let end = status.size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const read = readSync(descriptor, chunk, 0, end - start, start);
    const lineBreak = chunk.subarray(0, read).lastIndexOf(0x0a);
    if (lineBreak >= 0) {
      if (start + lineBreak + 1 < status.size) ftruncateSync(descriptor, start + lineBreak + 1);
      return;
    }
    end = start;
  }
  ftruncateSync(descriptor, 0);
}
