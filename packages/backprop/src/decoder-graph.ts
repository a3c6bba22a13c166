import { decoderHidden, headParameter, type ModelConfig, parameterSpecs, trainingBlocks } from '@rlp/models';
import type { Graph, OperatorSet, TableGradient, Value } from '@rlp/onnx';
import { corrected, type LoraTarget } from './lora.ts';
import type { DecoderBuilder, TableLookup } from './policy-graphs.ts';

/** How {@link decoderBuilder} builds. */
export interface DecoderBuilderOptions {
  readonly config: ModelConfig;
  readonly activations: 'keep' | 'recompute';
  readonly ops: OperatorSet;
  /** Low-rank corrections and their common factor. */
  readonly lora?: { readonly targets: readonly LoraTarget[]; readonly scale: number } | undefined;
}

/** Builds a model's decoder with every parameter an input of the graph. */
export function decoderBuilder({ config, activations, ops, lora }: DecoderBuilderOptions): DecoderBuilder {
  const targets = new Map((lora?.targets ?? []).map((target) => [target.layer.weight, target]));
  const shapes = new Map(parameterSpecs(config).map(({ name, shape }) => [name, shape]));
  for (const { down, up } of targets.values()) {
    shapes.set(down.name, down.shape);
    shapes.set(up.name, up.shape);
  }
  return (graph: Graph, tokens: Value, tables: TableGradient) => {
    const parameters = new Map<string, Value>();
    const parameter = (name: string): Value => {
      const known = parameters.get(name);
      if (known) return known;
      const input = graph.input(name, 'float32', shapes.get(name)!);
      parameters.set(name, input);
      return input;
    };
    let embedding: TableLookup | undefined;
    const [batch, time] = tokens.shape as [number, number];
    const blocks = trainingBlocks({
      graph,
      config,
      batch,
      time,
      parameter,
      ops,
      recompute: activations === 'recompute' ? 'layer' : 'none',
      embeddingGradient: tables,
      onEmbedding: (table, rows) => {
        embedding = { parameter: table, rows };
      },
      adapt: (layer, x, y) => {
        const target = targets.get(layer.weight);
        if (!target || !lora) return y;
        const factors = { down: parameter(target.down.name), up: parameter(target.up.name) };
        return corrected(y, x, factors, lora.scale);
      },
    });
    const hidden = decoderHidden(config, tokens, blocks);
    const head = headParameter(config);
    return {
      hidden,
      head: { parameter: head, weight: parameter(head) },
      embedding: embedding!,
      parameters,
    };
  };
}
