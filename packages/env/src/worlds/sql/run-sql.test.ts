import { beforeAll, describe, expect, it } from 'vitest';
import { runSql, type SqlRequest } from './run-sql.ts';
import type { SqlJs } from './sql-js.ts';

// The tests of the world run this in a thread. Here it runs where the tests do.
let sqlJs: SqlJs;
beforeAll(async () => {
  // @ts-expect-error The package has no types of its own.
  const { default: initialise } = await import('sql.js');
  sqlJs = await initialise();
});

const run = (sql: string, limits: Partial<SqlRequest> = {}) =>
  runSql(sqlJs, {
    ...{ bytes: new Uint8Array(), sql, maxRows: 3, maxCharacters: 100, maxBytes: 65_536 },
    ...limits,
  });
const numbers = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n`;
const stock =
  'CREATE TABLE stock (name TEXT, count INT, photo BLOB); ' +
  "INSERT INTO stock VALUES ('apple', 3, x'00ff'), ('pear', NULL, NULL)";

describe('a result', () => {
  it('is that of the last statement that has one, with the rows that all changed', () => {
    const { result, bytes } = run(
      `${stock}; SELECT 1 AS one; SELECT * FROM stock; UPDATE stock SET count = 4`,
    );
    expect(result).toEqual({
      columns: ['name', 'count', 'photo'],
      rows: [
        ['apple', 3, '00ff'],
        ['pear', null, null],
      ],
      changed: 4,
      isCut: false,
    });
    expect(run('SELECT count FROM stock', { bytes }).result.rows).toEqual([[4], [4]]);
    expect(run(`${stock}; CREATE TABLE other (a)`).result.changed).toBe(2);
    const returned = run(`${stock} RETURNING name`).result;
    expect([returned.rows, returned.changed]).toEqual([[['apple'], ['pear']], 2]);
    expect(run(stock).result).toEqual({ columns: [], rows: [], changed: 2, isCut: false });
  });

  it('is cut behind its most rows and characters', () => {
    expect(run(numbers(3)).result).toMatchObject({ rows: [[1], [2], [3]], isCut: false });
    expect(run(numbers(4)).result).toMatchObject({ rows: [[1], [2], [3]], isCut: true });
    // Rows of three characters each, as [1].
    expect(run(numbers(2), { maxCharacters: 6 }).result).toMatchObject({ rows: [[1], [2]], isCut: false });
    expect(run(numbers(2), { maxCharacters: 5 }).result).toMatchObject({ rows: [[1]], isCut: true });
  });
});

describe('a database', () => {
  it('may have its most bytes, in whole pages and one at least', () => {
    const pages = (maxBytes: number) => run('SELECT * FROM pragma_max_page_count', { maxBytes }).result.rows;
    expect([pages(65_536), pages(12_287), pages(1)]).toEqual([[[16]], [[2]], [[1]]]);
    expect(() =>
      run(`${stock}; INSERT INTO stock VALUES (hex(zeroblob(5000)), 1, 1)`, { maxBytes: 8192 }),
    ).toThrow('full');
  });

  it('draws random numbers by what it holds and by the statements', () => {
    const { bytes } = run(stock);
    const drawn = (sql: string, held: Uint8Array) => run(sql, { bytes: held }).result.rows[0]![0];
    const sql = 'SELECT random()';
    expect(drawn(sql, bytes)).toBe(drawn(sql, bytes));
    const draws = [
      drawn(sql, bytes),
      drawn(`${sql} AS x`, bytes),
      drawn(sql, run(`${stock}, ('fig', 1, 1)`).bytes),
    ];
    expect(new Set(draws).size).toBe(3);
    const many = run(
      `SELECT min(random()) < 0, max(random()) > 0, max(abs(random())) <= 2147483648 FROM (${numbers(50)})`,
    );
    expect(many.result.rows).toEqual([[1, 1, 1]]);
    const lengths = run('SELECT length(randomblob(0)), length(randomblob(7))');
    expect(lengths.result.rows).toEqual([[1, 7]]);
  });

  it('is as it was if a statement fails or a transaction does not end', () => {
    const { bytes } = run(stock);
    const before = bytes.slice();
    expect(() => run('DELETE FROM stock; SELEC', { bytes })).toThrow('syntax error');
    expect(() => run('BEGIN; DELETE FROM stock', { bytes })).toThrow('a transaction was begun and not ended');
    expect(bytes).toEqual(before);
    expect(run('BEGIN; DELETE FROM stock; COMMIT', { bytes }).result.changed).toBe(2);
  });
});

it.each([
  'attach ":memory:" AS x',
  'DETACH x',
  '/* a\nb */ -- c\n VACUUM',
  'PRAGMA max_page_count = 9',
  'PRAGMA main.max_page_count(3)',
  'PRAGMA/* c */max_page_count = 9',
  'PRAGMA--\nmax_page_count = 9',
  'PRAGMA table_infos(stock)',
])('refuses %s', (sql) => {
  expect(() => run(sql)).toThrow(/is not permitted in this database|only pragmas that read the schema/);
});

it.each([
  'PRAGMA table_info(stock)',
  ' pragma main.table_info ( stock );',
  '/* c */PRAGMA index_list(stock)',
])('reads the schema by %s', (sql) => {
  const { bytes } = run(stock);
  expect(run(sql, { bytes }).result.columns).toContain('name');
});
