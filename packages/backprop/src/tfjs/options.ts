import { parseOptions, withForeignNames } from '@rlp/core';
import type { Architecture, LanguageModel } from '@rlp/models';
import * as z from 'zod';
import { backendNames } from '../optimizer/foreign-names.ts';
import { adamwSchema, maxGradientNormSchema } from '../optimizer/options.ts';
import { scheduleSchema } from '../optimizer/schedule.ts';
import type { TensorFlow, TfTensor } from './tensorflow.ts';

const namespaceMessage =
  'expected the namespace of TensorFlow.js: `import * as tf` from @tensorflow/tfjs, @tensorflow/tfjs-node or -gpu, or the default export where that has no names';
const loraMessage =
  'expected nothing, every weight is trained; for low-rank adaptation use createOnnxBackend of @rlp/backprop';

/** Families that `decoderLogits` computes. */
const families: readonly Architecture[] = ['llama', 'mistral', 'qwen2', 'qwen3', 'gpt2'];

const schema = z.strictObject({
  /** Namespace of TensorFlow.js. Select its backend and wait until it is ready. Required. */
  tf: z.custom<TensorFlow>(
    (value) => typeof value === 'object' && value !== null && 'valueAndGrads' in value,
    namespaceMessage,
  ),
  /** Model to train. Its weights are copied. Required. */
  model: z
    .custom<LanguageModel>(
      (value) => typeof value === 'object' && value !== null,
      'expected a model, from loadModel or createModel of @rlp/models',
    )
    .refine(({ config }) => families.includes(config.architecture) && config.layerWindows === undefined, {
      error: ({ input }) => {
        const { architecture } = (input as LanguageModel).config;
        return `expected ${families.join(', ')} with equal layers, got ${architecture}; use createOnnxBackend`;
      },
    }),
  /** Learning rate before the schedule. Required. */
  learningRate: z.number().nonnegative(),
  /** How the learning rate changes over updates. `points` take any shape. Default constant. */
  schedule: scheduleSchema.prefault({ kind: 'constant' }),
  /** Optimizer of the weights. Default: AdamW without weight decay. */
  optimizer: adamwSchema.prefault({}),
  /** Global L2 norm that gradients are clipped to, or `'off'`. Default 1. */
  maxGradientNorm: maxGradientNormSchema.prefault(1),
  /** Maximum positions of one pass, padding included. Bounds activation memory. Default 1024. */
  tokensPerMicroBatch: z.int().min(1).default(1024),
  /** Not supported. This backend trains every weight. */
  lora: z.undefined(loraMessage).optional(),
  /**
   * `'initial'` keeps a copy of the first policy for reference logprobs. `'none'` saves its memory. Default
   * `'initial'`.
   */
  reference: z.enum(['initial', 'none']).default('initial'),
});

const named = withForeignNames(schema, backendNames);

/** Options of {@link createTfjsBackend}. */
export interface TfjsBackendOptions<T extends TfTensor = TfTensor>
  extends Omit<z.input<typeof schema>, 'tf'> {
  /** Namespace of TensorFlow.js. Select its backend and wait until it is ready. Required. */
  readonly tf: TensorFlow<T>;
}

/** {@link TfjsBackendOptions} with every default filled in. */
export type ResolvedTfjsBackendOptions = z.output<typeof schema>;

/** Applies defaults. Throws an OptionsError naming every problem. */
export function resolveTfjsOptions<T extends TfTensor>(
  options: TfjsBackendOptions<T>,
): ResolvedTfjsBackendOptions {
  return parseOptions('createTfjsBackend', named, options);
}
