import { parseOptions } from '@rlp/core';
import { linearLayers, type ModelConfig, parameterSpecs } from '@rlp/models';
import * as z from 'zod';
import { headBlockRows } from './graphs/parameter-blocks.ts';

/** What a run would train, for {@link estimateMemory}. */
export interface MemoryQuestion {
  readonly config: ModelConfig;
  /** Rows of a micro-batch. */
  readonly rows: number;
  /** Tokens of a row. */
  readonly length: number;
  /** Whether a batch takes more than one micro-batch, which costs a second gradient buffer. Default `'one'`. */
  readonly microBatches?: 'one' | 'several';
  /** Default `'keep'`. */
  readonly activations?: 'keep' | 'recompute';
  /** Whether a reference policy is kept, and asked for its logprobs in micro-batches of this size. Default `'initial'`. */
  readonly reference?: 'initial' | 'none';
  /** `'critic'`: a model of its own whose losses read values only, so that it never computes logits. Default `'policy'`. */
  readonly purpose?: 'policy' | 'critic';
  /** Trains a low-rank correction, as the option of `createOnnxBackend`. Default: every weight is trained. */
  readonly lora?: { readonly rank?: number | undefined } | undefined;
}

const schema = z.strictObject({
  config: z.custom<ModelConfig>((value) => typeof value === 'object' && value !== null, 'expected a config'),
  rows: z.int().min(1),
  length: z.int().min(1),
  microBatches: z.enum(['one', 'several']).optional(),
  activations: z.enum(['keep', 'recompute']).optional(),
  reference: z.enum(['initial', 'none']).optional(),
  purpose: z.enum(['policy', 'critic']).optional(),
  lora: z.strictObject({ rank: z.int().min(1).default(8) }).optional(),
});

/** Bytes of a training run, by purpose. */
export interface MemoryEstimate {
  /** The caller's own copy: the weights that the loaded or created model holds. Gone with the first step if nothing refers to it. */
  readonly model: number;
  /** The engine's. */
  readonly weights: number;
  readonly reference: number;
  readonly gradients: number;
  readonly optimizer: number;
  readonly activations: number;
  readonly logits: number;
  /** Of the graph that computes the reference's logprobs. */
  readonly scoring: number;
  /** Node.js, ONNX Runtime and their code. */
  readonly runtime: number;
  readonly total: number;
  /** The same as a table with one line per purpose. */
  readonly table: string;
}

const float = 4;
const runtimeBytes = 200 * 2 ** 20;

/**
 * Peak memory of a training step, before it runs.
 *
 * Exact: weights, gradients, moments. Formulas: per token and layer the forward pass keeps `2d + 2q + 2kv` floats around
 * attention (`2d` more with layer norms), `2f` in the feed-forward block, and `heads · length` attention probabilities (d: hidden,
 * q: heads · head dimension, kv: key-value heads · head dimension, f: intermediate size); with recomputation only `d` per layer. The
 * backward pass of one layer takes about as much again. The head keeps one `[rows · length, vocabulary]` array of probabilities and, while
 * softmax runs, the logits of up to 4096 tokens; a critic's, one number per token, is left out. Scoring the reference takes two
 * such arrays, for its entropies, and about two layers.
 *
 * Against the peak resident memory of a fp32 step of full training whose caller keeps the model (Linux, onnxruntime-node 1.30, no
 * reference): 586 MiB for 640 measured (3.3 M parameters, 32 × 128 tokens), 1034 for 1083 (15 M, 8 × 256, vocabulary 32,000),
 * 3358 for 3439 (135 M, 2 × 256): within 10 %. With the reference scored: 1050 for 1082 (9.9 M, 8 × 256, vocabulary 8000), 1323
 * for 1407 (9 M, 8 × 256, vocabulary 32,000).
 *
 * @throws OptionsError naming every field that is unknown or has another value than it may.
 */
export function estimateMemory(question: MemoryQuestion): MemoryEstimate {
  const { config, rows, length, lora } = parseOptions('estimateMemory', schema, question);
  const tokens = rows * length;
  const parameters = countParameters(config);
  const critic = question.purpose === 'critic';
  const trained = lora ? countAdapterParameters(config, lora.rank) : parameters;
  const parts = {
    model: float * parameters,
    weights: float * (parameters + (lora ? parameters + trained : 0)),
    reference: question.reference === 'none' ? 0 : float * trained,
    gradients: float * trained * (question.microBatches === 'several' ? 2 : 1),
    optimizer: float * 2 * trained,
    activations: float * tokens * activationsPerToken(config, length, question.activations ?? 'keep'),
    logits: critic ? 0 : float * tokens * logitsPerToken(config),
    scoring: critic || question.reference === 'none' ? 0 : float * tokens * scoringPerToken(config, length),
    runtime: runtimeBytes,
  };
  const total = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  return { ...parts, total, table: tableOf({ ...parts, total }) };
}

/** Numbers in a decoder of this shape: matrices, norms and biases, tied output head counted once. */
export function countParameters(config: ModelConfig): number {
  const sizes = parameterSpecs(config).map(({ shape }) =>
    shape.reduce((product, length) => product * length, 1),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function countAdapterParameters(config: ModelConfig, rank: number): number {
  return linearLayers(config).reduce((sum, { inputs, outputs }) => sum + rank * (inputs + outputs), 0);
}

function activationsPerToken(config: ModelConfig, length: number, mode: 'keep' | 'recompute'): number {
  const { hiddenSize: d, layers } = config;
  const layer = layerPerToken(config, length);
  return mode === 'keep' ? (layers + 1) * layer : layers * d + 2 * layer;
}

function layerPerToken(config: ModelConfig, length: number): number {
  const { hiddenSize: d, intermediateSize: f, heads, keyValueHeads, headDimension } = config;
  const residual = config.norm.type === 'layer' ? 4 * d : 2 * d;
  return residual + 2 * (heads + keyValueHeads) * headDimension + 2 * f + heads * length;
}

function scoringPerToken(config: ModelConfig, length: number): number {
  return 2 * config.vocabularySize + 2 * layerPerToken(config, length);
}

function logitsPerToken({ vocabularySize }: ModelConfig): number {
  return vocabularySize + Math.min(vocabularySize, headBlockRows);
}

function tableOf(parts: Readonly<Record<string, number>>): string {
  const lines = Object.entries(parts).map(
    ([name, bytes]) => `${name.padEnd(12)}${(bytes / 2 ** 20).toFixed(1).padStart(10)} MiB`,
  );
  return lines.join('\n');
}
