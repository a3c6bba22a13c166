import type { MetricsLogger } from '@rlp/core';
import { type ConsoleStream, compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import type { RunFiles } from '../folder/run-files.ts';

/** Where a stage logs. Its iterations count on from those of the stages before it. */
export interface StageLogOptions {
  readonly files: RunFiles;
  readonly label: string;
  readonly iterations: number;
  /** Iterations of the stages before. */
  readonly offset: number;
  /** Iterations that an earlier process made. */
  readonly startedAt: number;
  readonly stream: ConsoleStream;
  readonly clock: () => number;
}

/** Metrics to one file, notes and findings to another, and all of it to the console. */
export function stageLog(options: StageLogOptions): MetricsLogger {
  const { files, label, iterations, offset, startedAt, stream, clock } = options;
  const metrics = new JsonlLogger({ path: files.metrics });
  const notes = new JsonlLogger({ path: files.notes });
  const inFiles: MetricsLogger = {
    log: (step, values) => metrics.log(offset + step, values),
    note: (step, text) => notes.note(offset + step, text),
    finding: (step, finding) => notes.finding(offset + step, finding),
    async close() {
      await metrics.close();
      await notes.close();
    },
  };
  return compositeLogger(inFiles, consoleLogger({ label, iterations, startedAt, stream, clock }));
}
