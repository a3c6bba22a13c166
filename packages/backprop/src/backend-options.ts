import { type HostTensor, type NamedSchema, parseOptions, withForeignNames } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { quantizedForms } from '@rlp/models/decoder';
import type { Engine } from '@rlp/onnx/runtime';
import * as z from 'zod';
import { onnxBackendNames } from './optimizer/foreign-names.ts';
import { maxGradientNormSchema, optimizerSchema } from './optimizer/options.ts';
import { scheduleSchema } from './optimizer/schedule.ts';

const given = <Type>(what: string, member?: string) =>
  z.custom<Type>(
    (value) => typeof value === 'object' && value !== null && (member === undefined || member in value),
    `expected ${what}`,
  );

/** Options that an adapter's files decide. */
const adapterShape = {
  /** Rank of the correction `(alpha/rank)·B·A`. Default 8. */
  rank: z.int().min(1).optional(),
  /** Scale of the correction. The correction is multiplied by `alpha / rank`. Default 16. */
  alpha: z.number().positive().optional(),
  /** Divides alpha by the rank, or by its square root (`'root-rank'`, rsLoRA). Default `'rank'`. */
  scaling: z.enum(['rank', 'root-rank']).optional(),
  /**
   * `'dora'` also trains the length of each row of an adapted weight. A step takes 10 to 30 % longer. It needs `base: 'float32'`, and is
   * published in merged weights and not as an adapter. Default `'lora'`.
   */
  variant: z.enum(['lora', 'dora']).optional(),
  /** Layers to adapt, by the last part of their names, such as `q_proj`. Default: every linear layer of the decoder. */
  targets: z.array(z.string().min(1)).min(1).optional(),
  /**
   * Modules that are trained in full beside the correction, by the ends of their paths, such as `lm_head`, `embed_tokens` or
   * `model.norm`. They are saved with the adapter, as PEFT's `modules_to_save`, and published in merged weights and not as an
   * adapter. If the output head is tied to the embedding, either name stands for both. Default: none.
   */
  modulesToSave: z.array(z.string().min(1)).optional(),
};

const loraFields = z
  .strictObject({
    ...adapterShape,
    /**
     * How the frozen weights are stored. `'int8'` stores the linear layers in 8 bits, in blocks of 64 that share a scale, which take
     * about a quarter of the memory. `'nf4'` stores them in 4 bits, as 4-bit NormalFloat of QLoRA, which take about a seventh. The
     * policy is then the rounded model with its correction. Requires the provider `cpu`. Default `'float32'`.
     */
    base: z.enum(['float32', ...quantizedForms]).default('float32'),
    /**
     * Share of the inputs of each correction that is set to 0 in training, from 0 to below 1. What is kept is divided by `1 − dropout`.
     * Scores, published and saved weights are without it. Prefixes that sequences share are then computed for each. Requires
     * the provider `cpu` and the variant `'lora'`. Default: that of the files of `adapter`, otherwise 0.
     */
    dropout: z.number().min(0).lt(1).optional(),
    /** Seed of the random streams that A and the masks of dropout are drawn from. Default `'lora'`. */
    seed: z.union([z.string(), z.number()]).default('lora'),
    /**
     * Folder of a PEFT adapter to continue from. Its files decide rank, alpha, scaling, variant, targets and modules. Default: a
     * correction of zero.
     */
    adapter: z.string().min(1).optional(),
    /**
     * Folder or hub name of the frozen model, written as `base_model_name_or_path`. Default: the folder that the
     * model was loaded from.
     */
    baseModel: z.string().min(1).optional(),
  })
  .superRefine((options, { addIssue }) => {
    for (const problem of loraProblems(options)) addIssue({ code: 'custom', ...problem });
    if (options.adapter === undefined) return;
    for (const name of Object.keys(adapterShape) as (keyof typeof adapterShape)[]) {
      if (options[name] === undefined) continue;
      addIssue({ code: 'custom', path: [name], message: "the files of 'adapter' decide it; leave it out" });
    }
  });

/** Low-rank correction that is trained. */
export interface BackendLoraOptions extends z.input<typeof loraFields> {}

/** Low-rank adaptation as it was asked for. */
export interface LoraOptions extends z.output<typeof loraFields> {}

const loraSchema: NamedSchema<BackendLoraOptions, LoraOptions> = loraFields;

