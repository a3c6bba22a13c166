import { ArgumentError, type Task } from '@rlp/core';
import { reasoningTasks } from '@rlp/env/reasoning';
import type { RunData } from '../../config/data-schema.ts';
import { additionRows } from './addition.ts';
import { fileRows } from './file-rows.ts';
import { type RunRow, toolsIn } from './rows.ts';

/** Loads the rows that `data` describes. @throws FormatError naming place and remedy. */
export async function loadRows(
  data: RunData,
  { seed, signal }: { readonly seed: string; readonly signal?: AbortSignal | undefined },
): Promise<readonly RunRow[]> {
  if (typeof data === 'string') return fileRows(data, { signal });
  if (!('options' in data || 'path' in data || 'tasks' in data)) return rowsOfTasks(data as readonly Task[]);
  const { path, tasks, options = {}, ...reading } = data;
  if (path !== undefined) return fileRows(path, { ...reading, signal });
  return tasks === 'addition' ? additionRows(options, seed) : reasoningRows(options, seed);
}

function reasoningRows(options: Readonly<Record<string, unknown>>, seed: string): RunRow[] {
  const tasks = reasoningTasks({ count: 1000, seed, ...options });
  return tasks.map(({ metadata, ...task }) => ({
    ...task,
    completion: metadata.answer,
    metadata: { ...metadata },
  }));
}

/** Tasks of a program, as rows. */
function rowsOfTasks(tasks: readonly Task[]): RunRow[] {
  if (tasks.length === 0) throw new ArgumentError('trainRun: data is an empty list; give at least one task');
  return tasks.map(({ id, prompt, metadata }) => {
    const known = (metadata ?? {}) as { readonly answer?: unknown; readonly completion?: unknown };
    const completion = known.completion ?? known.answer;
    return {
      ...{ id, prompt, metadata: metadata as RunRow['metadata'] },
      ...(typeof completion === 'string' && { completion }),
      ...toolsIn(metadata),
    };
  });
}
