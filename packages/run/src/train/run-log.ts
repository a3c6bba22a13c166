import type { MetricsLogger } from '@rlp/core';
import { type ConsoleStream, compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import type { RunFiles } from '../folder/run-files.ts';
import { ChangedFindings } from './changed-findings.ts';
import { processLoad } from './process-load.ts';

/** Where a stage logs. Its iterations count on from those of the stages before it. */
export interface StageLogOptions {
  readonly files: RunFiles;
  readonly label: string;
  readonly iterations: number;
  /** Iterations of the stages before. */
  readonly offset: number;
  /** Iterations that an earlier process made. */
  readonly startedAt: number;
  /** Another place for all of it. It stays open. */
  readonly logger?: MetricsLogger | undefined;
  readonly stream: ConsoleStream;
  readonly clock: () => number;
}

/**
 * Metrics to one file, notes and findings to another, and all of it to the console. A finding that repeats is written once.
 * Its repetitions are counted in a note at the end.
 */
export function stageLog(options: StageLogOptions): MetricsLogger {
  const { files, label, iterations, offset, startedAt, stream, clock, logger } = options;
  const metrics = new JsonlLogger({ path: files.metrics });
  const notes = new JsonlLogger({ path: files.notes });
  const load = processLoad(clock);
  const findings = new ChangedFindings();
  let last = offset + startedAt;
  const note = (step: number, text: string) => {
    notes.note(step, text);
    logger?.note?.(step, text);
  };
  const inFiles: MetricsLogger = {
    log(step, values) {
      last = offset + step;
      // A row that is logged again has the load of its own iteration.
      const row = { ...load(), ...values };
      metrics.log(last, row);
      logger?.log(last, row);
    },
    note: (step, text) => note(offset + step, text),
    finding(step, finding) {
      if (!findings.isChange(offset + step, finding)) return;
      notes.finding(offset + step, finding);
      logger?.finding?.(offset + step, finding);
    },
    async close() {
      for (const sentence of findings.summary) note(last, sentence);
      await metrics.close();
      await notes.close();
    },
  };
  return compositeLogger(inFiles, saidOnce(consoleLogger({ label, iterations, startedAt, stream, clock })));
}

/** Shows a finding of a rule and a note of a kind the first time only. */
function saidOnce(shown: MetricsLogger): MetricsLogger {
  const seen = new Set<string>();
  const isNew = (kind: string) => !seen.has(kind) && seen.add(kind).size > 0;
  return {
    shows: 'console',
    log: (step, metrics) => shown.log(step, metrics),
    note: (step, text) => (isNew(text.replaceAll(/\d+/g, '#')) ? shown.note?.(step, text) : undefined),
    finding: (step, finding) => (isNew(finding.rule) ? shown.finding?.(step, finding) : undefined),
    close: () => shown.close(),
  };
}
