import { type Message, messageSchema, nearNames, type ToolSchema, toolListSchema } from '@rlp/core';
import * as z from 'zod';
import { cellOf, type DatasetColumns, described, rowError } from './columns.ts';
import type { DatasetEntry } from './dataset-entry.ts';

const messagesSchema = z.array(messageSchema).min(1);

/** Names of roles in ShareGPT's files. */
const roles: Readonly<Record<string, string>> = {
  human: 'user',
  gpt: 'assistant',
  chatgpt: 'assistant',
  bard: 'assistant',
  function_response: 'tool',
};

/** Remedy for a row that cannot be read. */
export const removeRow = 'correct or remove the row, or leave it out with `filter`';

/** A list of messages as core has them. */
export function messagesOf(value: unknown, entry: DatasetEntry<unknown>, column: string): Message[] {
  const list = Array.isArray(value) ? value.map(plainMessage) : value;
  const { success, data, error } = messagesSchema.safeParse(list);
  if (success) return data;
  throw rowError(entry, `messages { role, content } in ${problemOf(error, column)}`, removeRow);
}

/** Column and path of the first problem of a list, and what it is. */
function problemOf({ issues: [issue] }: z.ZodError, column: string): string {
  return `the column ${[column, ...issue!.path].join('.')}: ${issue!.message}`;
}

/** A message with the fields and the roles that core's messages have. `from` and `value` of ShareGPT's files become `role` and `content`. */
export function plainMessage(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { from, role = from, value: said, content = said, ...rest } = value as Record<string, unknown>;
  const named = typeof role === 'string' ? (roles[role] ?? role) : role;
  if (Array.isArray(rest.tool_calls)) {
    return {
      ...presentIn(rest),
      role: named,
      content: content ?? '',
      tool_calls: rest.tool_calls.map(asCall),
    };
  }
  return { ...presentIn(rest), role: named, content };
}

/** Columnar files have `null` where a message has no such field. */
function presentIn(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, each]) => each !== null));
}

/** A call as core has it. Datasets leave out its id, and write its arguments as an object or the call without `function`. */
function asCall(call: unknown, index: number): unknown {
  if (typeof call !== 'object' || call === null) return call;
  const { id, function: own = call } = call as Record<string, unknown>;
  if (typeof own !== 'object' || own === null) return call;
  const { name, arguments: given } = own as Record<string, unknown>;
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  return { id: id ?? `call_${index}`, type: 'function', function: { name, arguments: text } };
}

/** Text or messages of a column. Numbers become text. */
export function textOrMessages(entry: DatasetEntry<unknown>, column: string): string | Message[] {
  const value = cellOf(entry.row, column);
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return messagesOf(value, entry, column);
  throw rowError(
    entry,
    `text or a list of messages in the column ${column}, got ${described(value)}`,
    (value === undefined && namedRemedy(entry, column)) || removeRow,
  );
}

/** Remedy for a row without a column that the user named. */
function namedRemedy({ row, origin: { fields = {} }, number }: DatasetEntry<unknown>, column: string) {
  const role = Object.entries(fields).find(([, name]) => name === column)?.[0];
  if (role === undefined) return undefined;
  const [near] = nearNames(column, Object.keys(row as object), (name) => name);
  const remedy = `correct fields.${role}${near === undefined ? '' : `; did you mean ${near}?`}`;
  return number === 1 ? remedy : `${removeRow}, or ${remedy}`;
}

/** The prompt of a row, if it has a column for it. Alpaca's `input` follows its `instruction`. */
export function promptOf(
  entry: DatasetEntry<unknown>,
  { prompt, messages }: DatasetColumns,
): string | Message[] | undefined {
  if (prompt === undefined) {
    if (messages === undefined) return undefined;
    return withoutAnswer(messagesOf(cellOf(entry.row, messages), entry, messages));
  }
  const asked = textOrMessages(entry, prompt);
  if (asked.length === 0) {
    throw rowError(entry, `a prompt in the column ${prompt}, got empty text`, removeRow);
  }
  if (prompt !== 'instruction' || typeof asked !== 'string') return asked;
  const input = cellOf(entry.row, 'input');
  return typeof input === 'string' && input !== '' ? `${asked}\n\n${input}` : asked;
}

/** A conversation up to its last answer. */
function withoutAnswer(messages: Message[]): Message[] {
  return messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
}

/**
 * Tools of a row, given as a list or as its JSON. `undefined` if there are none, and if a column that nobody named as such holds something
 * else.
 */
export function toolsOf(
  entry: DatasetEntry<unknown>,
  { tools: column }: DatasetColumns,
): readonly ToolSchema[] | undefined {
  const given = column === undefined ? undefined : cellOf(entry.row, column);
  if (given == null || given === '') return undefined;
  const isList = Array.isArray(given) || (typeof given === 'string' && /^\s*\[\s*(\{|\])/.test(given));
  if (!isList && entry.origin.fields?.tools === undefined) return undefined;
  const { success, data, error } = toolListSchema.safeParse(given);
  if (success) return data.length === 0 ? undefined : data;
  throw rowError(
    entry,
    `tools { type: "function", function: { name, parameters } } in ${problemOf(error, column!)}`,
    "correct the row, or name another column, as in fields: { tools: 'functions' }",
  );
}

/** Messages of a part: text is what `role` says. */
export function asMessages(part: string | readonly Message[], role: Message['role']): readonly Message[] {
  return typeof part === 'string' ? [{ role, content: part }] : part;
}
