import * as z from 'zod';
import { type WorldTool, type WorldToolContext, worldTool } from '../with-world.ts';
import type { Database } from './sql-world.ts';

/** The tool `query` for a database: `{ sql }` gives columns, rows, and the number of rows that were changed. */
export function sqlTool(): WorldTool<Database> {
  return worldTool({
    name: 'query',
    description:
      'Runs SQL statements of SQLite. Returns the rows of the last SELECT. All statements have an effect, or none.',
    parameters: z.object({ sql: z.string().min(1) }),
    execute: ({ sql }, { world, signal }: WorldToolContext<Database>) => world.query(sql, { signal }),
  });
}
