import { promptText, RlpError, requireArguments, type Task } from '@rlp/core';
import { checkRun } from '../config/check-run.ts';
import { modes } from '../config/modes.ts';
import { runFiles } from '../folder/run-files.ts';
import { isRunnable, readRunRecord } from '../folder/run-record.ts';
import type { RunRow } from './data/rows.ts';
import { rowsOf } from './prepare.ts';

/**
 * Number of tasks whose question and answer the run in `directory` learned from. 0 if the folder holds no run.
 *
 * Reads the run's data again. `undefined` if that fails, or if a program gave them.
 */
export async function countLearned(
  directory: string,
  tasks: readonly Task[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<number | undefined> {
  requireArguments(
    'countLearned',
    { directory: 'text', tasks: 'objects', options: 'object?' },
    directory,
    tasks,
    options,
  );
  const { signal } = options;
  try {
    const record = await readRunRecord(runFiles(directory).run);
    if (record === undefined) return 0;
    if (!isRunnable(record.config)) return undefined;
    const { imitated, practised } = await rowsOf(
      checkRun(record.config, directory),
      modes[record.mode],
      signal,
    );
    const known = new Set([...imitated, ...practised].map(questionOf));
    return tasks.filter((task) => known.has(questionOf(task))).length;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RlpError) return undefined;
    throw error;
  }
}

/** Text of a question and its answer, as messages or not. */
function questionOf({ prompt, metadata }: Pick<RunRow | Task, 'prompt' | 'metadata'>): string {
  const { answer } = (metadata ?? {}) as { readonly answer?: unknown };
  return JSON.stringify([promptText(prompt), String(answer)]);
}
