import type { GraphRequest, GraphSource } from '../program-protocol.ts';

/** A graph for each of a policy's uses: scoring, values, and a few losses in turn. */
const capacity = 4;

/**
 * Knows which graphs the engine holds: calls reach it in order, so the caller's side can decide what to send and what to
 * forget. Only a handful are kept, because each keeps the memory of its largest run.
 */
export class GraphLibrary {
  /** Least recently used first. */
  readonly #known = new Set<string>();

  /** What a request must carry to run the graph `key`. */
  request(key: string, source: () => GraphSource): GraphRequest {
    const compile = this.#known.has(key) ? undefined : source();
    this.#known.delete(key);
    this.#known.add(key);
    const release = [...this.#known].slice(0, -capacity);
    for (const old of release) this.#known.delete(old);
    return { graph: key, compile, release };
  }

  /** Assumes nothing about the graph that this request sent, because it failed. */
  forget({ graph, compile }: GraphRequest): void {
    if (compile) this.#known.delete(graph);
  }
}
