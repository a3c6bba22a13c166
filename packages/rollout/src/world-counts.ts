import type { Environment, WorldPoolStatistics } from '@rlp/core';
import { plural } from '@rlp/core';

type Pools = NonNullable<Environment['pools']>;

const none = { open: 0, idle: 0, waiting: 0, opened: 0, restored: 0, reused: 0, leaked: 0 };

/** Adds up the counts of the pools of live worlds that an environment uses, and reports new leaks. */
export class WorldCounts {
  readonly #pools: Pools;
  #told: number;

  constructor(pools: Pools = []) {
    this.#pools = [...new Set(pools)];
    this.#told = this.total()?.leaked ?? 0;
  }

  /** Counts of all pools together. `undefined` if there is none. */
  total(): WorldPoolStatistics | undefined {
    if (this.#pools.length === 0) return undefined;
    const total: Record<keyof WorldPoolStatistics, number> = { ...none };
    for (const counts of this.#pools.map((pool) => pool.getStatistics()))
      for (const name of Object.keys(none) as (keyof WorldPoolStatistics)[]) total[name] += counts[name];
    return total;
  }

  /** A note if worlds leaked since the last call. */
  takeNotes(): readonly string[] {
    const leaked = this.total()?.leaked ?? 0;
    const more = leaked - this.#told;
    this.#told = leaked;
    const subject = plural(more, 'world');
    return more > 0 ? [`${subject} could not be closed and may still hold files or memory`] : [];
  }
}
