import { Graph, serialize, type Value } from '@rlp/onnx';
import { type EngineHost, type EngineSession, Tensor, type Tensors } from '@rlp/onnx/runtime';

/** Graphs over the parameters of a model, compiled once per key. On a device their outputs stay there. */
export class ParameterGraphs {
  readonly #host: EngineHost;
  readonly #sessions = new Map<string, EngineSession>();

  constructor(host: EngineHost) {
    this.#host = host;
  }

  /**
   * Runs a graph.
   *
   * @param key - Names the graph, with the shapes of the feeds.
   * @param build - Builds it at the first run, from an input for each feed. Returns its outputs.
   * @param into - Outputs that are written in place.
   */
  async run<Name extends string>(
    key: string,
    feeds: Readonly<Record<Name, Tensors[string]>>,
    build: (inputs: Readonly<Record<Name, Value>>) => Readonly<Record<string, Value>>,
    into: Tensors = {},
  ): Promise<Tensors> {
    let session = this.#sessions.get(key);
    if (!session) {
      const graph = new Graph();
      const inputs = Object.entries<Tensors[string]>(feeds).map(
        ([name, { dims }]) => [name, graph.input(name, 'float32', dims)] as const,
      );
      const outputs = build(Object.fromEntries(inputs) as Record<Name, Value>);
      for (const [name, value] of Object.entries(outputs)) graph.output(name, value);
      session = await this.#host.createSession(serialize(graph), {
        deviceOutputs: Object.keys(outputs).filter((name) => into[name] === undefined),
      });
      this.#sessions.set(key, session);
    }
    return session.run(feeds, { into });
  }

  async release(): Promise<void> {
    for (const session of this.#sessions.values()) await session.release();
    this.#sessions.clear();
  }
}

/** An input of one number `[1]`. */
export function scalar(value: number): Tensor {
  return new Tensor('float32', Float32Array.of(value), [1]);
}

/** Inputs whose names have a prefix, without it. */
export function withoutPrefix(
  prefix: string,
  inputs: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const chosen = Object.entries(inputs).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(chosen.map(([name, value]) => [name.slice(prefix.length), value]));
}
