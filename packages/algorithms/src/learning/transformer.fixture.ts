import { createOnnxBackend } from '@rlp/backprop';
import { InferenceModule, onnxBackend } from '@rlp/inference';
import { createModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { atTheTop, chain, chainTasks, tokenizer } from './chain.fixture.ts';
import { type AlgorithmName, learningCurve, type Setup } from './runs.fixture.ts';

/** A Llama of one layer and width 16 with random weights. */
function tinyModel(seed: string) {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    intermediate_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 8,
    tie_word_embeddings: false,
    initializer_range: 0.1,
  });
  return createModel({ config, tokenizer, seed });
}

/** The chain for a transformer, with another one as critic. */
async function transformerSetup(engine: Engine, seed: string): Promise<Setup> {
  const model = tinyModel(seed);
  const training = { engine, learningRate: 0.01, optimizer: { weightDecay: 0 } } as const;
  const backend = await createOnnxBackend({ ...training, model });
  const critic = await createOnnxBackend({
    ...training,
    model: tinyModel(seed),
    store: 'critic',
    reference: 'none',
    valueHead: 'linear',
  });
  const sampler = await InferenceModule.create({ backend: onnxBackend({ engine, model, maxSequences: 64 }) });
  return { environment: chain, rewards: atTheTop, backend, critic, sampler, tokenizer, tasks: chainTasks() };
}

/** Share of episodes on the chain that succeeded, for each of 10 iterations of 32 episodes of a transformer. */
export async function transformerCurve(algorithm: AlgorithmName, seed: string): Promise<number[]> {
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  try {
    const setup = await transformerSetup(engine, seed);
    return await learningCurve(algorithm, { lesson: 'chain', seed, iterations: 10 }, setup);
  } finally {
    await engine.close();
  }
}
