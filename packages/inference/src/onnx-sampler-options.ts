import { ArgumentError, type ChatRenderer, parseOptions } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { type OperatorSet, operatorsOf } from '@rlp/onnx/layers';
import type { Engine } from '@rlp/onnx/runtime';
import * as z from 'zod';

const object = <Type>(description: string, member: string) =>
  z.custom<Type>((value) => value !== null && typeof value === 'object' && member in value, {
    message: `must be ${description}`,
  });

/** Schema of {@link OnnxSamplerOptions}. */
export const onnxSamplerSchema = z.strictObject({
  /** Engine that computes, from `createEngine` of `@rlp/onnx/runtime`. It stays open when the sampler closes. Required. */
  engine: object<Engine>('an engine from createEngine', 'start'),
  /** Model to sample from, from `loadModel` or `createModel` of `@rlp/models`. Required. */
  model: object<LanguageModel>('a model from loadModel or createModel', 'weights'),
  /**
   * Name of the store in the engine that holds the weights. An existing store made from this model is shared, for example with a trainer.
   * Otherwise the store is created from the model's weights. Default `'policy'`.
   *
   * The store lives until its trainer or the engine closes, or the engine deletes it. `updateWeights` writes a checkpoint into the store,
   * so it reaches everything that shares it.
   */
  store: z.string().min(1).default('policy'),
  /**
   * Maximum sequences that run at the same time. Further sequences wait. Last bits of logprobs depend on it. A sequence that is alone runs 1.3
   * to 2 times as fast if it is 1. Default 16.
   */
  maxSequences: z.int().min(1).max(1024).default(16),
  /** Maximum tokens of a prompt and its completion together. Defaults to the model's context, at most 2048. */
  contextLength: z.int().min(2).optional(),
  /**
   * How sessions hold the weights.
   *
   * `'shared'` reads them in place, so new weights cost nothing. Use it for training. `'packed'` copies them into the session. That is
   * faster, but takes time and memory per update. Use it for serving.
   *
   * `'int8'` copies the linear layers and the head in 8 bits, in blocks of 64 that share a scale. It is faster, most of all for few sequences at
   * a time. An update compiles the session again. It requires `operators: 'fused'` on the provider `cpu`. `'float16'` copies all weights
   * in half precision, and keeps keys and values in it, in half the memory. It requires the provider `cuda` or `webgpu`. With both, sampled
   * logprobs differ a little from float32 scores, so train with a sampler correction. Default `'shared'`.
   */
  weights: z.enum(['shared', 'packed', 'int8', 'float16']).default('shared'),
  /**
   * Operators of the graphs. `'fused'` uses ONNX Runtime's own operators. `'portable'` uses those of them that WebGPU has too. `'standard'`
   * uses only those of the ONNX standard. Default: the first of these that the provider has. On `cpu`, a head dimension that is not a
   * multiple of 8 needs `'standard'`.
   */
  operators: z.enum(['fused', 'portable', 'standard']).optional(),
  /**
   * Prompt tokens computed at once, padding included. Default 2048.
   *
   * Prompts of more than 64 tokens are computed in parts of at most 256. While sequences run, these parts get a share of this between two of
   * their tokens. The share is that of the waiting sequences, at least an eighth.
   */
  prefillTokens: z.int().positive().default(2048),
  /**
   * Maximum bytes of keys and values kept from earlier requests, until the weights change. A prompt with the same first tokens starts from
   * them, such as the next turn of a conversation. Rounding then depends on earlier requests, so a request may not repeat byte for byte.
   * Default 0, which keeps none.
   */
  prefixCacheBytes: z.int().nonnegative().default(0),
  /**
   * Maximum tokens guessed at once for a sequence that runs alone, if its text had the same tokens before. Guesses are computed together
   * and kept while the sampler draws the same tokens. So a completion differs by rounding at most. Faster for text that repeats its prompt,
   * such as edited code. Default 0, which guesses none.
   */
  promptLookup: z.int().min(0).max(64).default(0),
  /** Maximum tokens scored at once, padding included. A single longer sequence still runs. Default 2048. */
  scoreTokens: z.int().positive().default(2048),
  /** Renderer that turns messages into prompts. Defaults to the model's chat template. */
  renderer: object<ChatRenderer>('a chat renderer', 'render').optional(),
  /** Version of the initial weights. Default 0. */
  policyVersion: z.int().nonnegative().default(0),
});

/** Options of `createOnnxSampler`. */
export interface OnnxSamplerOptions extends z.input<typeof onnxSamplerSchema> {}

/** {@link OnnxSamplerOptions} with every default filled in. */
export type ResolvedOnnxSamplerOptions = z.output<typeof onnxSamplerSchema> & {
  readonly contextLength: number;
  readonly operators: OperatorSet;
};

/** Default of a sampler's `contextLength` for a model with this context, in tokens. */
export function defaultContext(modelContext: number): number {
  return Math.min(modelContext, 2048);
}

/**
 * Fills in defaults.
 *
 * @throws OptionsError naming every problem at once.
 * @throws ArgumentError for a context longer than that of the model.
 */
export function resolveSamplerOptions(options: OnnxSamplerOptions): ResolvedOnnxSamplerOptions {
  const resolved = parseOptions('createOnnxSampler', onnxSamplerSchema, options);
  const longest = resolved.model.config.contextLength;
  const contextLength = resolved.contextLength ?? defaultContext(longest);
  if (contextLength > longest) {
    throw new ArgumentError(
      `createOnnxSampler: contextLength is ${contextLength}, but the model supports ${longest} positions; lower it`,
    );
  }
  const operators = resolveOperators(resolved);
  const { executionProvider } = resolved.engine;
  if (resolved.weights === 'int8' && (operators !== 'fused' || executionProvider !== 'cpu')) {
    throw new ArgumentError(
      `createOnnxSampler: weights 'int8' needs operators 'fused' on the provider cpu, got '${operators}' on ${executionProvider}; use weights 'shared'`,
    );
  }
  if (resolved.weights === 'float16' && resolved.engine.residency !== 'device') {
    throw new ArgumentError(
      `createOnnxSampler: weights 'float16' needs the provider cuda or webgpu, got ${executionProvider}; use weights 'shared'`,
    );
  }
  if (resolved.prefixCacheBytes > 0 && resolved.engine.residency === 'device') {
    throw new ArgumentError(
      `createOnnxSampler: prefixCacheBytes needs the provider cpu, got ${executionProvider}; omit it`,
    );
  }
  return { ...resolved, contextLength, operators };
}

/** On the host, ONNX Runtime's grouped-query attention requires a head dimension that is a multiple of 8. */
function resolveOperators({ engine, model, operators }: z.output<typeof onnxSamplerSchema>): OperatorSet {
  const { headDimension } = model.config;
  const possible = engine.residency === 'device' || headDimension % 8 === 0;
  if (operators === 'fused' && !possible) {
    throw new ArgumentError(
      `createOnnxSampler: operators 'fused' needs a head dimension that is a multiple of 8, got ${headDimension}; omit it or use 'standard'`,
    );
  }
  return operators ?? (possible ? operatorsOf(engine.executionProvider) : 'standard');
}
