import { requireChoice, requireFields } from '@rlp/core';
import type { Architecture, ModelConfig } from '../config/model-config.ts';

/** A linear layer: which parameters it has and how its weight is stored. */
export interface LinearLayer {
  /** Name of the weight. */
  readonly weight: string;
  /** Name of the bias `[outputs]`, if it has one. */
  readonly bias: string | undefined;
  readonly inputs: number;
  readonly outputs: number;
  /** `'out-in'`: weight `[outputs, inputs]`, `y = x Wᵀ`. `'in-out'` (GPT-2): weight `[inputs, outputs]`, `y = x W`. */
  readonly order: 'out-in' | 'in-out';
}

/** A norm: names of its parameters `[size]`. */
export interface NormLayer {
  readonly weight: string;
  readonly bias: string | undefined;
  readonly size: number;
}

/** A feed-forward half, or one expert. */
export interface FeedForwardLayer {
  /** Gate and up as two layers, gate and up as one whose outputs are split (Phi 3), or only up (GPT-2). */
  readonly inputs: readonly [gate: LinearLayer, up: LinearLayer] | readonly [LinearLayer];
  readonly down: LinearLayer;
}

/** A mixture of experts. */
export interface ExpertsLayer {
  /** Scores of the experts, `[hidden]` to `[experts]`. */
  readonly router: LinearLayer;
  readonly experts: readonly FeedForwardLayer[];
}

/** Names and shapes of one decoder layer. */
export interface DecoderLayer {
  /** Norm of attention's input. */
  readonly attentionNorm: NormLayer | undefined;
  /** Query, key and value as three layers, or as one whose outputs are split (GPT-2, Phi 3). */
  readonly attentionInputs: readonly [LinearLayer, LinearLayer, LinearLayer] | readonly [LinearLayer];
  readonly queryNorm: NormLayer | undefined;
  readonly keyNorm: NormLayer | undefined;
  readonly attentionOutput: LinearLayer;
  /** Norm of attention's output, before the residual sum. */
  readonly attentionOutputNorm: NormLayer | undefined;
  /** Norm of the feed-forward half's input. */
  readonly feedForwardNorm: NormLayer | undefined;
  /** The feed-forward half, or the experts that a router chooses from. */
  readonly feedForward: FeedForwardLayer | ExpertsLayer;
  /** Norm of the feed-forward half's output, before the residual sum. */
  readonly feedForwardOutputNorm: NormLayer | undefined;
}

/** Names and shapes of a decoder's parameters, in the order of the forward pass. */
export interface DecoderLayout {
  /** Token embeddings `[vocabulary, hidden]`. */
  readonly embedding: string;
  /** Position embeddings `[context, hidden]`, if positions are learned. */
  readonly positionEmbedding: string | undefined;
  readonly layers: readonly DecoderLayer[];
  readonly finalNorm: NormLayer;
  /** Output matrix `[vocabulary, hidden]`; the embedding itself if the head is tied. */
  readonly head: string;
}

/** How a family of checkpoints names its parameters. */
interface Naming {
  readonly base: string;
  readonly embedding: string;
  readonly positionEmbedding: string;
  readonly finalNorm: string;
  readonly layers: string;
  /** Of attention's input and output. A family has one or both. */
  readonly attentionNorms: { readonly input?: string; readonly output?: string };
  readonly attentionInputs: readonly [string, string, string] | readonly [string];
  readonly attentionOutput: string;
  /** Of the feed-forward half's input and output. */
  readonly feedForwardNorms: { readonly input?: string; readonly output?: string };
  /** Prefix of the feed-forward half. */
  readonly feedForward: string;
  readonly feedForwardInputs: readonly [gate: string, up: string] | readonly [string];
  readonly down: string;
  readonly order: LinearLayer['order'];
}

