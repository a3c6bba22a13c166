import { parentPort } from 'node:worker_threads';
import { importPeer } from '@rlp/core';
import { serveThread } from '@rlp/sandbox/threads';
import { runSql, type SqlAnswer, type SqlRequest } from './worlds/sql/run-sql.ts';
import type { SqlJs } from './worlds/sql/sql-js.ts';

/** Entry of a thread that runs SQL. Its clock stands still, so that equal statements give equal databases. */
if (parentPort) {
  await serveThread<SqlRequest, SqlAnswer, void>(parentPort, async () => {
    // @ts-expect-error The package has no types.
    const { default: initialise } = await importPeer('createSqlWorld', 'sql.js', () => import('sql.js'));
    const sqlJs: SqlJs = await initialise();
    Date.now = () => Date.UTC(2000, 0, 1);
    return { ready: undefined, answer: (request) => runSql(sqlJs, request) };
  });
}
