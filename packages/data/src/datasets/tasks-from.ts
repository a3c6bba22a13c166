import {
  FormatError,
  isRecord,
  type Message,
  OptionsError,
  parseOptions,
  patternSchema,
  requireArguments,
  type Schema,
  type Task,
} from '@rlp/core';
import { cellOf, type DatasetColumns, described, KnownColumns, rowError } from './columns.ts';
import { type Dataset, requireDataset } from './dataset.ts';
import type { DatasetEntry } from './dataset-entry.ts';
import { messagesOf, promptOf, toolsOf } from './row-parts.ts';

/** Metadata of a task without a schema: the columns of its row but the prompt and the id. */
export interface TaskColumns {
  /** Right answer as the row has it, mostly text. Absent if the row has none. */
  readonly answer?: unknown;
  readonly [column: string]: unknown;
}

/** Options of {@link tasksFrom}. */
export interface TasksFromOptions<Metadata> {
  /** Schema of the metadata: zod or another Standard Schema. Default: any metadata is accepted, as {@link TaskColumns}. */
  readonly metadata?: Schema<Metadata> | undefined;
  /** Ends the reading with its reason. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the rows of a dataset as tasks.
 *
 *     const tasks = await tasksFrom(await loadDataset('train.jsonl'), { metadata: z.object({ answer: z.string() }) });
 *
 * Prompt, id and answer are in the columns that {@link columnsOf} recognises. All other columns become the metadata. The answer is
 * `metadata.answer`, and a pair is `metadata.chosen` and `metadata.rejected`, whatever their columns are called. Calls of tools in it are `metadata.toolCalls`, and the tools that were offered are
 * `metadata.tools`. The fields of a column `metadata` come last. A row without an id gets its number.
 *
 * @throws FormatError naming the row without a prompt, with metadata that do not fit, or with an id that was there before.
 */
export async function tasksFrom<Metadata = TaskColumns>(
  dataset: Dataset<object>,
  options: TasksFromOptions<Metadata> = {},
): Promise<Task<Metadata>[]> {
  requireArguments('tasksFrom', { options: 'object?' }, options);
  const { metadata, signal } = options;
  requireDataset('tasksFrom', dataset);
  const known = new KnownColumns();
  const places = new Map<string, DatasetEntry<object>>();
  const tasks: Task<Metadata>[] = [];
  for await (const batch of dataset.batches({ signal })) {
    for (const entry of batch) {
      const task = taskOf(entry, known.of(entry), metadata);
      const earlier = places.get(task.id);
      if (earlier !== undefined) {
        throw new FormatError(
          `${entry.place}: expected an id of its own, got ${JSON.stringify(task.id)} as in ${earlier.place}; rename one, ` +
            'remove the column so that rows are numbered, or name another one, as in fields: { id: "key" }',
        );
      }
      places.set(task.id, entry);
      tasks.push(task);
    }
  }
  if (tasks.length > 0) return tasks;
  throw new FormatError(
    `${dataset.name}: expected rows, got none; look at the file, the split and the slice`,
  );
}

function taskOf<Metadata>(
  entry: DatasetEntry<object>,
  columns: DatasetColumns,
  schema: Schema<Metadata> | undefined,
): Task<Metadata> {
  const prompt = promptOf(entry, columns);
  if (prompt === undefined) {
    throw rowError(
      entry,
      'a column with the prompt (prompt, question, instruction, input, text or messages)',
      "name it, as in fields: { prompt: 'query' }",
    );
  }
  const own = metadataOf(entry, columns);
  const pattern = cellOf(entry.row, 'terminationPattern');
  return {
    id: entry.idFrom(idOf(entry, columns)),
    prompt,
    metadata: schema === undefined ? (own as Metadata) : checked(entry, 'metadata', schema, own),
    ...(pattern != null && {
      terminationPattern: checked(entry, 'terminationPattern', patternSchema, pattern),
    }),
  };
}

function idOf(entry: DatasetEntry<object>, { id }: DatasetColumns): string | undefined {
  const value = id === undefined ? undefined : cellOf(entry.row, id);
  if (value == null) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw rowError(
    entry,
    `text or a number as id in the column ${id}, got ${described(value)}`,
    'correct it, or name another column, as in fields: { id: "key" }',
  );
}

function metadataOf(entry: DatasetEntry<object>, columns: DatasetColumns): unknown {
  const { id, prompt, answer, messages } = columns;
  const { metadata: given, terminationPattern: _, ...rest } = entry.row as Record<string, unknown>;
  for (const column of [id, prompt, ...(prompt === undefined ? [messages] : [])]) {
    if (column !== undefined) delete rest[column];
  }
  if (prompt === 'instruction') delete rest.input;
  const last = answer === undefined ? lastAnswer(entry, columns) : undefined;
  const tools = toolsOf(entry, columns);
  if (tools !== undefined) delete rest[columns.tools!];
  const found = {
    answer: answer === undefined ? last?.content : cellOf(entry.row, answer),
    chosen: columns.chosen && cellOf(entry.row, columns.chosen),
    rejected: columns.rejected && cellOf(entry.row, columns.rejected),
    toolCalls: last?.tool_calls,
    tools,
  };
  for (const [name, value] of Object.entries(found)) {
    if (value !== undefined && !Object.hasOwn(rest, name)) rest[name] = value;
  }
  if (given === undefined || isRecord(given)) return { ...rest, ...given };
  return Object.keys(rest).length === 0 ? given : { ...rest, metadata: given };
}

/** The last message of a conversation that is a prompt too, if the assistant says it. */
function lastAnswer(entry: DatasetEntry<object>, { prompt, messages }: DatasetColumns): Message | undefined {
  if (prompt !== undefined || messages === undefined) return undefined;
  const last = messagesOf(cellOf(entry.row, messages), entry, messages).at(-1);
  return last?.role === 'assistant' ? last : undefined;
}

function checked<Value>(
  entry: DatasetEntry<object>,
  what: string,
  schema: Schema<Value>,
  value: unknown,
): Value {
  const place = `${entry.place}: ${what}`;
  try {
    return parseOptions(place, schema, value);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new FormatError(`${place}: ${error.issues.join('; ')}`, { cause: error });
  }
}
