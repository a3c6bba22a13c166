import { FormatError, OptionsError, parseOptions, type Schema, type Task, taskSchema } from '@rlp/core';

/** How {@link tasksFromJsonl} reads. */
export interface TasksFromJsonlOptions<Metadata> {
  /** Names the text in errors, such as its file. Default `'tasks'`. */
  readonly source?: string | undefined;
  /** What every task's metadata must be (any zod schema). Default: anything. */
  readonly metadata?: Schema<Metadata> | undefined;
}

/**
 * Reads tasks from JSON Lines: one `{ "id", "prompt", "metadata" }` per line, empty lines skipped.
 *
 * @param text - The whole file; reading it is the caller's business.
 * @throws `FormatError` naming source, line and field of the first malformed line.
 */
export function tasksFromJsonl<Metadata = unknown>(
  text: string,
  { source = 'tasks', metadata }: TasksFromJsonlOptions<Metadata> = {},
): Task<Metadata>[] {
  const tasks: Task<Metadata>[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const place = `${source}, line ${index + 1}`;
    const task = parseRecord(place, taskSchema, parseJson(place, line));
    tasks.push({
      ...task,
      metadata: metadata
        ? parseRecord(`${place}: metadata`, metadata, task.metadata)
        : (task.metadata as Metadata),
    });
  }
  return tasks;
}

function parseJson(place: string, line: string): unknown {
  try {
    // Which trims the mark that some editors begin a file with, too.
    return JSON.parse(line.trim());
  } catch (error) {
    throw new FormatError(`${place}: expected one JSON object per line: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parseRecord<Output>(place: string, schema: Schema<Output>, record: unknown): Output {
  try {
    return parseOptions(place, schema, record);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new FormatError(`${place}: ${error.issues.join('; ')}`, { cause: error });
  }
}
