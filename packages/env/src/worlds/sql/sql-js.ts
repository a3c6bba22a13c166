/** The parts of the package `sql.js` that are used here. It has no types. */
export interface SqlJs {
  readonly Database: new (bytes?: Uint8Array) => SqlJsDatabase;
}

/** A database of SQLite in memory. */
export interface SqlJsDatabase {
  run(sql: string): unknown;
  export(): Uint8Array;
  close(): void;
  iterateStatements(sql: string): Iterable<SqlJsStatement>;
  create_function(name: string, work: (...args: never[]) => unknown): unknown;
}

/** A statement that can be stepped through. */
export interface SqlJsStatement {
  step(): boolean;
  get(): readonly SqlValue[];
  getColumnNames(): readonly string[];
  getSQL(): string;
}

/** A cell of a result. */
export type SqlValue = number | string | Uint8Array | null;
