import { type LoggedSample, type MetricsLogger, promptText } from '@rlp/core';
import type { RunNotes } from './notes.ts';
import type { RlReport, ScoredGroup } from './protocol.ts';

interface LoggingContext {
  readonly loggedSamples: number;
  readonly runNotes: RunNotes;
  /** Notes that were said in the middle of the iteration. */
  readonly said: readonly string[];
}

/** Hands a report to a logger: metrics, notes, a few samples, findings. */
export function logReport<Metadata>(
  logger: MetricsLogger | undefined,
  { iteration, metrics, notes, groups, findings }: RlReport<Metadata>,
  { loggedSamples, runNotes, said }: LoggingContext,
): void {
  if (logger === undefined) return;
  logger.log(iteration, metrics);
  for (const note of notes) if (!said.includes(note)) runNotes.repeat(iteration, note);
  const rows = logger.samples && sampleRows(groups, loggedSamples);
  if (rows !== undefined && rows.length > 0) logger.samples?.(iteration, rows);
  for (const finding of findings) logger.finding?.(iteration, finding);
}

/** The first member of each group, then the second, until there are `count`. */
function sampleRows<Metadata>(groups: readonly ScoredGroup<Metadata>[], count: number): LoggedSample[] {
  const largest = groups.reduce((size, { scored }) => Math.max(size, scored.length), 0);
  const rows: LoggedSample[] = [];
  for (let member = 0; member < largest; member++) {
    for (const { scored } of groups) {
      if (rows.length >= count) return rows;
      const entry = scored[member];
      if (entry === undefined) continue;
      const { trajectory, reward, components } = entry;
      const { task, response } = trajectory;
      rows.push({ task: task.id, prompt: promptText(task.prompt), response, reward, components });
    }
  }
  return rows;
}
