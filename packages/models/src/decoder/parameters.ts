import { requireArguments } from '@rlp/core';
import type { ModelConfig } from '../config/model-config.ts';
import {
  type DecoderLayer,
  decoderLayout,
  type FeedForwardLayer,
  type LinearLayer,
  type NormLayer,
} from './layout.ts';

/** One parameter of a decoder. */
export interface DecoderParameter {
  /** Name in Hugging Face checkpoints. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Role, for initialisation and for selecting what to train or decay. */
  readonly role: 'embedding' | 'weight' | 'bias' | 'norm' | 'norm-bias';
  /** Whether it is the last matrix before a residual sum: GPT-2 draws these smaller. */
  readonly place: 'residual' | 'inner';
}

/**
 * Lists the parameters of a decoder in the order of the forward pass.
 *
 * A tied head has no parameter. A checkpoint that stores the shared matrix as `lm_head.weight` is read into the
 * embedding's name.
 */
export function parameterSpecs(config: ModelConfig): readonly DecoderParameter[] {
  const layout = decoderLayout(config);
  const { hiddenSize: hidden, vocabularySize: vocabulary, contextLength: context } = config;
  const table = (name: string, rows: number): DecoderParameter => ({
    name,
    shape: [rows, hidden],
    role: 'embedding',
    place: 'inner',
  });
  return [
    table(layout.embedding, vocabulary),
    ...(layout.positionEmbedding === undefined ? [] : [table(layout.positionEmbedding, context)]),
    ...layout.layers.flatMap(layerParameters),
    ...normParameters(layout.finalNorm),
    ...(layout.head === layout.embedding
      ? []
      : [{ ...table(layout.head, vocabulary), role: 'weight' as const }]),
  ];
}

/** Lists the linear layers that LoRA adapters attach to, in the order of the forward pass. Routers of experts are not among them. */
export function linearLayers(config: ModelConfig): readonly LinearLayer[] {
  requireArguments('linearLayers', { config: 'object' }, config);
  return decoderLayout(config).layers.flatMap((layer) => [
    ...layer.attentionInputs,
    layer.attentionOutput,
    ...feedForwards(layer).flatMap(({ inputs, down }) => [...inputs, down]),
  ]);
}

/** Name of the output matrix `[vocabulary, hidden]`: the embedding's if the head is tied. */
export function headParameter(config: ModelConfig): string {
  return decoderLayout(config).head;
}

function layerParameters(layer: DecoderLayer): DecoderParameter[] {
  return [
    ...normParameters(layer.attentionNorm),
    ...layer.attentionInputs.flatMap((linear) => linearParameters(linear, 'inner')),
    ...normParameters(layer.queryNorm),
    ...normParameters(layer.keyNorm),
    ...linearParameters(layer.attentionOutput, 'residual'),
    ...normParameters(layer.attentionOutputNorm),
    ...normParameters(layer.feedForwardNorm),
    ...('router' in layer.feedForward ? linearParameters(layer.feedForward.router, 'inner') : []),
    ...feedForwards(layer).flatMap(({ inputs, down }) => [
      ...inputs.flatMap((linear) => linearParameters(linear, 'inner')),
      ...linearParameters(down, 'residual'),
    ]),
    ...normParameters(layer.feedForwardOutputNorm),
  ];
}

/** The feed-forward half, or all experts. */
function feedForwards({ feedForward }: DecoderLayer): readonly FeedForwardLayer[] {
  return 'router' in feedForward ? feedForward.experts : [feedForward];
}

function normParameters(norm: NormLayer | undefined): DecoderParameter[] {
  if (norm === undefined) return [];
  const { weight, bias, size } = norm;
  const own = { name: weight, shape: [size], role: 'norm', place: 'inner' } as const;
  return bias === undefined ? [own] : [own, { ...own, name: bias, role: 'norm-bias' }];
}

function linearParameters(layer: LinearLayer, place: DecoderParameter['place']): DecoderParameter[] {
  const { inputs, outputs, order } = layer;
  const shape = order === 'out-in' ? [outputs, inputs] : [inputs, outputs];
  const weight = { name: layer.weight, shape, role: 'weight', place } as const;
  return layer.bias === undefined
    ? [weight]
    : [weight, { name: layer.bias, shape: [outputs], role: 'bias', place }];
}
