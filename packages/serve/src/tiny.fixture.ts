import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig, saveModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';

const chatTemplate = `{% for message in messages %}{{ message.content }} {% endfor %}`;

/** Letters of the tiny model. */
export const letterTokenizer = characterTokenizer(
  'abcdefghijklmnopqrstuvwxyz .',
  { begin: '<s>', end: '</s>' },
  { chatTemplate },
);

const config = {
  model_type: 'llama',
  vocab_size: letterTokenizer.vocabularySize,
  ...{ hidden_size: 16, intermediate_size: 24, num_hidden_layers: 2, max_position_embeddings: 64 },
  ...{ num_attention_heads: 2, num_key_value_heads: 1, head_dim: 16, tie_word_embeddings: true },
  ...{ rms_norm_eps: 1e-5, rope_theta: 10_000, hidden_act: 'silu', initializer_range: 0.4 },
};

/** A model of random weights in a folder, and an engine that samples from it. */
export async function tinyPolicy() {
  const root = await mkdtemp(join(tmpdir(), 'rlp-serve-'));
  const folder = join(root, 'model');
  const model = createModel({
    config: parseModelConfig(config, 'tiny'),
    tokenizer: letterTokenizer,
    seed: 'tiny',
  });
  await saveModel(folder, model);
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const policy = await createOnnxSampler({ engine, model });
  const close = async () => {
    await policy.close();
    await engine.close();
    await rm(root, { recursive: true });
  };
  return { root, folder, model, engine, policy, close };
}
