import type { Loss } from '@rlp/core';
import { createModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine, type EngineOptions } from '@rlp/onnx/runtime';
import type { OnnxBackendOptions } from '../backend-options.ts';
import { createOnnxBackend } from '../create-backend.ts';
import { sequences, tokenizer } from './tiny-model.ts';

const policyLoss: Loss = {
  ...{ key: 'loss', columns: [], entropies: 'needed' },
  compute: (ops, { logprobs, entropies }) => ({
    tokenLosses: ops.sub(ops.neg(logprobs), ops.mul(entropies!, ops.constant(0.1))),
  }),
};
const valueLoss: Loss = {
  ...{ key: 'error', columns: [], values: 'only' },
  compute: (ops, { values }) => ({ tokenLosses: ops.square(ops.sub(values!, ops.constant(1))) }),
};

/** What came of it, by name. */
type TrainedNumbers = Readonly<Record<string, readonly number[]>>;

/**
 * Updates a tiny model and its critic on a provider, in two micro-batches, and returns every number that comes of it.
 *
 * Two updates use a loss on the policy, one a loss on values, and one the policy again.
 */
export async function trainedOn(
  executionProvider: NonNullable<EngineOptions['executionProvider']>,
  options: Partial<OnnxBackendOptions> = {},
): Promise<TrainedNumbers> {
  const engine = await createEngine({ thread: 'inline', executionProvider, threads: 1 });
  try {
    return await trainedIn(engine, options);
  } finally {
    await engine.close();
  }
}

async function trainedIn(engine: Engine, options: Partial<OnnxBackendOptions>): Promise<TrainedNumbers> {
  const sizes = { hidden_size: 4, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 2 };
  const config = parseModelConfig({
    ...{ model_type: 'llama', vocab_size: tokenizer.vocabularySize, ...sizes, num_key_value_heads: 1 },
    ...{ max_position_embeddings: 32, rms_norm_eps: 1e-5, hidden_act: 'silu', tie_word_embeddings: true },
    initializer_range: 0.3,
  });
  const backend = await createOnnxBackend({
    ...{ engine, model: createModel({ config, tokenizer, seed: 'tiny' }), learningRate: 0.01 },
    ...{ maxGradientNorm: 0.5, optimizer: { weightDecay: 0.1 }, tokensPerMicroBatch: 8 },
    valueHead: { shape: [1, 4], data: Float32Array.from({ length: 4 }, (_, i) => Math.sin(i)) },
    ...options,
  });
  const losses: number[] = [];
  const norms: number[] = [];
  for (const step of [policyLoss, policyLoss, valueLoss, policyLoss]) {
    losses.push((await backend.forwardBackward({ sequences }, step)).loss);
    norms.push((await backend.optimStep()).gradientNorm);
  }
  const [reference] = await backend.logprobs([sequences[0]!.tokens], { policy: 'reference' });
  const values = (await backend.values!(sequences.map(({ tokens }) => tokens))).flatMap((row) => [...row]);
  await backend.publish({ as: 'shared' });
  const published = new Map(await engine.readStore('policy'));
  const weights = [...(await backend.getWeights())].flatMap(([name, { data }]) => [
    ...data,
    ...published.get(name)!.data,
  ]);
  await backend.close();
  return { losses, norms, values, reference: [...reference!.logprobs], weights };
}
