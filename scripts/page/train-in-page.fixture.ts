import { GRPOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';

const tokenizer = characterTokenizer('abcdefgh', { begin: '<s>', end: '</s>' });

const config = parseModelConfig({
  ...{ model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 32, intermediate_size: 48 },
  ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 32 },
  ...{ rms_norm_eps: 1e-5, hidden_act: 'silu', tie_word_embeddings: true, initializer_range: 0.3 },
});

/** Trains a transformer to write the letter a, by GRPO. Returns reward, loss and gradient norm of each iteration. */
export async function learnLetter(engine: Engine): Promise<readonly (readonly number[])[]> {
  const model = createModel({ config, tokenizer, seed: 'page' });
  const backend = await createOnnxBackend({ engine, model, learningRate: 3e-3 });
  const sampler = await createOnnxSampler({ engine, model, maxSequences: 16 });
  const inference = await InferenceModule.create({ backend: sampler });
  const algorithm = new GRPOAlgorithm(
    {
      environment: new SimpleTextEnvironment(),
      rewards: rewardFunctions({ letter: ({ response }) => (response.split('a').length - 1) / 8 }),
      tasks: taskSource(
        [
          { id: 'b', prompt: 'b', metadata: {} },
          { id: 'c', prompt: 'c', metadata: {} },
        ],
        { seed: '0' },
      ),
      ...{ sampler: inference, tokenizer, backend },
    },
    { seed: '0', tasksPerIteration: 2, rollout: { groupSize: 8, sampling: { maxTokens: 8 } } },
  );
  const rows: number[][] = [];
  for await (const { metrics } of algorithm.run({ iterations: 5 })) {
    rows.push(['reward/mean', 'loss/policy', 'gradient/norm'].map((name) => metrics[name]!));
  }
  await inference.close();
  await backend.close();
  return rows;
}
