import { createOnnxBackend, type OnnxBackendOptions } from '@rlp/backprop';
import type { FullBackend } from '@rlp/core';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';

const tags = ['<reasoning>', '</reasoning>', '<answer>', '</answer>'];

/** A Llama of 0.8 million parameters that knows digits, `+`, `=`, `,` and four tags, and nothing about them. */
export function newModel(seed: string): LanguageModel {
  const tokenizer = characterTokenizer('0123456789+=,', { begin: '<s>', end: '</s>', others: tags });
  return createModel({
    config: parseModelConfig({
      model_type: 'llama',
      architectures: ['LlamaForCausalLM'],
      vocab_size: tokenizer.vocabularySize,
      hidden_size: 128,
      num_hidden_layers: 4,
      num_attention_heads: 4,
      num_key_value_heads: 4,
      intermediate_size: 352,
      max_position_embeddings: 64,
      tie_word_embeddings: true,
      initializer_range: 0.05,
    }),
    tokenizer,
    seed,
  });
}

/** The model as something that learns and something that can be sampled: two views of the same weights in the engine. */
export interface Policy {
  readonly backend: FullBackend;
  readonly inference: InferenceModule;
  close(): Promise<void>;
}

/** How a stage updates the weights. */
export type Learning = Pick<OnnxBackendOptions, 'learningRate' | 'schedule'>;

/** Puts a model into the engine, to be trained and sampled there. */
export async function policyOf(engine: Engine, model: LanguageModel, learning: Learning): Promise<Policy> {
  const backend = await createOnnxBackend({ engine, model, ...learning, tokensPerMicroBatch: 8192 });
  const inference = await InferenceModule.create({
    backend: createOnnxSampler({ engine, model, maxSequences: 256 }),
  });
  return {
    backend,
    inference,
    async close() {
      await inference.close();
      await backend.close();
    },
  };
}
