import type { GraphPlan } from './program-protocol.ts';

/** What a request must carry so that the engine has the graphs it names. */
export interface GraphUpdate {
  readonly compile: readonly GraphPlan[];
  /** To forget: before the request if it does not need them, else after their last use. */
  readonly release: readonly string[];
}

/** A graph that a request needs. */
export interface WantedGraph {
  /** Positions it computes, padding included: the measure of the memory it holds on to. */
  readonly positions: number;
  readonly build: () => GraphPlan;
}

/**
 * Knows which graphs the engine holds: calls reach it in order, so the caller's side can decide what to send and what to
 * forget (least recently used first). Each compiled graph keeps the memory of its activations, so what counts is their size.
 */
export class GraphLibrary {
  readonly #capacity: number;
  /** Positions by key, least recently used first. */
  readonly #known = new Map<string, number>();

  /** @param capacity - Positions of the graphs kept compiled; the last one is kept whatever its size. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The update that makes these graphs available. */
  request(graphs: ReadonlyMap<string, WantedGraph>): GraphUpdate {
    const compile = [...graphs].filter(([key]) => !this.#known.has(key)).map(([, { build }]) => build());
    for (const [key, { positions }] of graphs) {
      this.#known.delete(key);
      this.#known.set(key, positions);
    }
    const release: string[] = [];
    let room = this.#capacity;
    for (const [index, [key, positions]] of [...this.#known].reverse().entries()) {
      room -= positions;
      if (index > 0 && room < 0) release.push(key);
    }
    for (const key of release) this.#known.delete(key);
    return { compile, release };
  }

  /** Assumes nothing about these graphs any more, because the request that sent them failed. */
  forget({ compile }: GraphUpdate): void {
    for (const { key } of compile) this.#known.delete(key);
  }
}
