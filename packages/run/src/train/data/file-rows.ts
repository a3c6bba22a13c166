import { FormatError, isRecord, type Message, messageSchema } from '@rlp/core';
import { readJsonLinesFile } from '@rlp/data/files';
import * as z from 'zod';
import type { DescribedData } from '../../config/data-schema.ts';
import type { RunRow } from './rows.ts';

const prompts = ['prompt', 'messages', 'question', 'instruction', 'input', 'text'];
const answers = ['answer', 'target', 'output', 'completion', 'response'];
const completions = ['completion', 'response', 'output'];

const messagesSchema = z.array(messageSchema).min(1);

type Columns = Readonly<Record<string, unknown>>;

/** Reads the rows of a file of JSON Lines. @throws FormatError naming file, line and column. */
export async function fileRows(
  path: string,
  data: Partial<DescribedData>,
  signal?: AbortSignal,
): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for await (const { number, value } of readJsonLinesFile(path, {
    expected: 'one JSON object per line',
    signal,
  })) {
    if (rows.length === data.limit) break;
    rows.push(rowOf(value, number, `${path}, line ${number}`, data));
  }
  if (rows.length === 0) throw new FormatError(`${path}: holds no rows; expected one JSON object per line`);
  return rows;
}

function rowOf(
  value: unknown,
  number: number,
  place: string,
  { fields = {}, template = '{prompt}' }: Partial<DescribedData>,
): RunRow {
  if (!isRecord(value))
    throw new FormatError(`${place}: expected one JSON object per line, got ${JSON.stringify(value)}`);
  const promptColumn = columnOf(value, fields.prompt, prompts);
  if (promptColumn === undefined) {
    const wanted = fields.prompt === undefined ? `one of ${prompts.join(', ')}` : `"${fields.prompt}"`;
    throw new FormatError(
      `${place}: expected a prompt in ${wanted}, the row has ${Object.keys(value).join(', ') || 'nothing'}; name the column, as in data: { path, fields: { prompt: NAME } }`,
    );
  }
  const { prompt, said } = promptOf(value[promptColumn], `${place}: ${promptColumn}`, template);
  const answerColumn = columnOf(value, fields.answer, answers);
  requireNamed(value, fields.answer, 'answer', place);
  requireNamed(value, fields.completion, 'completion', place);
  const answer = answerColumn === undefined ? said : textOf(value[answerColumn], `${place}: ${answerColumn}`);
  const completionColumn = columnOf(value, fields.completion, completions);
  const completion =
    completionColumn === undefined
      ? answer
      : textOf(value[completionColumn], `${place}: ${completionColumn}`);
  const { [promptColumn]: _, ...rest } = value;
  return {
    id: idOf(value, fields.id, number),
    prompt,
    completion,
    metadata: { ...rest, ...(answer !== undefined && { answer }) },
  };
}

function requireNamed(row: Columns, named: string | undefined, what: string, place: string): void {
  if (named === undefined || Object.hasOwn(row, named)) return;
  throw new FormatError(
    `${place}: expected the ${what} in "${named}", the row has ${Object.keys(row).join(', ')}`,
  );
}

function columnOf(row: Columns, named: string | undefined, known: readonly string[]): string | undefined {
  const candidates = named === undefined ? known : [named];
  return candidates.find((name) => Object.hasOwn(row, name) && row[name] !== null);
}

/** The prompt, and what a last turn of the assistant said. */
function promptOf(
  value: unknown,
  place: string,
  template: string,
): { prompt: RunRow['prompt']; said?: string } {
  if (typeof value === 'string') {
    if (value.trim() === '')
      throw new FormatError(`${place}: expected text, got an empty one; remove the row`);
    return { prompt: template.replaceAll('{prompt}', () => value) };
  }
  const { data: messages, error } = messagesSchema.safeParse(value) as {
    data?: Message[];
    error?: z.ZodError;
  };
  if (messages === undefined) {
    const [issue] = error?.issues ?? [];
    throw new FormatError(
      `${place}: expected text or a list of messages: ${issue?.path.join('.')} ${issue?.message}`,
    );
  }
  const last = messages.at(-1)!;
  if (last.role !== 'assistant') return { prompt: messages };
  return { prompt: messages.slice(0, -1), said: last.content };
}

function textOf(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new FormatError(`${place}: expected text or a number, got ${JSON.stringify(value)?.slice(0, 80)}`);
}

function idOf(row: Columns, named: string | undefined, number: number): string {
  const id = row[named ?? 'id'];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : `row-${number}`;
}
