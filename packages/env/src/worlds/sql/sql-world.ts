import {
  EnvironmentError,
  importPeer,
  type OpenWorld,
  parseOptions,
  requireArguments,
  type SnapshotId,
  type Task,
  timerMs,
  type World,
} from '@rlp/core';
import type { ThreadPool } from '@rlp/sandbox/threads';
import * as z from 'zod';
import { memoryStore, type SnapshotStore } from '../snapshot-store.ts';
import type { SqlAnswer, SqlRequest, SqlResult } from './run-sql.ts';

/** Schema of the options that are data. */
export const sqlSchema = z.strictObject({
  /** Milliseconds that one call of `query` may take. Default 2000. */
  timeoutMs: timerMs.default(2_000),
  /** Rows of a result that are read. Default 100. */
  maxRows: z.int().min(1).default(100),
  /** Characters of a result that are read. Default 20000. */
  maxCharacters: z.int().min(1).default(20_000),
  /** Bytes that a database may have. Default 4194304 (4 MiB). */
  maxBytes: z.int().min(8_192).default(4_194_304),
  /** Threads that run queries. They start on first use. Default 2. */
  threads: z.int().min(1).max(64).default(2),
});

/** Options of {@link createSqlWorld}. */
export interface SqlWorldOptions<Metadata = unknown> extends z.input<typeof sqlSchema> {
  /** Statements that fill the database of a task, or the bytes of an SQLite file. Default: an empty database. */
  readonly setup?: ((task: Task<Metadata>, seed: number) => string | Uint8Array) | undefined;
  /** Keeps the contents of snapshots. Default: in memory. */
  readonly store?: SnapshotStore | undefined;
}

/** A kind of world whose threads have to be closed. */
export interface SqlWorld<Metadata = unknown> extends World<Database, Metadata>, AsyncDisposable {
  /** Ends the threads. Queries under way fail. */
  close(): Promise<void>;
}

type Ask = (bytes: Uint8Array, sql: string, signal: AbortSignal | undefined) => Promise<SqlAnswer>;

/**
 * A kind of world: an SQLite database for each episode, in WebAssembly. Needs the packages `sql.js` and `@rlp/sandbox`. Close it once you
 * are done.
 *
 * A database is its bytes, so a live world is a value. Queries run in threads that are killed when they take too long. Random numbers are a
 * function of the database and the statements, and the clock stands still. So equal calls give equal databases.
 *
 * @throws OptionsError naming every problem at once.
 */
export function createSqlWorld<Metadata = unknown>(
  options: SqlWorldOptions<Metadata> = {},
): SqlWorld<Metadata> {
  requireArguments('createSqlWorld', { options: 'object?' }, options);
  const { setup = () => '', store = memoryStore(), ...others } = options;
  const { threads, timeoutMs, ...limits } = parseOptions(
    'createSqlWorld',
    sqlSchema,
    others,
    'SqlWorldOptions',
  );
  const program = import.meta.url.endsWith('.ts') ? '../../sql.worker.ts' : './sql.worker.js';
  const settings = { program: new URL(program, import.meta.url), data: {}, name: 'sql', startMs: 60_000 };
  let pool: Promise<ThreadPool<SqlRequest, SqlAnswer>> | undefined;
  const start = async () => {
    const { ThreadPool } = await importPeer(
      'createSqlWorld',
      '@rlp/sandbox',
      () => import('@rlp/sandbox/threads'),
    );
    return new ThreadPool<SqlRequest, SqlAnswer>(settings, threads);
  };
  let isClosed = false;
  const ask: Ask = async (bytes, sql, signal) => {
    if (isClosed) throw new EnvironmentError('the SQL world is closed; open another one');
    pool ??= start();
    return (await pool).ask({ bytes, sql, ...limits }, { timeoutMs, signal });
  };
  const close = async () => {
    isClosed = true;
    await (await pool)?.close();
  };
  return {
    open: async (task, seed, signal) => {
      signal?.throwIfAborted();
      const given = setup(task, seed);
      const [bytes, sql] = typeof given === 'string' ? [new Uint8Array(), given] : [given, ''];
      return new Database((await ask(bytes, sql, signal)).bytes, ask, store);
    },
    restore: async (id, signal) => {
      signal?.throwIfAborted();
      return new Database(await store.get(id), ask, store);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A live database. */
export class Database implements OpenWorld {
  readonly #ask: Ask;
  readonly #store: SnapshotStore;
  #bytes: Uint8Array | undefined;

  /** @internal Use {@link createSqlWorld}. */
  constructor(bytes: Uint8Array, ask: Ask, store: SnapshotStore) {
    this.#bytes = bytes;
    this.#ask = ask;
    this.#store = store;
  }

  /** The database as the bytes of an SQLite file. */
  get bytes(): Uint8Array {
    if (this.#bytes === undefined) throw new EnvironmentError('the database is closed; open another one');
    return this.#bytes;
  }

  /**
   * Runs statements. All of them have an effect, or none. Returns the rows of the last one that has some. Rejects with what SQLite says
   * is wrong, or if they take too long.
   */
  async query(
    sql: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<SqlResult> {
    const { result, bytes } = await this.#ask(this.bytes, sql, signal);
    this.#bytes = bytes;
    return result;
  }

  snapshot(): Promise<SnapshotId> {
    return this.#store.put(this.bytes);
  }

  async close(): Promise<void> {
    this.#bytes = undefined;
  }
}
