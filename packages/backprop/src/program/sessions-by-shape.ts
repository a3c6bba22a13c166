import { Graph, serialize } from '@rlp/onnx';
import type { EngineHost, EngineSession, Tensors } from '@rlp/onnx/runtime';

/** Small element-wise graphs, compiled once per shape. Their outputs stay on the device. */
export class SessionsByShape {
  readonly #host: EngineHost;
  readonly #build: (graph: Graph, shape: readonly number[]) => void;
  readonly #sessions = new Map<string, EngineSession>();

  constructor(host: EngineHost, build: (graph: Graph, shape: readonly number[]) => void) {
    this.#host = host;
    this.#build = build;
  }

  async run(shape: readonly number[], feeds: Tensors): Promise<Tensors> {
    const key = shape.join();
    let session = this.#sessions.get(key);
    if (!session) {
      const graph = new Graph();
      this.#build(graph, shape);
      session = await this.#host.createSession(serialize(graph), {
        deviceOutputs: [...graph.outputs.keys()],
      });
      this.#sessions.set(key, session);
    }
    return session.run(feeds);
  }

  async release(): Promise<void> {
    for (const session of this.#sessions.values()) await session.release();
    this.#sessions.clear();
  }
}
