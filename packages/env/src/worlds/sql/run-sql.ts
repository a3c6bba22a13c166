import { ArgumentError, RandomStream } from '@rlp/core';
import type { SqlJs, SqlJsDatabase, SqlJsStatement, SqlValue } from './sql-js.ts';

/** What a thread is asked to run. */
export interface SqlRequest {
  /** The database before. Empty for a new one. */
  readonly bytes: Uint8Array;
  readonly sql: string;
  /** Rows of the result that are read. */
  readonly maxRows: number;
  /** Characters of the result that are read. */
  readonly maxCharacters: number;
  /** Bytes that the database may have. */
  readonly maxBytes: number;
}

/** Result of the last statement that has one. */
export interface SqlResult {
  readonly columns: readonly string[];
  /** Values of the rows. Blobs are hexadecimal text. */
  readonly rows: readonly (readonly (number | string | null)[])[];
  /** Rows that all statements changed. */
  readonly changed: number;
  /** Whether the result had more rows or characters. */
  readonly isCut: boolean;
}

/** A result, and the database after it. */
export interface SqlAnswer {
  readonly result: SqlResult;
  readonly bytes: Uint8Array;
}

/** Statements that would reach beyond the database, or lift its limits. */
const refused = /^(attach|detach|vacuum)$/i;
const readingPragmas =
  /^\s*pragma\s+(\w+\.)?(table_info|table_xinfo|table_list|index_list|index_info|index_xinfo|foreign_key_list|foreign_key_check|database_list)\s*(\(|;|$)/i;
const pageSize = 4096;

/** Runs statements on a copy of a database. Either all of them have an effect, or none and it throws. */
export function runSql(
  sqlJs: SqlJs,
  { bytes, sql, maxRows, maxCharacters, maxBytes }: SqlRequest,
): SqlAnswer {
  const database = new sqlJs.Database(bytes.length === 0 ? undefined : bytes);
  try {
    prepare(database, maxBytes, RandomStream.named('sql', sql, checksum(bytes)));
    let result: SqlResult = { columns: [], rows: [], changed: 0, isCut: false };
    for (const statement of database.iterateStatements(sql)) {
      const text = statement.getSQL();
      requirePermitted(text);
      const read = readRows(statement, maxRows, maxCharacters);
      if (read.columns.length > 0) result = { ...read, changed: 0 };
    }
    requireEnded(database);
    return { result: { ...result, changed: changesOf(database) }, bytes: database.export() };
  } finally {
    database.close();
  }
}

/** Limits a database, and makes its random numbers a function of what it holds and of the statements. */
function prepare(database: SqlJsDatabase, maxBytes: number, stream: RandomStream): void {
  const pages = Math.max(1, Math.floor(maxBytes / pageSize));
  database.run(`PRAGMA max_page_count=${pages}; PRAGMA hard_heap_limit=${4 * maxBytes + 16_777_216};`);
  database.create_function('random', () => stream.integer(0x100000000) - 0x80000000);
  database.create_function('randomblob', ((length: number) =>
    Uint8Array.from({ length: Math.max(1, Math.min(length, 1_000_000)) }, () =>
      stream.integer(256),
    )) as never);
}

function requirePermitted(sql: string): void {
  const bare = sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ').trim();
  const first = /^\w+/.exec(bare)?.[0] ?? '';
  if (refused.test(first))
    throw new ArgumentError(
      `${first.toUpperCase()} is not permitted in this database; use statements that read or change rows`,
    );
  if (/^pragma$/i.test(first) && !readingPragmas.test(bare)) {
    throw new ArgumentError('only pragmas that read the schema are permitted, such as table_info');
  }
}

function readRows(
  statement: SqlJsStatement,
  maxRows: number,
  maxCharacters: number,
): Omit<SqlResult, 'changed'> {
  const rows: (number | string | null)[][] = [];
  let characters = 0;
  let isCut = false;
  while (statement.step()) {
    const row = statement.get().map(asJson);
    characters += JSON.stringify(row).length;
    isCut ||= rows.length >= maxRows || characters > maxCharacters;
    if (isCut) break;
    rows.push(row);
  }
  return { columns: statement.getColumnNames(), rows, isCut };
}

/** Rows changed since the database was opened. SQLite's count of one statement stays until another statement changes rows. */
function changesOf(database: SqlJsDatabase): number {
  let changes = 0;
  for (const statement of database.iterateStatements('SELECT total_changes()')) {
    statement.step();
    changes = Number(statement.get()[0]);
  }
  return changes;
}

function asJson(value: SqlValue): number | string | null {
  if (!(value instanceof Uint8Array)) return value;
  return Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What a transaction did that was not committed would be lost. */
function requireEnded(database: SqlJsDatabase): void {
  try {
    database.run('BEGIN; ROLLBACK;');
  } catch {
    throw new ArgumentError('a transaction was begun and not ended: COMMIT in the same call');
  }
}

/** FNV-1a of the bytes of a database. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