const LLAMA: Naming = {
  base: 'model',
  embedding: 'embed_tokens',
  positionEmbedding: '',
  finalNorm: 'norm',
  layers: 'layers',
  attentionNorms: { input: 'input_layernorm' },
  attentionInputs: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  attentionOutput: 'self_attn.o_proj',
  feedForwardNorms: { input: 'post_attention_layernorm' },
  feedForward: 'mlp',
  feedForwardInputs: ['gate_proj', 'up_proj'],
  down: 'down_proj',
  order: 'out-in',
};

const OLMO2: Naming = {
  ...LLAMA,
  attentionNorms: { output: 'post_attention_layernorm' },
  feedForwardNorms: { output: 'post_feedforward_layernorm' },
};

const GEMMA3: Naming = {
  ...LLAMA,
  attentionNorms: { input: 'input_layernorm', output: 'post_attention_layernorm' },
  feedForwardNorms: { input: 'pre_feedforward_layernorm', output: 'post_feedforward_layernorm' },
};

const PHI3: Naming = {
  ...LLAMA,
  attentionInputs: ['self_attn.qkv_proj'],
  feedForwardInputs: ['gate_up_proj'],
};

const GPT2: Naming = {
  base: 'transformer',
  embedding: 'wte',
  positionEmbedding: 'wpe',
  finalNorm: 'ln_f',
  layers: 'h',
  attentionNorms: { input: 'ln_1' },
  attentionInputs: ['attn.c_attn'],
  attentionOutput: 'attn.c_proj',
  feedForwardNorms: { input: 'ln_2' },
  feedForward: 'mlp',
  feedForwardInputs: ['c_fc'],
  down: 'c_proj',
  order: 'in-out',
};

const NAMINGS: Readonly<Record<Architecture, Naming>> = {
  llama: LLAMA,
  mistral: LLAMA,
  qwen2: LLAMA,
  qwen3: LLAMA,
  qwen3_moe: LLAMA,
  smollm3: LLAMA,
  olmo2: OLMO2,
  phi3: PHI3,
  gemma3_text: GEMMA3,
  gpt2: GPT2,
};

/** Name of the head's own matrix in every family, if it is not tied. */
export const SEPARATE_HEAD = 'lm_head.weight';

/** Prefix of all names but the head's, which some checkpoints leave out. */
export function basePrefix(config: ModelConfig): string {
  return `${NAMINGS[config.architecture].base}.`;
}

/** Parts and sizes of a config that every layout reads. */
const parts = {
  ...({ position: 'object', norm: 'object', feedForward: 'object', biases: 'object' } as const),
  ...({ layers: 'number', hiddenSize: 'number', intermediateSize: 'number' } as const),
  ...({
    heads: 'number',
    keyValueHeads: 'number',
    headDimension: 'number',
    vocabularySize: 'number',
  } as const),
};

/** Names and shapes of a decoder's parameters, as Hugging Face checkpoints have them. */
export function decoderLayout(config: ModelConfig): DecoderLayout {
  requireFields('decoderLayout', parts, config);
  const { experts } = config;
  if (experts !== undefined) {
    requireFields(
      'decoderLayout: experts',
      { count: 'number', intermediateSize: 'number', layers: 'object' },
      experts,
    );
    requireFields('decoderLayout: experts.layers', { has: 'function' }, experts.layers);
  }
  requireChoice('decoderLayout', 'architecture', config.architecture, Object.keys(NAMINGS));
  const naming = NAMINGS[config.architecture];
  const embedding = `${naming.base}.${naming.embedding}.weight`;
  const learned = config.position.type === 'learned';
  return {
    embedding,
    positionEmbedding: learned ? `${naming.base}.${naming.positionEmbedding}.weight` : undefined,
    layers: Array.from({ length: config.layers }, (_, index) => decoderLayer(config, naming, index)),
    finalNorm: norm(config, `${naming.base}.${naming.finalNorm}`),
    head: config.outputHead === 'tied' ? embedding : SEPARATE_HEAD,
  };
}

