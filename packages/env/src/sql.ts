/** An SQLite database for each episode, with a tool for it. Needs Node, `sql.js` and `@rlp/sandbox`. */
export type { SqlResult } from './worlds/sql/run-sql.ts';
export { sqlResource } from './worlds/sql/sql-resource.ts';
export { sqlTool } from './worlds/sql/sql-tool.ts';
export { createSqlWorld, Database, type SqlWorld, type SqlWorldOptions } from './worlds/sql/sql-world.ts';
