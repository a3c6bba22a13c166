import { parseOptions, requireArguments, type TrainingSequence } from '@rlp/core';
import { type ModelConfig, staysInFile } from '@rlp/models';
import {
  linearLayers,
  moduleParameters,
  parameterSpecs,
  type QuantizedForm,
  quantizedBytes,
  quantizedForms,
} from '@rlp/models/decoder';
import { elementCount } from '@rlp/onnx';
import * as z from 'zod';
import { loraProblems, precisionProblem } from '../backend-options.ts';
import { layoutCosts } from '../batch/layout-costs.ts';
import { microBatchSizes, type PackingOptions } from '../batch/packing.ts';
import { optimizerSchema } from '../optimizer/options.ts';
import { withRoles } from '../optimizer/roles.ts';
import { stateBytes } from '../optimizer/state-specs.ts';
import type { TrainedParameter } from '../optimizer/update-rule.ts';
import { computedBytes } from './computed-bytes.ts';

const loraFields = z.strictObject({
  /** Rank of the correction. Default 8. */
  rank: z.int().min(1).default(8),
  /** How the frozen weights are stored, as the option `lora.base` of the backend. Default `'float32'`. */
  base: z.enum(['float32', ...quantizedForms]).default('float32'),
  /** Option `lora.variant` of the backend: `'dora'` keeps the outputs of the corrected layers. Default `'lora'`. */
  variant: z.enum(['lora', 'dora']).default('lora'),
  /** Share of inputs dropped, as the option `lora.dropout` of the backend. Above 0, masks and what they keep are held too. Default 0. */
  dropout: z.number().min(0).lt(1).default(0),
  /** Modules trained in full, as the option `lora.modulesToSave` of the backend. Default: none. */
  modulesToSave: z.array(z.string().min(1)).default([]),
});

const loraSchema = loraFields.superRefine((options, { addIssue }) => {
  for (const problem of loraProblems(options)) addIssue({ code: 'custom', ...problem });
});

const schema = z.strictObject({
  /** Shape of the model, from `loadModel` or `parseModelConfig`. Required. */
  config: z.custom<ModelConfig>(
    (value) => typeof value === 'object' && value !== null && 'position' in value,
    "expected a model's config, from loadModel or parseModelConfig",
  ),
  /** Number of sequences in an update. They have no common beginning. Required. */
  rows: z.int().min(1),
  /** Tokens in each sequence. Required. */
  length: z.int().min(1),
  /** Tokens of each sequence that are trained, so that their logprobs are computed. Default: `length`. */
  trained: z.int().min(1).optional(),
  /** Option `tokensPerMicroBatch` of the backend. Default 4096. */
  tokensPerMicroBatch: z.int().min(1).default(4096),
  /** Option `activations` of the backend: `'recompute'` saves memory. Default `'keep'`. */
  activations: z.enum(['keep', 'recompute']).default('keep'),
  /** Option `precision` of the backend: `'mixed'` counts a copy in float16 of each matrix that is multiplied. Default `'float32'`. */
  precision: z.enum(['float32', 'mixed']).default('float32'),
  /** Option `reference` of the backend: `'initial'` counts its copy and its scoring. Default `'initial'`. */
  reference: z.enum(['initial', 'none']).default('initial'),
  /** `'critic'` is a separate model whose losses read only values, so it computes no logits. Default `'policy'`. */
  purpose: z.enum(['policy', 'critic']).default('policy'),
  /** Option `optimizer` of the backend, which keeps from none to two numbers per weight. Default AdamW, which keeps two. */
  optimizer: optimizerSchema.prefault({}),
  /** Trains a low-rank correction. Default: every weight is trained. */
  lora: loraSchema.optional(),
});

const checkedSchema = schema.superRefine((options, { addIssue }) => {
  const message = precisionProblem(options);
  if (message !== undefined) addIssue({ code: 'custom', path: ['precision'], message });
});

/** What a run would train, for {@link estimateMemory}. */
export interface MemoryQuestion extends z.input<typeof schema> {}

/** The same without the batch. */
export type MemoryShape = Omit<
  z.output<typeof schema>,
  'rows' | 'length' | 'trained' | 'tokensPerMicroBatch'
>;

