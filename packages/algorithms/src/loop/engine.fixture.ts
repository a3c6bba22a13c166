import { createOnnxBackend } from '@rlp/backprop';
import type { RewardComputer, TokenSequence } from '@rlp/core';
import { type ArithmeticMetadata, arithmeticTasks, SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { RolloutManager } from '@rlp/rollout';
import { demonstrationSequences } from '../sequence/demonstration.ts';

const tokenizer = characterTokenizer('0123456789+=', { begin: '<s>', end: '</s>' });

/** A Llama of two layers with random weights that have opinions. */
function tinyModel() {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 32,
    tie_word_embeddings: true,
    initializer_range: 0.3,
  });
  return createModel({ config, tokenizer, seed: 'engine' });
}

const tasks = arithmeticTasks({ digits: 1, count: 40, seed: 'engine' });

/** Sums with their answers. */
export const sums: readonly TokenSequence[] = tasks.flatMap(({ prompt, metadata }) =>
  demonstrationSequences({ prompt: prompt as string, completion: metadata.answer }, { tokenizer }),
);

/** The share of even digits in what was answered: random models get some. */
const evenDigits: RewardComputer<ArithmeticMetadata> = {
  computeRewards: async ({ trajectories }) =>
    trajectories.map((trajectory) => {
      const reward = [...trajectory.response].filter((letter) => '02468'.includes(letter)).length / 4;
      return { trajectory, reward, components: { even: reward } };
    }),
};

/** What may differ between two runs that must give the same numbers. */
export interface EngineVariation {
  readonly thread?: 'worker' | 'inline' | undefined;
  readonly concurrency?: number | undefined;
}

/** What may differ between runs that are different. */
export interface EngineKind extends EngineVariation {
  readonly valueHead?: 'none' | 'linear' | undefined;
}

/** A tiny model on a real engine with everything a run needs. Close it. */
export async function engineSetup({
  thread = 'inline',
  concurrency = 64,
  valueHead = 'none',
}: EngineKind = {}) {
  const engine = await createEngine({ thread, threads: 1 });
  const model = tinyModel();
  const backend = await createOnnxBackend({
    engine,
    model,
    learningRate: 0.02,
    schedule: { kind: 'linear', warmup: 2, updates: 40 },
    tokensPerMicroBatch: 128,
    valueHead,
  });
  const inference = await InferenceModule.create({
    backend: createOnnxSampler({ engine, model, maxSequences: 12 }),
  });
  const environment = new SimpleTextEnvironment<ArithmeticMetadata>();
  const rollouts = new RolloutManager(
    { environment, sampler: inference, tokenizer },
    { groupSize: 4, concurrency, sampling: { maxTokens: 4 } },
  );
  return {
    engine,
    backend,
    inference,
    rollouts,
    environment,
    tokenizer,
    tasks: taskSource(tasks, { seed: 'engine' }),
    rewards: evenDigits,
    close: () => engine.close(),
  };
}
