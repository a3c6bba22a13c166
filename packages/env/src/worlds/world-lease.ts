import { EnvironmentError, type OpenWorld, orAborted, type SnapshotId, settleWithin } from '@rlp/core';

/** What a {@link WorldLease} asks of its pool. */
export interface WorldKeeper<Live extends OpenWorld> {
  /** A new live world with the content of a snapshot. */
  restore(id: SnapshotId): Promise<Live>;
  /** Closes a live world. Never rejects. */
  discard(world: Live): Promise<void>;
}

/** A live world that one turn of one episode has for itself. */
export class WorldLease<Live extends OpenWorld> {
  readonly #keeper: WorldKeeper<Live>;
  readonly #signal: AbortSignal;
  #world: Live | undefined;
  #id: SnapshotId | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  /** @param held.id - Snapshot of the world, if there is one already. */
  constructor(
    keeper: WorldKeeper<Live>,
    held: { readonly world: Live; readonly id: SnapshotId | undefined; readonly signal: AbortSignal },
  ) {
    this.#keeper = keeper;
    this.#world = held.world;
    this.#id = held.id;
    this.#signal = held.signal;
  }

  /** Snapshot of the world as it is now. */
  snapshot(): Promise<SnapshotId> {
    return this.#inTurn(async () => {
      this.#id ??= await this.#snapshotOf(await this.#live());
      return this.#id;
    });
  }

  /**
   * Acts in the world and takes a snapshot. Work that throws or is given up has no effect: the world is as it was before. One piece of work
   * runs after the other.
   *
   * @param signal - Gives up the work.
   */
  act<Value>(
    work: (world: Live) => Value | Promise<Value>,
    signal: AbortSignal = this.#signal,
  ): Promise<Value> {
    return this.#inTurn(() => this.#acted(work, signal));
  }

  /** Reads the world, without a snapshot. */
  read<Value>(work: (world: Live) => Value | Promise<Value>): Promise<Value> {
    return this.#inTurn(async () => {
      const world = await this.#live();
      return orAborted((async () => work(world))(), this.#signal);
    });
  }

  /** Throws if the world was lost and could not be restored, whatever was told about it meanwhile. */
  requireWorld(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Ends the lease. Returns the live world unless it is gone, and its snapshot. */
  async end(): Promise<{ readonly world: Live | undefined; readonly id: SnapshotId | undefined }> {
    await this.#last;
    return { world: this.#world, id: this.#id };
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #acted<Value>(work: (world: Live) => Value | Promise<Value>, signal: AbortSignal): Promise<Value> {
    const world = await this.#live();
    const controller = new AbortController();
    let isGivenUp = true;
    const working = (async () => {
      try {
        const value = await work(world);
        return { value, id: await world.snapshot(controller.signal) };
      } finally {
        isGivenUp = false;
      }
    })();
    try {
      const { value, id } = await settleWithin(working, controller, { signal });
      this.#id = id;
      return value;
    } catch (error) {
      if (isGivenUp || !(await this.#isUnchanged(world))) {
        this.#world = undefined;
        await this.#keeper.discard(world);
      }
      throw error;
    }
  }

  async #isUnchanged(world: Live): Promise<boolean> {
    try {
      return (await this.#snapshotOf(world)) === this.#id;
    } catch {
      return false;
    }
  }

  #snapshotOf(world: Live): Promise<SnapshotId> {
    return orAborted(world.snapshot(this.#signal), this.#signal);
  }

  async #live(): Promise<Live> {
    if (this.#world !== undefined) return this.#world;
    if (this.#id === undefined)
      throw new EnvironmentError('the world is gone, and it had no snapshot yet; begin the episode again');
    try {
      this.#world = await this.#keeper.restore(this.#id);
      return this.#world;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