/** Memory of a training run in bytes, by purpose. */
export interface MemoryEstimate {
  /**
   * Weights of the loaded model in the caller's memory. Freed with the first step if nothing refers to the model. None if `loadModel`
   * leaves them in their file, as those of more than 64 MiB.
   */
  readonly model: number;
  /** Weights in the engine. */
  readonly weights: number;
  /** Copy of the trained weights for the reference policy. */
  readonly reference: number;
  /** Sum of the gradients. */
  readonly gradients: number;
  /** State of the optimizer, such as AdamW's two moments. */
  readonly optimizer: number;
  /** Activations that are kept for the backward pass, and matrices in float16. */
  readonly activations: number;
  /** Probabilities and logits of the vocabulary head. */
  readonly logits: number;
  /** Graph that computes the reference's logprobs. */
  readonly scoring: number;
  /** What ONNX Runtime's memory pool takes beside activations and logits: once it exceeds 2 GiB it fills whole GiB. */
  readonly pool: number;
  /** Node.js and ONNX Runtime. */
  readonly runtime: number;
  /** Sum of all purposes. */
  readonly total: number;
  /** Peak before the first step: the loaded model, and the weights that are made from it. */
  readonly loading: number;
  /** The same as a table with one line per purpose. */
  readonly table: string;
}

const float = 4;
const half = 2;
const runtimeBytes = 270 * 2 ** 20;
/** Bytes counted as activations that are not in the pool: measured. */
const outsidePool = 160 * 2 ** 20;
/** What a large model takes beside its weights until it is ready, such as its tokenizer and first values of a correction: measured. */
const besideLarge = 64 * 2 ** 20;
const gib = 2 ** 30;

/**
 * Estimates the peak memory of a training step before it runs.
 *
 * Weights, gradients and moments are exact. The rest is that of the largest micro-batch into which the backend divides such an update on
 * a processor, and follows from the model's shape (d: hidden size, q: heads · head dimension, kv: key-value heads · head dimension,
 * f: intermediate size):
 *
 * - Activations, in floats per token and layer: `2d + 2q + 2kv` around attention (`2d` more with layer norms), `2f` in the
 *   feed-forward block, and attention probabilities: `heads` of each pair in rows up to 512 tokens, or up to 1024 of a small model.
 *   Rows whose attention is split have five eighths of them, and `3kv` more. With recomputation, only `d`.
 * - Attention of longer rows holds the probabilities of one block of 256 columns, three times, in one layer.
 * - The backward pass of one layer takes about as much again. Holes in the memory are 20 % of all this, 15 % for corrections of low rank,
 *   and 30 % over 4 bits.
 * - The memory pool of ONNX Runtime grows by 1, 2, 4, … MiB and then by a GiB at a time. Steps fill the parts of a GiB in another
 *   order than the first step did, so that all of them are taken up.
 * - The head keeps one `[rows · trained, vocabulary]` array of probabilities. While softmax runs, it also holds the logits
 *   of up to 2048 tokens of the vocabulary. If it is not trained, it holds the arrays of two such blocks, and from 65,536 tokens on
 *   of two blocks of 4096. A critic's head has one number per token, which is ignored.
 * - Scoring the reference takes two arrays of a block's size or of a small vocabulary's twice, because of its entropies, and
 *   about two layers.
 *
 * With mixed precision, weights, sums of gradients and moments stay in float32, and so do activations on a processor, which computes
 * float16 in float32. A copy of the matrices in float16 is held beside them.
 *
 * Prefixes that sequences share are computed once. This estimate does not know of them, but `forecastMemory` of a backend does.
 *
 * Estimated and measured peak resident memory of fp32 full training (Linux, two threads, onnxruntime-node 1.30):
 *
 * | parameters | rows × tokens | vocabulary | reference | estimated MiB | measured MiB |
 * | --- | --- | --- | --- | --- | --- |
 * | 41 M | 8 × 512 | 32,000 | none | 2009 | 1983 |
 * | 41 M | 1 × 2048 | 32,000 | none | 1721 | 1690 |
 * | 15 M | 8 × 256 | 32,000 | none | 1160 | 1169 |
 * | 15 M | 8 × 256 | 32,000 | scored | 1361 | 1324 |
 * | 3.3 M | 32 × 128 | 512 | none | 429 | 423 |
 * | 0.3 M | 64 × 96 | 512 | none | 428 | 412 |
 *
 * @throws OptionsError naming every unknown or invalid field, and options that the backend does not combine.
 */
export function estimateMemory(question: MemoryQuestion): MemoryEstimate {
  const answers = parseOptions('estimateMemory', checkedSchema, question);
  const { config, length, trained = length, tokensPerMicroBatch } = answers;
  // Micro-batches of more rows are the same.
  const rows = Math.min(answers.rows, 2 * Math.ceil(tokensPerMicroBatch / length));
  const sequences = Array.from({ length: rows }, (_, row) => ({
    tokens: new Array<number>(length + 1).fill(row),
    mask: Uint8Array.from({ length: length + 1 }, (_, at) => (at > length - trained ? 1 : 0)),
  }));
  return estimateUpdate(answers, sequences, {
    ...layoutCosts(config, { executionProvider: 'cpu' }),
    tokensPerMicroBatch,
  });
}