function norm(config: ModelConfig, name: string): NormLayer {
  const bias = config.norm.type === 'layer' ? `${name}.bias` : undefined;
  return { weight: `${name}.weight`, bias, size: config.hiddenSize };
}

/** Describes a linear layer by its name within the decoder layer. */
type MakeLinear = (name: string, inputs: number, outputs: number, bias: 'none' | 'bias') => LinearLayer;

function decoderLayer(config: ModelConfig, naming: Naming, index: number): DecoderLayer {
  const prefix = `${naming.base}.${naming.layers}.${index}`;
  const linear: MakeLinear = (name, inputs, outputs, bias) => ({
    weight: `${prefix}.${name}.weight`,
    bias: bias === 'bias' ? `${prefix}.${name}.bias` : undefined,
    inputs,
    outputs,
    order: naming.order,
  });
  const { hiddenSize: hidden, biases } = config;
  const queries = config.heads * config.headDimension;
  const keys = config.keyValueHeads * config.headDimension;
  const [first, second, third] = naming.attentionInputs;
  const headNorm = (name: string, heads: number): NormLayer | undefined => {
    if (config.queryKeyNorm === 'none') return undefined;
    const size = config.headDimension * (config.queryKeyNorm === 'whole' ? heads : 1);
    return { weight: `${prefix}.self_attn.${name}.weight`, bias: undefined, size };
  };
  const normOf = (name: string | undefined) =>
    name === undefined ? undefined : norm(config, `${prefix}.${name}`);
  return {
    attentionNorm: normOf(naming.attentionNorms.input),
    attentionInputs:
      second === undefined || third === undefined
        ? [linear(first, hidden, queries + 2 * keys, biases.queryKeyValue)]
        : [
            linear(first, hidden, queries, biases.queryKeyValue),
            linear(second, hidden, keys, biases.queryKeyValue),
            linear(third, hidden, keys, biases.queryKeyValue),
          ],
    queryNorm: headNorm('q_norm', config.heads),
    keyNorm: headNorm('k_norm', config.keyValueHeads),
    attentionOutput: linear(naming.attentionOutput, queries, hidden, biases.attentionOutput),
    attentionOutputNorm: normOf(naming.attentionNorms.output),
    feedForwardNorm: normOf(naming.feedForwardNorms.input),
    feedForward: feedForwardOrExperts(index, { config, naming, linear }),
    feedForwardOutputNorm: normOf(naming.feedForwardNorms.output),
  };
}

/** What the layers of a half are made from. */
interface HalfShape {
  readonly config: ModelConfig;
  readonly naming: Naming;
  readonly linear: MakeLinear;
}

function feedForwardOrExperts(index: number, shape: HalfShape): FeedForwardLayer | ExpertsLayer {
  const { experts, intermediateSize, hiddenSize } = shape.config;
  const prefix = shape.naming.feedForward;
  if (!experts?.layers.has(index)) return feedForward(prefix, intermediateSize, shape);
  return {
    router: shape.linear(`${prefix}.gate`, hiddenSize, experts.count, 'none'),
    experts: Array.from({ length: experts.count }, (_, expert) =>
      feedForward(`${prefix}.experts.${expert}`, experts.intermediateSize, shape),
    ),
  };
}

function feedForward(prefix: string, inner: number, { config, naming, linear }: HalfShape): FeedForwardLayer {
  const bias = config.biases.feedForward;
  const into = (name: string, outputs: number) =>
    linear(`${prefix}.${name}`, config.hiddenSize, outputs, bias);
  const [first, second] = naming.feedForwardInputs;
  const joined = config.feedForward.type === 'gated' ? 2 * inner : inner;
  return {
    inputs: second === undefined ? [into(first, joined)] : [into(first, inner), into(second, inner)],
    down: linear(`${prefix}.${naming.down}`, inner, config.hiddenSize, bias),
  };
}
