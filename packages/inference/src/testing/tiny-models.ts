import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';

/** Characters of the tiny models. */
export const tinyTokenizer = characterTokenizer('abcdefghijklmnopqrstuvwxyz .', {
  begin: '<s>',
  end: '</s>',
});

const shared = {
  vocab_size: tinyTokenizer.vocabularySize + 2,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  hidden_act: 'silu',
  initializer_range: 0.4,
};

/** Decoders of every kind, small enough to run in milliseconds, with weights large enough to have opinions. */
export const tinyConfigs = {
  llama: { ...shared, model_type: 'llama', tie_word_embeddings: true },
  'llama, kernel rotation': { ...shared, model_type: 'llama', head_dim: 16, tie_word_embeddings: false },
  'llama, small heads': { ...shared, model_type: 'llama', head_dim: 4, tie_word_embeddings: true },
  qwen2: {
    ...shared,
    model_type: 'qwen2',
    head_dim: undefined,
    num_attention_heads: 2,
    tie_word_embeddings: true,
  },
  qwen3: { ...shared, model_type: 'qwen3', head_dim: 16, tie_word_embeddings: false },
  mistral: { ...shared, model_type: 'mistral', head_dim: 16, sliding_window: 6, tie_word_embeddings: false },
  'qwen3, experts': {
    ...shared,
    model_type: 'qwen3_moe',
    num_experts: 4,
    num_experts_per_tok: 2,
    moe_intermediate_size: 12,
    norm_topk_prob: true,
  },
  smollm3: { ...shared, model_type: 'smollm3', head_dim: 16, no_rope_layers: [1, 0] },
  olmo2: { ...shared, model_type: 'olmo2', head_dim: undefined, tie_word_embeddings: false },
  phi3: { ...shared, model_type: 'phi3', head_dim: undefined, tie_word_embeddings: false },
  gemma3: {
    ...shared,
    model_type: 'gemma3_text',
    head_dim: 16,
    rope_theta: 1e6,
    query_pre_attn_scalar: 24,
    sliding_window: 5,
    sliding_window_pattern: 2,
  },
  gpt2: {
    model_type: 'gpt2',
    vocab_size: shared.vocab_size,
    n_embd: 16,
    n_layer: 2,
    n_head: 2,
    n_positions: 64,
    n_inner: 24,
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    initializer_range: 0.4,
  },
} as const;

/** A tiny model with random weights. */
export function tinyModel(kind: keyof typeof tinyConfigs = 'llama', seed = 'tiny'): LanguageModel {
  const json = JSON.parse(JSON.stringify(tinyConfigs[kind]));
  return createModel({ config: parseModelConfig(json, kind), tokenizer: tinyTokenizer, seed });
}

const root = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));
const ofRepository = fileURLToPath(new URL('../../../../examples/models', import.meta.url));

/** Folder of a golden model: the shared one, or the repository's own. */
export function goldenFolder(name: string): string {
  const folder = join(root, 'data', name);
  return existsSync(folder) ? folder : join(ofRepository, name);
}

/** Golden models that this machine has. Prints which tests skip. */
export function goldenModels(): readonly string[] {
  const names = ['stories260k', 'tinystories656k', 'babyllama105'];
  const [present, absent] = [true, false].map((wanted) =>
    names.filter((name) => existsSync(goldenFolder(name)) === wanted),
  ) as [string[], string[]];
  if (absent.length > 0) console.warn(`skipping ${absent.join(', ')}: not in ${root}; set RLP_SHARED`);
  return present;
}

/** A case of a golden model's `golden.json`. */
export interface GoldenCase {
  readonly text: string;
  readonly input_ids: readonly number[];
  readonly token_logprobs: readonly number[];
  readonly last_entropy: number;
  readonly greedy_ids: readonly number[];
  readonly greedy_text: string;
  readonly greedy_min_top2_gap: number;
}

/** The cases of a golden model. */
export function goldenCases(name: string): readonly GoldenCase[] {
  return JSON.parse(readFileSync(join(goldenFolder(name), 'golden.json'), 'utf8')).cases;
}
