import { createOnnxBackend } from '@rlp/backprop';
import { ArgumentError, parseOptions } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import type { LanguageModel } from '@rlp/models';
import { linearLayers } from '@rlp/models/decoder';
import type { Engine } from '@rlp/onnx/runtime';
import * as z from 'zod';
import type { HostedPolicy, PolicySettings, TinkerTrainer } from './trainer.ts';
import type { AdamParams } from './wire.ts';

const given = <Type>(member: string, what: string) =>
  z.custom<Type>(
    (value) => typeof value === 'object' && value !== null && member in value,
    `must be ${what}`,
  );

const schema = z.strictObject({
  /** Engine that computes, from `createEngine` of `@rlp/onnx/runtime`. Required. */
  engine: given<Engine>('start', 'an engine, from createEngine of @rlp/onnx/runtime'),
  /** Model to train and sample from, from `loadModel` of `@rlp/models`. Required. */
  model: given<LanguageModel>('weights', 'a model, from loadModel of @rlp/models'),
  /** Name under which clients ask for the model. Required. */
  modelName: z.string().min(1),
  /** Name or folder of the tokenizer, which Python clients load. Default: the folder of the model, else its name. */
  tokenizerId: z.string().min(1).optional(),
  /** Prefix of the stores' names in the engine. Default `'tinker'`. */
  store: z.string().min(1).default('tinker'),
  /** Scale of low-rank corrections, divided by their rank. Tinker's own. Default 32. */
  alpha: z.number().positive().default(32),
  /** Maximum tokens that are computed at once in training, padding included. Default 4096. */
  tokensPerMicroBatch: z.int().positive().default(4096),
  /** Maximum sequences that are sampled at once. Default 16. */
  maxSequences: z.int().positive().max(1024).default(16),
});

/** Options of {@link onnxTinkerTrainer}. */
export interface OnnxTinkerTrainerOptions extends z.input<typeof schema> {}

type Options = z.output<typeof schema>;

const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'qkv_proj', 'c_attn'];

/**
 * Trains and samples on ONNX Runtime for clients of Tinker's protocol.
 *
 * @throws OptionsError naming every problem at once.
 */
export function onnxTinkerTrainer(options: OnnxTinkerTrainerOptions): TinkerTrainer {
  const resolved = parseOptions('onnxTinkerTrainer', schema, options);
  const { engine, model, modelName, store, maxSequences } = resolved;
  return {
    modelName,
    tokenizerId: resolved.tokenizerId ?? model.folder,
    createPolicy: (settings) => createPolicy(resolved, settings),
    createSampler: (name) =>
      createOnnxSampler({ engine, model, store: `${store}/sampler ${name}`, maxSequences }),
  };
}

async function createPolicy(options: Options, settings: PolicySettings): Promise<HostedPolicy> {
  const { engine, model, store, alpha, tokensPerMicroBatch } = options;
  const { name, rank, seed } = settings;
  const backend = await createOnnxBackend({
    ...{ engine, model, tokensPerMicroBatch, store: `${store}/policy ${name}` },
    ...{ reference: 'none', learningRate: 0, maxGradientNorm: 'off' },
    ...(rank > 0 && { lora: { rank, alpha, seed, targets: targetsOf(model, settings) } }),
  });
  return {
    forwardBackward: (batch, loss) => backend.forwardBackward(batch, loss),
    logprobs: (sequences, scoring) => backend.logprobs(sequences, scoring),
    publish: (publication) => backend.publish(publication),
    saveCheckpoint: (directory) => backend.saveCheckpoint(directory),
    loadCheckpoint: (directory, restored) => backend.loadCheckpoint(directory, restored),
    update: (adam) => backend.optimStep(updateOf(adam)),
    close: () => backend.close(),
  };
}

function updateOf({ learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm }: AdamParams) {
  return {
    learningRate: learning_rate,
    optimizer: { beta1, beta2, epsilon: eps, weightDecay: weight_decay },
    maxGradientNorm: grad_clip_norm === 0 ? ('off' as const) : grad_clip_norm,
  };
}

/** Names of the layers that get a correction. */
function targetsOf({ config }: LanguageModel, { attention: inAttention, mlp }: PolicySettings): string[] {
  const known = new Set(linearLayers(config).map(({ weight }) => weight.split('.').at(-2)!));
  const chosen = [...known].filter((target) =>
    attention.includes(target) ? inAttention === 'trained' : mlp === 'trained',
  );
  if (chosen.length > 0) return chosen;
  throw new ArgumentError('create_model: expected train_attn or train_mlp, got neither');
}
