import {
  ArgumentError,
  abortSignal,
  callback,
  EnvironmentError,
  messageOf,
  type OpenWorld,
  onAbort,
  orAborted,
  parseOptions,
  type SnapshotId,
  settleWithin,
  type Task,
  timerMs,
  type World,
  type WorldPoolStatistics,
  withSignals,
} from '@rlp/core';
import * as z from 'zod';
import { WorldLease } from './world-lease.ts';

const schema = z.strictObject({
  /** Live worlds at the same time, used and idle. Further turns wait. Default 16. */
  maxOpen: z.int().min(1).default(16),
  /** Milliseconds that a world may take to close. One that takes longer is a leak. Default 5000. */
  closeTimeoutMs: timerMs.default(5_000),
  /** Closes the pool with all its worlds when it aborts. Default none. */
  signal: abortSignal.optional(),
  /** Called with a sentence for each world that could not be closed. Default: `console.warn`. */
  onLeak: callback<(message: string) => void>().default(() => (message: string) => console.warn(message)),
});

/** What a turn does with a live world. */
export type UseWorld<Live extends OpenWorld, Value> = (lease: WorldLease<Live>) => Promise<Value>;

/** Options of {@link createWorldPool}. */
export interface WorldPoolOptions extends z.input<typeof schema> {}

/**
 * A pool of live worlds of one kind. Environments over worlds take one for a turn. Close it once you are done.
 *
 * No two turns share a live world. A world that a turn left behind serves the next turn of the same state, as long as there is room.
 *
 * @throws OptionsError naming every problem at once.
 */
export function createWorldPool<Live extends OpenWorld, Metadata = unknown>(
  world: World<Live, Metadata>,
  options: WorldPoolOptions = {},
): WorldPool<Live, Metadata> {
  return new WorldPool(world, parseOptions('createWorldPool', schema, options, 'WorldPoolOptions'));
}

/** See {@link createWorldPool}. */
export class WorldPool<Live extends OpenWorld = OpenWorld, Metadata = unknown> implements AsyncDisposable {
  readonly #world: World<Live, Metadata>;
  readonly #options: z.output<typeof schema>;
  readonly #controller = new AbortController();
  readonly #idle: { readonly id: SnapshotId; readonly world: Live }[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #inUse = new Set<Promise<unknown>>();
  readonly #counts = { opened: 0, restored: 0, reused: 0, leaked: 0 };
  #open = 0;

  /** @internal Use {@link createWorldPool}. */
  constructor(world: World<Live, Metadata>, options: z.output<typeof schema>) {
    this.#world = world;
    this.#options = options;
    if (options.signal) onAbort(options.signal, () => void this.close());
  }

  /** Counts since the pool was made. */
  getStatistics(): WorldPoolStatistics {
    const now = { open: this.#open, idle: this.#idle.length, waiting: this.#waiting.length };
    return { ...now, ...this.#counts };
  }

  /** Opens a new world for a task, and uses it. */
  begin<Value>(
    task: Task<Metadata>,
    seed: number,
    use: UseWorld<Live, Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const open = (own: AbortSignal) => this.#world.open(task, seed, own);
    return this.#during(signal, use, async (own) => {
      await this.#room(own);
      this.#counts.opened += 1;
      return { world: await this.#inRoom(this.#made(open, own, 'open')), id: undefined };
    });
  }

  /** Uses a live world with the content of a snapshot. Nobody else has it meanwhile. */
  use<Value>(id: SnapshotId, use: UseWorld<Live, Value>, signal?: AbortSignal): Promise<Value> {
    return this.#during(signal, use, async (own) => {
      const place = this.#idle.findIndex((idle) => idle.id === id);
      if (place >= 0) {
        this.#counts.reused += 1;
        return this.#idle.splice(place, 1)[0]!;
      }
      await this.#room(own);
      return { world: await this.#inRoom(this.#restored(id, own)), id };
    });
  }

