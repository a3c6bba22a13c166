import type { ModelConfig } from '@rlp/models';
import {
  decoderHidden,
  headParameter,
  type LinearLayer,
  linearLayers,
  parameterSpecs,
  type QuantizedForm,
  quantizedProduct,
  trainingBlocks,
} from '@rlp/models/decoder';
import type { Graph, Value } from '@rlp/onnx';
import type { OperatorSet } from '@rlp/onnx/layers';
import { cast, gather, where } from '@rlp/onnx/ops';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { DropoutMask } from '../program-protocol.ts';
import { corrected, relengthened } from '../weights/lora-graphs.ts';
import { type LoraTarget, trainedOf } from '../weights/merge-plan.ts';
import type { DecoderBuilder, TableLookup } from './policy-graphs.ts';

/** Options of {@link decoderBuilder}. */
export interface DecoderBuilderOptions {
  readonly config: ModelConfig;
  readonly activations: 'keep' | 'recompute';
  readonly ops: OperatorSet;
  readonly precision: 'float32' | 'mixed';
  /** Low-rank corrections and their common factor. */
  readonly lora?:
    | {
        readonly targets: readonly LoraTarget[];
        readonly scale: number;
        /** Share of the corrections' inputs that training drops. */
        readonly dropout: number;
        readonly base: QuantizedForm | 'float32';
      }
    | undefined;
  /** Row of the value head, if there is one. */
  readonly valueHead?: ParameterSpec | undefined;
}

/** Returns a builder of the model's decoder. Each parameter that is used becomes an input of the graph. */
export function decoderBuilder(options: DecoderBuilderOptions): DecoderBuilder {
  const { config, activations, ops, precision, lora, valueHead } = options;
  const innerType = precision === 'mixed' ? 'float16' : undefined;
  const targets = new Map((lora?.targets ?? []).map((target) => [target.layer.weight, target]));
  const form = lora === undefined || lora.base === 'float32' ? undefined : lora.base;
  const quantized = new Set(form ? linearLayers(config).map(({ weight }) => weight) : []);
  const shapes = shapesOf(config, lora?.targets ?? [], valueHead);
  return (graph, tokens, layout, tables, mode) => {
    const parameters = new Map<string, Value>();
    const input = (name: string, type: 'float32' | 'uint8', shape: readonly number[]) => {
      const value = parameters.get(name) ?? graph.input(name, type, shape);
      parameters.set(name, value);
      return value;
    };
    const parameter = (name: string) => input(name, 'float32', shapes.get(name)!);
    const dropout = mode === 'training' ? (lora?.dropout ?? 0) : 0;
    const { picked } = layout;
    const drop = dropper(graph, picked.rows);
    const adapt = (layer: LinearLayer, x: Value, y: Value) => {
      const target = targets.get(layer.weight);
      if (!target || !lora) return y;
      const dropped = dropout > 0 ? drop.apply(x, target) : x;
      return adapted({ target, scale: lora.scale / (1 - dropout), parameter }, dropped, y);
    };
    let embedding: TableLookup | undefined;
    const blocks = trainingBlocks({
      graph,
      config,
      layout,
      picked,
      parameter,
      ops,
      innerType,
      recompute: activations === 'recompute' ? 'layer' : 'none',
      embeddingGradient: tables,
      onEmbedding: (table, rows) => {
        embedding = { parameter: table, rows };
      },
      product: (x, layer) =>
        form && quantized.has(layer.weight) ? quantizedProduct(x, layer, form, input) : undefined,
      adapt,
    });
    const hidden = decoderHidden(config, tokens, blocks);
    const head = headParameter(config);
    return {
      hidden,
      head: { parameter: head, weight: () => parameter(head) },
      valueHead: valueHead && (() => parameter(valueHead.name)),
      embedding: embedding!,
      parameters,
      products: innerType,
      dropouts: [...drop.masks.values()].map(({ mask }) => mask),
    };
  };
}

/** A layer's output `y` with the correction of its input `x`, and in the lengths of DoRA. */
function adapted(
  {
    target,
    scale,
    parameter,
  }: {
    readonly target: LoraTarget;
    readonly scale: number;
    readonly parameter: (name: string) => Value;
  },
  x: Value,
  y: Value,
): Value {
  const { layer, down, up, magnitude } = target;
  const factor = ({ name }: ParameterSpec) => cast(parameter(name), x.type);
  const factors = { down: factor(down), up: factor(up) };
  const low = corrected(y, x, factors, scale);
  if (magnitude === undefined) return low;
  const own = {
    magnitude: parameter(magnitude.name),
    base: parameter(layer.weight),
    ...(layer.bias !== undefined && { bias: parameter(layer.bias) }),
  };
  return relengthened(low, { ...factors, ...own }, layer.order, scale);
}

/** Sets inputs of corrections to 0 where their masks say so. @param picked - Tokens of inputs that are not of all tokens. */
function dropper(graph: Graph, picked: Value) {
  const masks = new Map<string, { readonly mask: DropoutMask; readonly kept: Value }>();
  const maskOf = ({ layer, down }: LoraTarget) => {
    const mask = { parameter: down.name, input: `kept:${down.name}`, width: layer.inputs };
    const made = masks.get(mask.input) ?? {
      mask,
      kept: graph.input(mask.input, 'bool', ['tokens', mask.width]),
    };
    masks.set(mask.input, made);
    return made.kept;
  };
  const apply = (x: Value, target: LoraTarget) => {
    const kept = maskOf(target);
    return where(x.shape[0] === kept.shape[0] ? kept : gather(kept, picked), x, 0);
  };
  return { masks, apply };
}

function shapesOf(
  config: ModelConfig,
  targets: readonly LoraTarget[],
  valueHead: ParameterSpec | undefined,
): Map<string, readonly number[]> {
  const factors = targets.flatMap(trainedOf);
  const own = valueHead ? [valueHead] : [];
  return new Map([...parameterSpecs(config), ...factors, ...own].map(({ name, shape }) => [name, shape]));
}
