import { ArgumentError, type ChatRenderer, parseOptions } from '@rlp/core';
import { type LanguageModel, maximumSequenceLength } from '@rlp/models';
import type { OperatorSet } from '@rlp/onnx';
import type { Engine } from '@rlp/onnx/runtime';
import * as z from 'zod';
import type { WeightPlacement } from './decoding/weights.ts';

/** Options of `createOnnxSampler`. */
export interface OnnxSamplerOptions {
  /** Where it computes; see `createEngine` of `@rlp/onnx/runtime`. Stays open when the backend closes. */
  readonly engine: Engine;
  /** From `loadModel` or `createModel` of `@rlp/models`. */
  readonly model: LanguageModel;
  /**
   * Store in the engine that holds the weights. Default `'policy'`. One that exists and was made from this model is shared,
   * with a trainer for example, which takes it along when it closes; else it is made from the model's weights, and stays until
   * the engine closes or deletes it. A checkpoint that is taken over is written to it, for all who share it.
   */
  readonly store?: string | undefined;
  /** Sequences that run at once; more wait. Default 16. */
  readonly maxSequences?: number | undefined;
  /** Most tokens of prompt and completion together. Default: what the model knows, at most 2048. */
  readonly contextLength?: number | undefined;
  /**
   * `'shared'` (default) reads weights in place, so new ones cost nothing: for training. `'packed'` bakes them into the
   * session, which is faster on large models and takes seconds and memory to take over new ones: for serving.
   */
  readonly weights?: WeightPlacement | undefined;
  /** `'fused'` uses ONNX Runtime's own operators. Default: `'fused'` on `cpu` where the heads' size is a multiple of 8, else `'standard'`. */
  readonly operators?: OperatorSet | undefined;
  /** Most prompt tokens, padding included, computed at once; one prompt always goes. Default 2048. */
  readonly prefillTokens?: number | undefined;
  /** Most tokens, padding included, scored at once; one sequence always goes. Default 2048. */
  readonly scoreTokens?: number | undefined;
  /** Turns messages into prompts. Default: the model's own chat template. */
  readonly renderer?: ChatRenderer | undefined;
  /** Version of the weights that are there. Default 0. */
  readonly policyVersion?: number | undefined;
}

const object = <Type>(description: string) =>
  z.custom<Type>((value) => value !== null && typeof value === 'object', {
    message: `must be ${description}`,
  });

const schema = z.strictObject({
  engine: object<Engine>('an engine from createEngine'),
  model: object<LanguageModel>('a model from loadModel or createModel'),
  store: z.string().min(1).default('policy'),
  maxSequences: z.int().min(1).max(1024).default(16),
  contextLength: z.int().min(2).optional(),
  weights: z.enum(['shared', 'packed']).default('shared'),
  operators: z.enum(['fused', 'standard']).optional(),
  prefillTokens: z.int().positive().default(2048),
  scoreTokens: z.int().positive().default(2048),
  renderer: object<ChatRenderer>('a chat renderer').optional(),
  policyVersion: z.int().nonnegative().default(0),
});

/** {@link OnnxSamplerOptions} with every default filled in. */
export type ResolvedOnnxSamplerOptions = z.output<typeof schema> & {
  readonly contextLength: number;
  readonly operators: OperatorSet;
};

/**
 * Fills in defaults.
 *
 * @throws OptionsError naming every problem at once.
 * @throws ArgumentError for a context longer than the model computes.
 */
export function resolveSamplerOptions(options: OnnxSamplerOptions): ResolvedOnnxSamplerOptions {
  const resolved = parseOptions('createOnnxSampler', schema, options);
  const longest = maximumSequenceLength(resolved.model.config);
  const contextLength = resolved.contextLength ?? Math.min(longest, 2048);
  if (contextLength > longest) {
    throw new ArgumentError(
      `createOnnxSampler: contextLength is ${contextLength}, but the model knows ${longest} positions; lower it`,
    );
  }
  return { ...resolved, contextLength, operators: resolveOperators(resolved) };
}

/** ONNX Runtime's grouped-query attention takes heads of a multiple of 8. */
function resolveOperators({ engine, model, operators }: z.output<typeof schema>): OperatorSet {
  const { headDimension } = model.config;
  const possible = headDimension % 8 === 0;
  if (operators === 'fused' && !possible) {
    throw new ArgumentError(
      `createOnnxSampler: operators is 'fused', which needs heads of a multiple of 8, but the model's have ${headDimension}; leave it out or use 'standard'`,
    );
  }
  return operators ?? (possible && engine.executionProvider === 'cpu' ? 'fused' : 'standard');
}
