import type { GraphPlan } from './program-protocol.ts';

/** What a request must carry so that the engine has the graphs it names. */
export interface GraphUpdate {
  readonly compile: readonly GraphPlan[];
  readonly release: readonly string[];
}

/**
 * Knows which graphs the engine holds: calls reach it in order, so the caller's side can decide what to send and what to
 * forget (least recently used first).
 */
export class GraphLibrary {
  readonly #capacity: number;
  /** Least recently used first. */
  readonly #keys = new Set<string>();

  /** @param capacity - Graphs kept compiled; one request may need more for its duration. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The update that makes these graphs available; `build` makes a missing one. */
  request(graphs: ReadonlyMap<string, () => GraphPlan>): GraphUpdate {
    const compile = [...graphs].filter(([key]) => !this.#keys.has(key)).map(([, build]) => build());
    for (const key of graphs.keys()) {
      this.#keys.delete(key);
      this.#keys.add(key);
    }
    const release = [...this.#keys].slice(0, Math.max(0, this.#keys.size - this.#capacity));
    const unneeded = release.filter((key) => !graphs.has(key));
    for (const key of unneeded) this.#keys.delete(key);
    return { compile, release: unneeded };
  }

  /** Assumes nothing about these graphs any more, because the request that sent them failed. */
  forget({ compile }: GraphUpdate): void {
    for (const { key } of compile) this.#keys.delete(key);
  }
}
