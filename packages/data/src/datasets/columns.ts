import { FormatError } from '@rlp/core';
import type { DatasetRow } from './dataset.ts';
import type { DatasetEntry, DatasetOrigin } from './dataset-entry.ts';
import type { DatasetFields, DatasetRole } from './dataset-fields.ts';

/** Names of columns that are recognised, the first one first. */
const known: Readonly<Record<DatasetRole, readonly string[]>> = {
  id: ['id', 'uuid', 'task_id', 'question_id'],
  prompt: ['prompt', 'question', 'instruction', 'input', 'text'],
  messages: ['messages', 'conversations', 'conversation'],
  tools: ['tools'],
  answer: ['answer', 'completion', 'output', 'response', 'target', 'label'],
  chosen: ['chosen'],
  rejected: ['rejected'],
  label: ['label'],
  score: ['score'],
};

/** Columns of a dataset by role. A role without column is absent. */
export type DatasetColumns = { readonly [Role in DatasetRole]?: string };

/** Reads which column of a row has which role. Columns that `fields` names come first. */
export function columnsOf(row: DatasetRow, fields: DatasetFields = {}): DatasetColumns {
  const columns: { [Role in DatasetRole]?: string } = {};
  for (const role of Object.keys(known) as DatasetRole[]) {
    const names = known[role];
    const column =
      fields[role] ??
      names.find((name) => (row[name] ?? null) !== null) ??
      names.find((name) => Object.hasOwn(row, name));
    if (column !== undefined) columns[role] = column;
  }
  // One column has one role: what was named for another role is not an answer by its name alone.
  const { answer, prompt } = columns;
  if (fields.answer === undefined && answer === prompt) delete columns.answer;
  return columns;
}

/** A column's value. The name may be a path. `undefined` if there is none. */
export function cellOf(row: unknown, column: string): unknown {
  return cellsOf(row, column)[0];
}

/** Values of a column. Its name may be a path, in which `*` stands for each element of a list or an object. */
export function cellsOf(row: unknown, column: string): unknown[] {
  if (typeof row !== 'object' || row === null) return [];
  if (Object.hasOwn(row, column)) return [row[column as never]];
  if (column === '*') return Object.values(row);
  const dot = column.indexOf('.');
  if (dot < 0) return [];
  return cellsOf(row, column.slice(0, dot)).flatMap((cell) => cellsOf(cell, column.slice(dot + 1)));
}

/** Columns of the rows of each origin. The first row that has a column for a role decides for all. */
export class KnownColumns {
  readonly #byOrigin = new Map<DatasetOrigin, { columns: DatasetColumns; names: number }>();

  of({ origin, row }: DatasetEntry<unknown>): DatasetColumns {
    const names = Object.keys(row as DatasetRow).length;
    const found = this.#byOrigin.get(origin);
    // A row with more columns may have some that the rows before it lacked.
    if (found !== undefined && names <= found.names) return found.columns;
    const columns = { ...columnsOf(row as DatasetRow, origin.fields), ...found?.columns };
    this.#byOrigin.set(origin, { columns, names });
    return columns;
  }
}

/** An error of a row, with its place, its columns and a remedy. */
export function rowError(entry: DatasetEntry<unknown>, expected: string, remedy: string): FormatError {
  const names = Object.keys(entry.row as object).join(', ') || 'no columns';
  return new FormatError(`${entry.place}: expected ${expected}; the row has ${names}; ${remedy}`);
}

/** What a value is, for errors. */
export function described(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : `the ${typeof value} ${String(value)}`;
}
