import { ArgumentError } from '@rlp/core';
import type { Architecture, ModelConfig } from '../../config/model-config.ts';
import { decoderLayout } from '../../decoder/layout.ts';
import type { GgufType } from './quantize.ts';
import type { GgufValue } from './write-gguf.ts';

/** llama.cpp's architectures of the families that are exported. */
const architectures: Partial<Readonly<Record<Architecture, string>>> = {
  llama: 'llama',
  mistral: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
};

const fileTypes: Readonly<Record<GgufType, number>> = { F32: 0, F16: 1, Q8_0: 7, BF16: 32 };

/**
 * llama.cpp's name of a model's architecture.
 *
 * @throws ArgumentError if llama.cpp would compute something else, naming what.
 */
export function ggufArchitecture(config: ModelConfig): string {
  const name = architectures[config.architecture];
  const known = Object.keys(architectures).join(', ');
  if (name === undefined) {
    throw new ArgumentError(
      `exportGguf: expected a model of the families ${known}, got ${config.architecture}; export to merged, and convert it with llama.cpp's convert_hf_to_gguf.py`,
    );
  }
  const problem = unsupported(config, name);
  if (problem === undefined) return name;
  throw new ArgumentError(
    `exportGguf: llama.cpp's "${name}" has no ${problem}, which this model has; export to merged or onnx`,
  );
}

function unsupported(config: ModelConfig, name: string): string | undefined {
  const { biases, position, slidingWindow, contextLength } = config;
  if (slidingWindow !== undefined && slidingWindow < contextLength) return 'sliding window';
  if (config.feedForward.activation !== 'silu') return `activation ${config.feedForward.activation}`;
  if (biases.feedForward === 'bias' && name !== 'llama') return 'biases of the feed-forward half';
  if (biases.queryKeyValue === 'bias' && name === 'qwen3') return 'biases of queries, keys and values';
  if (biases.attentionOutput === 'bias' && name !== 'llama') return 'bias after attention';
  if (position.type === 'rotary' && position.scaling.type === 'longrope') return 'longrope scaling';
  const { layers } = decoderLayout(config);
  return layers.some(({ attentionInputs }) => attentionInputs.length === 1)
    ? 'joined projections'
    : undefined;
}

/** What `general` and the architecture's own keys say. */
export function ggufMetadata(
  config: ModelConfig,
  {
    architecture,
    type,
    name,
  }: { readonly architecture: string; readonly type: GgufType; readonly name: string },
): Map<string, GgufValue> {
  const own = (key: string, value: number, kind: 'uint32' | 'float32' = 'uint32') =>
    [`${architecture}.${key}`, { type: kind, value }] as const;
  return new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: architecture }],
    ['general.type', { type: 'string', value: 'model' }],
    ['general.name', { type: 'string', value: name }],
    ['general.file_type', { type: 'uint32', value: fileTypes[type] }],
    ['general.quantization_version', { type: 'uint32', value: 2 }],
    own('vocab_size', config.vocabularySize),
    own('block_count', config.layers),
    own('context_length', config.contextLength),
    own('embedding_length', config.hiddenSize),
    own('feed_forward_length', config.intermediateSize),
    own('attention.head_count', config.heads),
    own('attention.head_count_kv', config.keyValueHeads),
    own('attention.key_length', config.headDimension),
    own('attention.value_length', config.headDimension),
    own('attention.layer_norm_rms_epsilon', config.norm.epsilon, 'float32'),
    own('rope.dimension_count', config.headDimension),
    ...ropeMetadata(config, own),
  ]);
}

type Own = (key: string, value: number, kind?: 'uint32' | 'float32') => readonly [string, GgufValue];

function ropeMetadata({ position }: ModelConfig, own: Own): (readonly [string, GgufValue])[] {
  if (position.type !== 'rotary') return [];
  const { theta, scaling } = position;
  const base = own('rope.freq_base', theta, 'float32');
  if (scaling.type !== 'linear' && scaling.type !== 'yarn') return [base];
  const [key] = own('rope.scaling.type', 0);
  const kind = [key, { type: 'string', value: scaling.type }] as const;
  const factor = own('rope.scaling.factor', scaling.factor, 'float32');
  if (scaling.type === 'linear') return [base, kind, factor];
  return [
    ...[base, kind, factor],
    own('rope.scaling.original_context_length', scaling.originalContextLength),
    own('rope.scaling.yarn_beta_fast', scaling.betaFast, 'float32'),
    own('rope.scaling.yarn_beta_slow', scaling.betaSlow, 'float32'),
  ];
}