/** Estimates an update with these sequences from the micro-batches that they are divided into. */
export function estimateUpdate(
  answers: MemoryShape,
  sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[],
  packing: Omit<PackingOptions, 'vocabularySize' | 'contextLength'>,
  sequencesPerRow?: number,
): MemoryEstimate {
  const { config, lora } = answers;
  const sizes = microBatchSizes(sequences, packing, sequencesPerRow);
  const { activations, ...scores } = computedBytes(answers, sizes, packing);
  const parameters = countParameters(config);
  const critic = answers.purpose === 'critic';
  const adapter = lora && adapterParameters(config, lora);
  const trained = adapter ? count(adapter) : parameters;
  const computed = {
    model: staysInFile(parameters) ? 0 : float * parameters,
    weights: lora ? loraWeights(config, lora, parameters, trained) : float * parameters,
    reference: answers.reference === 'none' ? 0 : float * trained,
    gradients: float * trained,
    optimizer: stateBytes(answers.optimizer, adapter ?? withRoles(config, parameterSpecs(config))),
    activations: activations + (answers.precision === 'mixed' ? half * multiplied(config, critic) : 0),
    ...scores,
  };
  const parts = {
    ...computed,
    pool: idlePool(computed.activations + computed.logits),
    runtime: runtimeBytes,
  };
  const total = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  const loading = parts.model + parts.weights + parts.runtime + (staysInFile(parameters) ? besideLarge : 0);
  return { ...parts, total, loading, table: tableOf({ ...parts, total }) };
}

/** What lies idle in a pool for so many bytes. Its first parts make up 1023 MiB, and a single GiB beside them has no order to choose. */
function idlePool(needed: number): number {
  const rest = needed - outsidePool - (gib - 2 ** 20);
  return rest <= gib ? 0 : Math.ceil(rest / gib) * gib - rest;
}

/** Number of parameters of a decoder: matrices, norms and biases. A tied output head counts once. */
export function countParameters(config: ModelConfig): number {
  requireArguments('countParameters', { config: 'object' }, config);
  return count(parameterSpecs(config));
}

/** Bytes of frozen and published weights, and of the correction. */
function loraWeights(
  config: ModelConfig,
  { base }: { readonly base: QuantizedForm | 'float32' },
  parameters: number,
  trained: number,
): number {
  const linear = linearWeights(config);
  if (base === 'float32') return float * (parameters + linear + trained);
  return float * (parameters - linear + 2 * trained) + linearBytes(config, base);
}

function linearWeights(config: ModelConfig): number {
  return linearLayers(config).reduce((sum, { inputs, outputs }) => sum + inputs * outputs, 0);
}

/** Numbers of the matrices that tokens are multiplied by. A critic has no head over the vocabulary. */
function multiplied(config: ModelConfig, critic: boolean): number {
  return linearWeights(config) + (critic ? 0 : config.vocabularySize * config.hiddenSize);
}

/** Bytes of the quantized linear layers, with their scales. */
function linearBytes(config: ModelConfig, form: QuantizedForm): number {
  return linearLayers(config).reduce((sum, layer) => sum + quantizedBytes(layer, form), 0);
}

type Correction = Pick<z.output<typeof loraSchema>, 'rank' | 'modulesToSave'>;

/** Factors of the correction and the modules that are trained in full. */
function adapterParameters(config: ModelConfig, { rank, modulesToSave }: Correction): TrainedParameter[] {
  const modules = moduleParameters(config, modulesToSave);
  const whole = new Set(modules.map(({ name }) => name));
  const factors = linearLayers(config).flatMap(({ weight, inputs, outputs }): TrainedParameter[] =>
    whole.has(weight)
      ? []
      : [
          { name: `${weight}.down`, shape: [rank, inputs], role: 'linear' },
          { name: `${weight}.up`, shape: [outputs, rank], role: 'linear' },
        ],
  );
  return [...factors, ...withRoles(config, modules)];
}

function count(tensors: readonly { readonly shape: readonly number[] }[]): number {
  return tensors.reduce((sum, { shape }) => sum + elementCount(shape), 0);
}

function tableOf(parts: Readonly<Record<string, number>>): string {
  const lines = Object.entries(parts).map(
    ([name, bytes]) => `${name.padEnd(12)}${(bytes / 2 ** 20).toFixed(1).padStart(10)} MiB`,
  );
  return lines.join('\n');
}
