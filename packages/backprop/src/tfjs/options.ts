import { parseOptions } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import * as z from 'zod';
import { maxGradientNormSchema, optimizerSchema } from '../optimizer/optimizer.ts';
import { scheduleSchema } from '../optimizer/schedule.ts';
import type { TensorFlow, TfTensor } from './tensorflow.ts';

const namespaceMessage =
  'expected the namespace of TensorFlow.js: `import * as tf` from @tensorflow/tfjs, @tensorflow/tfjs-node or -gpu, or the default export where that has no names';
const loraMessage =
  'expected nothing, every weight is trained; for low-rank adaptation use createOnnxBackend of @rlp/backprop';

const schema = z.strictObject({
  tf: z.custom<TensorFlow>(
    (value) => typeof value === 'object' && value !== null && 'valueAndGrads' in value,
    namespaceMessage,
  ),
  model: z.custom<LanguageModel>(
    (value) => typeof value === 'object' && value !== null,
    'expected a model, from loadModel or createModel of @rlp/models',
  ),
  learningRate: z.number().nonnegative(),
  schedule: scheduleSchema.prefault({ kind: 'constant' }),
  optimizer: optimizerSchema.prefault({}),
  maxGradientNorm: maxGradientNormSchema.prefault(1),
  tokensPerMicroBatch: z.int().min(1).default(1024),
  lora: z.undefined(loraMessage).optional(),
  reference: z.enum(['initial', 'none']).default('initial'),
  publications: z.string().min(1).optional(),
});

/**
 * Options of {@link createTfjsBackend}.
 *
 * - `tf`: the namespace of `@tensorflow/tfjs`, `@tensorflow/tfjs-node` or `@tensorflow/tfjs-node-gpu`, its backend chosen and ready.
 * - `model`: what to train, from `loadModel` or `createModel` of `@rlp/models`. Its weights are copied.
 * - `learningRate` × `schedule` (constant): see {@link ScheduleOptions}.
 * - `optimizer` (AdamW): see {@link OptimizerOptions}.
 * - `maxGradientNorm` (1): global L2 norm that gradients are clipped to, or `'off'`.
 * - `tokensPerMicroBatch` (1024): positions, padding included, of one pass; bounds activation memory.
 * - `reference` (`'initial'`): keep the policy as it is before its first change for `logprobs` of the reference; costs one
 *   copy of the weights. `'none'` saves it.
 * - `publications` (none): directory that `publish()` writes model folders to, named by their version, the last two kept.
 *   Without it, `publish()` rejects.
 */
export interface TfjsBackendOptions<T extends TfTensor = TfTensor>
  extends Omit<z.input<typeof schema>, 'tf'> {
  readonly tf: TensorFlow<T>;
}

/** {@link TfjsBackendOptions} with every default filled in. */
export type ResolvedTfjsBackendOptions = z.output<typeof schema>;

/** Applies defaults. Throws an OptionsError naming every problem. */
export function resolveTfjsOptions<T extends TfTensor>(
  options: TfjsBackendOptions<T>,
): ResolvedTfjsBackendOptions {
  return parseOptions('createTfjsBackend', schema, options);
}