const schema = z.strictObject({
  /** Engine that computes. Required. */
  engine: given<Engine>('an engine, from createEngine of @rlp/onnx/runtime', 'start'),
  /** Model to train. The backend copies its weights into the engine. Required. */
  model: given<LanguageModel>('a model, from loadModel or createModel of @rlp/models', 'weights'),
  /** Store that samplers share, and name prefix of the backend's other stores. Default `'policy'`. */
  store: z.string().min(1).default('policy'),
  /** Learning rate before the schedule. Required. */
  learningRate: z.number().nonnegative(),
  /** How the learning rate changes over updates. `points` take any shape. Default constant. */
  schedule: scheduleSchema.prefault({ kind: 'constant' }),
  /** Optimizer of the weights. Default: AdamW without weight decay. */
  optimizer: optimizerSchema.prefault({}),
  /** Global L2 norm that gradients are clipped to, or `'off'`. Default 1. */
  maxGradientNorm: maxGradientNormSchema.prefault(1),
  /**
   * Maximum positions of one pass, those included that only attention pads. Bounds activation memory. On the processor, passes have fewer
   * where that is faster. Default 4096.
   */
  tokensPerMicroBatch: z.int().min(1).default(4096),
  /** Trains a low-rank correction of frozen weights. `{}` selects its defaults. Default: every weight is trained. */
  lora: loraSchema.optional(),
  /** `'initial'` keeps a copy of the first policy for reference logprobs. `'none'` saves its memory. Default `'initial'`. */
  reference: z.enum(['initial', 'none']).default('initial'),
  /** `'recompute'` computes each layer again in the backward pass to save memory. Default `'keep'`. */
  activations: z.enum(['keep', 'recompute']).default('keep'),
  /**
   * `'mixed'` computes linear layers, activations and the output matrix in float16, for GPUs. Weights, norms, attention, losses,
   * sums of gradients and the optimizer's state stay in float32. Gradients are multiplied by a factor that adapts. An update whose
   * gradient overflows is left out and counted in `update/overflowed`. Processors are slower with it and
   * need more memory. It needs the variant `'lora'` and base `'float32'`. Default `'float32'`.
   */
  precision: z.enum(['float32', 'mixed']).default('float32'),
  /**
   * Adds a critic on the last hidden states. Default `'none'`.
   *
   * `'linear'` starts it at 0. A tensor from `readValueHead` starts it where another critic ended.
   */
  valueHead: z
    .union(
      [z.enum(['none', 'linear']), given<HostTensor>('a value head')],
      `expected 'none', 'linear', or a head, from readValueHead`,
    )
    .default('none'),
});

/** Schema of {@link OnnxBackendOptions}, without what options exclude each other. */
export const onnxBackendSchema = withForeignNames(schema, onnxBackendNames);

/** What options of a correction exclude each other. */
export function loraProblems({
  variant,
  base,
  dropout = 0,
}: Pick<LoraOptions, 'variant' | 'base' | 'dropout'>): {
  readonly path: string[];
  readonly message: string;
}[] {
  if (variant !== 'dora') return [];
  const bases = base === 'float32' ? [] : [{ path: ['variant'], message: "'dora' needs base 'float32'" }];
  if (dropout === 0) return bases;
  return [...bases, { path: ['dropout'], message: "is not combined with variant 'dora'; leave it out" }];
}

/** What options of a backend exclude each other, as a sentence about `precision`. */
export function precisionProblem({
  precision,
  lora,
}: {
  readonly precision?: 'float32' | 'mixed' | undefined;
  readonly lora?: { readonly base?: string | undefined; readonly variant?: string | undefined } | undefined;
}): string | undefined {
  if (precision !== 'mixed' || lora === undefined) return undefined;
  const { base = 'float32', variant } = lora;
  if (base === 'float32' && variant !== 'dora') return undefined;
  const refused = base === 'float32' ? "variant 'dora'" : `base '${base}'`;
  return `'mixed' is not combined with ${refused} of lora; leave one of them out`;
}

const exclusive = schema.superRefine((options, { addIssue }) => {
  const message = precisionProblem(options);
  if (message !== undefined) addIssue({ code: 'custom', path: ['precision'], message });
});

const checkedSchema = withForeignNames(exclusive, onnxBackendNames);

/** Schema of {@link OptimStepOptions}. */
const optimStepSchema = z.strictObject({
  /** Learning rate of this update, whatever the schedule says. Default: that of the backend. */
  learningRate: z.number().nonnegative().optional(),
  /** Optimizer of this update. Default: that of the backend. */
  optimizer: optimizerSchema.optional(),
  /** Global L2 norm that this update's gradient is clipped to, or `'off'`. Default: that of the backend. */
  maxGradientNorm: maxGradientNormSchema.optional(),
});

/** Options of one update of an {@link OnnxTrainingBackend}. */
export interface OptimStepOptions extends z.input<typeof optimStepSchema> {}

/** Checks the options of an update. Throws an OptionsError naming every problem. */
export function resolveOptimStep(options: OptimStepOptions): z.output<typeof optimStepSchema> {
  return parseOptions('optimStep', optimStepSchema, options);
}

/** Options of {@link createOnnxBackend}. */
export interface OnnxBackendOptions extends z.input<typeof onnxBackendSchema> {}

/** {@link OnnxBackendOptions} with every default filled in. */
export type ResolvedOnnxBackendOptions = z.output<typeof onnxBackendSchema>;

/** Applies defaults. Throws an OptionsError naming every problem. */
export function resolveBackendOptions(options: OnnxBackendOptions): ResolvedOnnxBackendOptions {
  return parseOptions('createOnnxBackend', checkedSchema, options);
}
