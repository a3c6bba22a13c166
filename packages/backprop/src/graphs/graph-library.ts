import type { GraphRequest, GraphSource } from '../program-protocol.ts';

/** Scoring and losses in two forms of attention each, as batches alternate between them, values, and another loss. */
const capacity = 6;

/**
 * Tracks which graphs the engine holds.
 *
 * Calls reach the engine in order, so the caller can decide what to send and what to release. Only a few
 * graphs are kept, because each keeps the memory of its largest run.
 */
export class GraphLibrary {
  /** Least recently used first. */
  readonly #known = new Set<string>();

  /** Content of a request that runs the graph `key`. */
  request(key: string, source: () => GraphSource): GraphRequest {
    const compile = this.#known.has(key) ? undefined : source();
    this.#known.delete(key);
    this.#known.add(key);
    const release = [...this.#known].slice(0, -capacity);
    for (const old of release) this.#known.delete(old);
    return { graph: key, compile, release };
  }

  /** Removes the graph that this request sent, because the request failed. */
  forget({ graph, compile }: GraphRequest): void {
    if (compile) this.#known.delete(graph);
  }
}