  /** Closes all worlds. Turns that use one are given up. */
  async close(): Promise<void> {
    this.#controller.abort(new ArgumentError('WorldPool: the pool is closed; make a new one'));
    await Promise.all(this.#inUse);
    await Promise.all(this.#idle.splice(0).map(({ world }) => this.#freed(world)));
  }

  /** {@link WorldPool.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #during<Value>(
    signal: AbortSignal | undefined,
    use: UseWorld<Live, Value>,
    take: (own: AbortSignal) => Promise<{ readonly world: Live; readonly id: SnapshotId | undefined }>,
  ): Promise<Value> {
    const turn = withSignals([signal, this.#controller.signal], async (own) => {
      own.throwIfAborted();
      const { world, id } = await take(own);
      const keeper = {
        restore: (wanted: SnapshotId) => this.#restored(wanted, own),
        discard: (gone: Live) => this.#closed(gone),
      };
      const lease = new WorldLease(keeper, { world, id, signal: own });
      try {
        return await orAborted(use(lease), own);
      } finally {
        await this.#ended(lease, own);
      }
    });
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#inUse.add(settled);
    void settled.then(() => this.#inUse.delete(settled));
    return turn;
  }

  /** Keeps the world that a turn leaves behind, or closes it. */
  async #ended(lease: WorldLease<Live>, { aborted }: AbortSignal): Promise<void> {
    const { world, id } = await lease.end();
    if (world !== undefined && id !== undefined && !aborted) {
      this.#idle.push({ id, world });
      this.#waiting.shift()?.();
    } else {
      await this.#freed(world);
    }
  }

  /** Waits until one more world may be open, and counts it. */
  async #room(signal: AbortSignal): Promise<void> {
    while (this.#open >= this.#options.maxOpen) {
      const oldest = this.#idle.shift();
      if (oldest !== undefined) await this.#freed(oldest.world);
      else await this.#turnToWait(signal);
    }
    this.#open += 1;
  }

  /** A live world that room was made for. */
  async #inRoom(making: Promise<Live>): Promise<Live> {
    try {
      return await making;
    } catch (error) {
      await this.#freed(undefined);
      throw error;
    }
  }

  async #turnToWait(signal: AbortSignal): Promise<void> {
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
      this.#waiting.push(wake);
    });
    try {
      await orAborted(woken, signal);
    } catch (error) {
      const place = this.#waiting.indexOf(wake);
      if (place >= 0) this.#waiting.splice(place, 1);
      else this.#waiting.shift()?.(); // it was this one's turn already
      throw error;
    }
  }

  async #restored(id: SnapshotId, signal: AbortSignal): Promise<Live> {
    this.#counts.restored += 1;
    return this.#made((own) => this.#world.restore(id, own), signal, 'restore');
  }

  /** A new live world. One that comes after the signal is closed. */
  async #made(
    make: (signal: AbortSignal) => Promise<Live>,
    signal: AbortSignal,
    verb: 'open' | 'restore',
  ): Promise<Live> {
    const making = (async () => make(signal))();
    try {
      return await orAborted(making, signal);
    } catch (error) {
      void making.then(
        (late) => this.#closed(late),
        () => undefined,
      );
      signal.throwIfAborted();
      throw new EnvironmentError(`cannot ${verb} the world: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Closes a world and makes room for another. */
  async #freed(world: Live | undefined): Promise<void> {
    if (world !== undefined) await this.#closed(world);
    this.#open -= 1;
    this.#waiting.shift()?.();
  }

  /** Closes a world. One that does not close is a leak. */
  async #closed(world: Live): Promise<void> {
    const { closeTimeoutMs, onLeak } = this.#options;
    try {
      const closing = (async () => world.close())();
      await settleWithin(closing, new AbortController(), { timeoutMs: closeTimeoutMs });
    } catch (error) {
      this.#counts.leaked += 1;
      onLeak(
        `WorldPool: a world could not be closed and may still hold files or memory: ${messageOf(error)}`,
      );
    }
  }
}
