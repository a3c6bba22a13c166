import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Loss } from '@rlp/core';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { onnxTinkerTrainer, type ServeTinkerOptions, serveTinker } from '../tinker.ts';

/** Tokenizer of the model. */
export const tokenizer = characterTokenizer('abcdefgh', { begin: '<s>', end: '</s>' });
/** Tokens that the model knows. */
export const { vocabularySize } = tokenizer;
const config = parseModelConfig({
  ...{ model_type: 'llama', vocab_size: vocabularySize, hidden_size: 32, intermediate_size: 24 },
  ...{ num_hidden_layers: 1, num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 32 },
  ...{ rms_norm_eps: 1e-5, hidden_act: 'silu', tie_word_embeddings: true, initializer_range: 0.3 },
});
const model = createModel({ config, tokenizer, seed: 'tinker' });
/** Key of the servers. */
export const token = 'tml-0123456789abcdef';

/** Cross-entropy. */
export const nll: Loss = {
  key: 'nll',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

/** An engine, a model, and servers over them. `name` keeps its stores apart. */
export async function openFixture(name: string) {
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const root = await mkdtemp(join(tmpdir(), 'rlp-serve-tinker-'));
  let folders = 0;
  const folder = () => join(root, `folder-${folders++}`);
  let servers = 0;
  const serve = (options: Partial<ServeTinkerOptions> = {}) => {
    const trainer = onnxTinkerTrainer({ engine, model, modelName: 'tiny', store: `${name} ${servers++}` });
    return serveTinker({ trainer, directory: folder(), token, maxPolicies: 16, ...options });
  };
  const close = async () => {
    await engine.close();
    await rm(root, { recursive: true, force: true });
  };
  return { engine, model, serve, folder, close };
}
