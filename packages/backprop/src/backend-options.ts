import { type HostTensor, parseOptions } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import * as z from 'zod';
import { maxGradientNormSchema, optimizerSchema } from './optimizer/optimizer.ts';
import { scheduleSchema } from './optimizer/schedule.ts';

const given = <Type>(what: string) =>
  z.custom<Type>((value) => typeof value === 'object' && value !== null, `expected ${what}`);

const loraSchema = z.strictObject({
  rank: z.int().min(1).default(8),
  alpha: z.number().positive().default(16),
  targets: z.array(z.string().min(1)).min(1).optional(),
  seed: z.union([z.string(), z.number()]).default('lora'),
});

const schema = z.strictObject({
  engine: given<Engine>('an engine, from createEngine of @rlp/onnx/runtime'),
  model: given<LanguageModel>('a model, from loadModel or createModel of @rlp/models'),
  store: z.string().min(1).default('policy'),
  learningRate: z.number().nonnegative(),
  schedule: scheduleSchema.prefault({ kind: 'constant' }),
  optimizer: optimizerSchema.prefault({}),
  maxGradientNorm: maxGradientNormSchema.prefault(1),
  tokensPerMicroBatch: z.int().min(1).default(4096),
  lora: loraSchema.optional(),
  reference: z.enum(['initial', 'none']).default('initial'),
  activations: z.enum(['keep', 'recompute']).default('keep'),
  valueHead: z
    .union(
      [z.enum(['none', 'linear']), given<HostTensor>('a value head')],
      `expected 'none', 'linear', or a head, from readValueHead`,
    )
    .default('none'),
});

/**
 * Options of {@link createOnnxBackend}.
 *
 * - `engine`, `model`: where and what to train. The backend copies the model's weights into the engine.
 * - `store` (`'policy'`): name of the engine's store that samplers share; other stores take it as a prefix.
 * - `learningRate` × `schedule` (constant): see {@link ScheduleOptions}.
 * - `optimizer` (AdamW): see {@link OptimizerOptions}.
 * - `maxGradientNorm` (1): global L2 norm that gradients are clipped to, or `'off'`.
 * - `tokensPerMicroBatch` (4096): positions, padding included, of one pass; bounds activation memory.
 * - `lora` (none: every weight is trained): trains a low-rank correction `W + (alpha/rank)·B·A` of frozen weights. `rank` (8),
 *   `alpha` (16), `targets` (every linear layer of attention and feed-forward, by the last part of its name such as `q_proj`),
 *   `seed` (`'lora'`) of A's random stream. `{}` takes the defaults.
 * - `reference` (`'initial'`): keep the policy as it is before its first change for `logprobs` of the reference; costs one
 *   copy of the trained weights. `'none'` saves it.
 * - `activations` (`'keep'`): `'recompute'` computes each layer again in the backward pass instead of keeping its insides.
 * - `valueHead` (`'none'`): `'linear'` adds a critic on the last hidden states, `V = score · hidden` with one row `score.weight`
 *   `[1, hidden size]`, trained with the other weights; losses may then read `values`. It starts at 0, so that a critic that
 *   has learnt nothing has no opinion and no seed; or at the row given here, as {@link readValueHead} reads it.
 */
export type OnnxBackendOptions = z.input<typeof schema>;

/** {@link OnnxBackendOptions} with every default filled in. */
export type ResolvedOnnxBackendOptions = z.output<typeof schema>;

/** Low-rank adaptation: which layers get a correction, and how large. */
export type LoraOptions = z.output<typeof loraSchema>;

/** Applies defaults. Throws an OptionsError naming every problem. */
export function resolveBackendOptions(options: OnnxBackendOptions): ResolvedOnnxBackendOptions {
  return parseOptions('createOnnxBackend', schema, options);
}
