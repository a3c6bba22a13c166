import { FormatError, OptionsError, parseOptions, type Schema, type Task, taskSchema } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';

/** Where the parts of a task stand in a line. */
export interface TaskFields {
  /** Field that holds the prompt, as text or a list of messages. Default `'prompt'`. */
  readonly prompt?: string | undefined;
  /** Field that holds the id, as text or a number. Default `'id'`. A line without an id gets its line number. */
  readonly id?: string | undefined;
}

/** Options of {@link tasksFromJsonl}. */
export interface TasksFromJsonlOptions<Metadata> {
  /** Name of the text in errors, such as its file. Default `'tasks'`. */
  readonly source?: string | undefined;
  /** Zod schema of the metadata. By default any metadata is accepted. */
  readonly metadata?: Schema<Metadata> | undefined;
  /**
   * Reads lines of other shapes, such as `{ "question", "answer" }` with `{ prompt: 'question' }`. All other fields become the
   * metadata. By default lines are `{ "id", "prompt", "metadata" }`.
   */
  readonly fields?: TaskFields | undefined;
}

/**
 * Reads tasks from JSON Lines, one `{ "id", "prompt", "metadata" }` per line. Empty lines are skipped.
 *
 *     const tasks = tasksFromJsonl(text, { fields: { prompt: 'question' }, metadata: z.object({ answer: z.string() }) });
 *
 * @param text - The whole file.
 * @throws `FormatError` naming source, line and field of the first malformed line.
 */
export function tasksFromJsonl<Metadata = unknown>(
  text: string,
  { source = 'tasks', metadata, fields }: TasksFromJsonlOptions<Metadata> = {},
): Task<Metadata>[] {
  const lines = parseJsonLines(text, { source, expected: 'one JSON object per line' });
  return Array.from(lines, ({ number, value }) => {
    const place = `${source}, line ${number}`;
    const record = fields === undefined ? value : taskRecord(value, fields, number);
    const task = parseRecord(place, taskSchema, record, fields === undefined ? fieldsHint(value) : '');
    return {
      ...task,
      metadata: metadata
        ? parseRecord(`${place}: metadata`, metadata, task.metadata)
        : (task.metadata as Metadata),
    };
  });
}

/** A line of another shape as `{ id, prompt, metadata }`. */
function taskRecord(
  line: unknown,
  { prompt: promptField = 'prompt', id: idField = 'id' }: TaskFields,
  number: number,
) {
  if (typeof line !== 'object' || line === null) return line;
  const {
    [promptField]: prompt,
    [idField]: id = number,
    ...metadata
  } = line as Readonly<Record<string, unknown>>;
  return { id: typeof id === 'number' ? String(id) : id, prompt, metadata };
}

/** What to do about a line without a prompt that has other fields. */
function fieldsHint(line: unknown): string {
  if (typeof line !== 'object' || line === null || 'prompt' in line) return '';
  const names = Object.keys(line).join(', ');
  return `; the line has ${names}: name the field of the prompt, as in fields: { prompt: 'question' }`;
}

function parseRecord<Output>(place: string, schema: Schema<Output>, record: unknown, hint = ''): Output {
  try {
    return parseOptions(place, schema, record);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new FormatError(`${place}: ${error.issues.join('; ')}${hint}`, { cause: error });
  }
}
