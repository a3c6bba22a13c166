import type { Message } from '@rlp/core';
import { describeEnvironment, describeWorld } from '@rlp/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { ConversationEnvironment, createWorldPool, withWorld } from '../../index.ts';
import { createSqlWorld, sqlTool } from '../../sql.ts';

const task = { id: 't', prompt: 'How many apples?', metadata: { apples: 3 } };
const sqlWorld = createSqlWorld<{ apples: number }>({
  setup: ({ metadata: { apples } }, seed) =>
    `CREATE TABLE stock (name TEXT PRIMARY KEY, count INT); INSERT INTO stock VALUES ('apple', ${apples}), ('seed', ${seed});`,
  ...{ timeoutMs: 1500, maxRows: 3, maxCharacters: 300, maxBytes: 65_536 },
});
const pool = createWorldPool(sqlWorld);
afterAll(async () => {
  await pool.close();
  await sqlWorld.close();
});

const query = (sql: string) =>
  `<tool_call>${JSON.stringify({ name: 'query', arguments: { sql } })}</tool_call>`;
const environment = withWorld(
  new ConversationEnvironment<{ apples: number }>({ maxTurns: 9, nextUserTurn: () => 'More.' }),
  pool,
  [sqlTool()],
  {
    observe: async (database) => (await database.query('SELECT count FROM stock')).rows,
  },
);
async function resultsOf(...statements: string[]) {
  let state = await environment.reset(task, 1);
  for (const sql of statements) state = await environment.updateState(state, query(sql));
  const messages = environment.buildPrompt(state) as readonly Message[];
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  return { state, results: results.map((text) => (text.startsWith('{') ? JSON.parse(text) : text)) };
}

describeWorld('a database', {
  create: () => sqlWorld,
  task,
  act: (database) =>
    database.query('UPDATE stock SET count = count + 1; INSERT INTO stock VALUES (random(), 1)'),
  read: async (database) => (await database.query('SELECT * FROM stock')).rows,
});
describeEnvironment('a database with a tool', {
  create: () => environment,
  task,
  responses: [
    query('SELECT * FROM stock'),
    query("DELETE FROM stock WHERE name = 'seed'"),
    query('SELEC'),
    'Three.',
  ],
});

describe('sqlTool', () => {
  it('returns rows and the number of changed ones, and the state has what was done', async () => {
    const { results, state } = await resultsOf(
      "SELECT count, x'0aff' AS bytes FROM stock WHERE name = 'apple'",
      'UPDATE stock SET count = 9; SELECT sum(count) FROM stock',
    );
    expect(results).toEqual([
      { columns: ['count', 'bytes'], rows: [[3, '0aff']], changed: 0, isCut: false },
      { columns: ['sum(count)'], rows: [[18]], changed: 2, isCut: false },
    ]);
    expect(environment.outcome?.(state)).toEqual([[9], [9]]);
  });

  it('has an effect as a whole or not at all', async () => {
    const { results } = await resultsOf(
      'DELETE FROM stock; SELEC 1',
      'BEGIN; DELETE FROM stock',
      'BEGIN; DELETE FROM stock; ROLLBACK; SELECT count(*) FROM stock',
    );
    expect(results).toEqual([
      'Error: near "SELEC": syntax error',
      'Error: a transaction was begun and not ended: COMMIT in the same call',
      expect.objectContaining({ rows: [[2]] }),
    ]);
  });

  it('cuts long results', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT';
    const { results } = await resultsOf(`${endless} i FROM n`, "SELECT printf('%.*c', 400, 'x')");
    expect(results[0]).toMatchObject({ rows: [[1], [2], [3]], isCut: true });
    expect(results[1]).toMatchObject({ rows: [], isCut: true });
  });

  it.each([
    ["ATTACH DATABASE '/x' AS x", 'ATTACH is not permitted'],
    ["/* a */ -- b\n attach '/x' as x", 'ATTACH is not permitted'],
    ["VACUUM INTO '/x'", 'VACUUM is not permitted'],
    ['PRAGMA max_page_count = 100000', 'only pragmas that read'],
    ['PRAGMA table_info = 3', 'only pragmas that read'],
    ["SELECT load_extension('x')", 'no such function'],
    ['INSERT INTO stock SELECT hex(randomblob(20000)), 1 UNION SELECT hex(randomblob(20001)), 1', 'full'],
    ['SELECT length(hex(zeroblob(400000000)))', 'memory'],
  ])('refuses %s', async (sql, message) => {
    const { results } = await resultsOf(sql, 'SELECT count(*) FROM stock');
    expect(results[0]).toContain(message);
    expect(results[1]).toMatchObject({ rows: [[2]] });
  });

  it('reads the schema, and gives equal random numbers and times for equal statements', async () => {
    const sql = "SELECT random(), hex(randomblob(2)), datetime('now'), CURRENT_TIMESTAMP";
    const { results } = await resultsOf('PRAGMA table_info(stock)', sql, sql);
    expect(results[0].rows.map((row: unknown[]) => row[1])).toEqual(['name', 'count']);
    expect(results[1]).toEqual(results[2]);
    expect(results[1].rows[0][2]).toBe('2000-01-01 00:00:00');
  });
});

describe('createSqlWorld', () => {
  it('ends statements that take too long, and goes on', async () => {
    const impatient = createSqlWorld({
      setup: () => 'CREATE TABLE t (n); INSERT INTO t VALUES (1)',
      timeoutMs: 500,
    });
    const live = await impatient.open({ ...task, metadata: undefined }, 1);
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    await expect(live.query(`DELETE FROM t; ${endless}`)).rejects.toThrow(
      'took longer than 500 ms; the thread was ended',
    );
    expect((await live.query('SELECT count(*) FROM t')).rows).toEqual([[1]]);
    await impatient.close();
  });

  it('opens the bytes of an SQLite file', async () => {
    const live = await sqlWorld.open(task, 5);
    const copy = createSqlWorld({ setup: () => live.bytes });
    const opened = await copy.open({ ...task, metadata: undefined }, 1);
    expect((await opened.query('SELECT count FROM stock')).rows).toEqual([[3], [5]]);
    await copy.close();
  });

  it('says of databases and worlds that they are closed', async () => {
    const world = createSqlWorld();
    const live = await world.open({ ...task, metadata: undefined }, 1);
    await live.close();
    expect(() => live.bytes).toThrow('the database is closed; open another one');
    await world.close();
    await expect(world.open({ ...task, metadata: undefined }, 1)).rejects.toThrow('the SQL world is closed');
  });

  it('says what is wrong with a setup', async () => {
    const wrong = createSqlWorld({ setup: () => 'CREATE TABEL x' });
    await expect(wrong.open({ ...task, metadata: undefined }, 1)).rejects.toThrow(
      'near "TABEL": syntax error',
    );
    await wrong.close();
  });
});
