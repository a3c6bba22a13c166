import type { Graph, TapeEntry, Value } from '../graph/graph.ts';
import { identity } from '../ops/elementwise.ts';

/** Values that a function built, with the tape and nodes that it added. */
export interface Enclosed<Outputs> {
  readonly outputs: Outputs;
  readonly tape: readonly TapeEntry[];
  readonly nodes: ReadonlySet<unknown>;
}

/**
 * Runs `build` on a separate tape.
 *
 * Values that it only passes through get an `Identity` node, so that their gradient arrives once.
 */
export function enclose<Outputs extends readonly Value[]>(
  graph: Graph,
  build: () => Outputs,
): Enclosed<Outputs> {
  const firstNode = graph.nodes.length;
  const { result, tape } = graph.withTape(() => {
    const built = build();
    const own = new Set(graph.nodes.slice(firstNode));
    const passed = (value: Value) => value.node === undefined || !own.has(value.node);
    return built.map((value) => (passed(value) ? identity(value) : value));
  });
  const nodes = new Set(graph.nodes.slice(firstNode));
  return { outputs: result as readonly Value[] as Outputs, tape, nodes };
}
