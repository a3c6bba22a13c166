import type { ModelConfig } from '@rlp/models';
import { headParameter, linearLayers, moduleParameters, type QuantizedForm } from '@rlp/models/decoder';
import { attentionForm, pairsOf } from '../batch/attention-blocks.ts';
import { branchedPairs } from '../batch/branches.ts';
import { type AttentionForm, attentionParts, type LayoutCosts, stemParts } from '../batch/layout-costs.ts';
import type { MicroBatchSize } from '../batch/packing.ts';
import { headBlockRows, largeVocabulary } from '../graphs/parameter-blocks.ts';

/** Model that computes micro-batches, and how. */
export interface Computation {
  readonly config: ModelConfig;
  readonly activations: 'keep' | 'recompute';
  readonly reference: 'initial' | 'none';
  readonly purpose: 'policy' | 'critic';
  readonly lora?:
    | {
        readonly base: QuantizedForm | 'float32';
        readonly variant: 'lora' | 'dora';
        readonly dropout: number;
        readonly modulesToSave: readonly string[];
      }
    | undefined;
}

/** Bytes that a micro-batch takes while it is computed. */
interface ComputedBytes {
  readonly activations: number;
  readonly logits: number;
  readonly scoring: number;
}

const float = 4;
/**
 * What lies unused between activations in ONNX Runtime's memory: measured, as a share of them. Over 4 bits, activations lie where
 * larger matrices were made from their codes.
 */
const holes = { full: 0.2, float32: 0.15, int8: 0.15, nf4: 0.3 } as const;

/** Bytes of the micro-batch that takes most. None if there is no micro-batch. */
export function computedBytes(
  computation: Computation,
  microBatches: readonly MicroBatchSize[],
  costs: LayoutCosts,
): ComputedBytes {
  const form = attentionForm(microBatches, costs);
  const totalOf = ({ activations, logits, scoring }: ComputedBytes) => activations + logits + scoring;
  return microBatches
    .map((batch) => bytesOf(computation, sizeOf(batch, form, costs)))
    .reduce((most, bytes) => (totalOf(bytes) > totalOf(most) ? bytes : most), {
      ...{ activations: 0, logits: 0, scoring: 0 },
    });
}

/** What the memory of a micro-batch depends on. */
interface Size {
  readonly tokens: number;
  readonly scored: number;
  /** Pairs whose probabilities each layer keeps. */
  readonly pairs: number;
  /** Pairs whose probabilities one layer holds. */
  readonly passing: number;
  /** Copies of tokens' queries, and of their keys and values, that each layer keeps. */
  readonly copies: { readonly queries: number; readonly keys: number };
}

function sizeOf(
  { tokens, scored, rows, length, blocks, stem = 0 }: MicroBatchSize,
  form: AttentionForm,
  costs: LayoutCosts,
): Size {
  const none = { queries: 0, keys: 0 };
  const size = { tokens, scored, pairs: 0, passing: 0, copies: none };
  switch (form) {
    case 'whole':
      return { ...size, pairs: rows * length ** 2 };
    case 'split': {
      // Each part but the last has a copy of the keys up to its end.
      const keys = (rows * length * (attentionParts - 1)) / 2;
      return { ...size, pairs: rows * pairsOf(length, costs), copies: { queries: 0, keys } };
    }
    case 'branches': {
      const copies = { queries: tokens, keys: tokens + (stem * (stemParts - 1)) / 2 };
      return { ...size, pairs: branchedPairs(rows, { size: tokens, stem, length }), copies };
    }
    case 'blocks':
      return { ...size, passing: (3 * rows * length ** 2) / blocks };
  }
}

function bytesOf(computation: Computation, size: Size): ComputedBytes {
  const { config, reference, purpose } = computation;
  const activations = activationBytes(computation, size);
  if (purpose === 'critic') return { activations, logits: 0, scoring: 0 };
  const scores = size.scored * scoredLogits(config) + 2 * layerNumbers(config, size);
  return {
    activations,
    logits: float * size.scored * logitsPerToken(computation),
    scoring: reference === 'none' ? 0 : float * scores,
  };
}

function activationBytes({ config, activations, lora }: Computation, size: Size): number {
  const { tokens } = size;
  const layer = layerNumbers(config, size);
  const { layers, heads, hiddenSize } = config;
  const layersKept = activations === 'keep' ? (layers + 1) * layer : tokens * layers * hiddenSize + 2 * layer;
  const kept = float * (layersKept + heads * size.passing) * (1 + holes[lora?.base ?? 'full']);
  if (!lora) return kept;
  return (
    kept +
    (lora.variant === 'dora' ? float * tokens * outputsPerToken(config, activations) : 0) +
    // A weight is made from its bytes, or corrected to be measured.
    float * weightsAtOnce(lora) * largestLayer(config) +
    (lora.dropout > 0 ? tokens * droppedPerToken(config, activations) : 0)
  );
}

/** Numbers that the backward pass of a layer reads. */
function layerNumbers(
  { hiddenSize: d, heads, keyValueHeads, headDimension, experts, intermediateSize, norm }: ModelConfig,
  { tokens, pairs, copies }: Size,
): number {
  // Every expert is computed for every token.
  const f = experts ? experts.count * experts.intermediateSize : intermediateSize;
  const residual = norm.type === 'layer' ? 4 * d : 2 * d;
  const ofAttention = heads * (2 * tokens + copies.queries) + 2 * keyValueHeads * (tokens + copies.keys);
  return tokens * (residual + 2 * f) + headDimension * ofAttention + heads * pairs;
}

/** Matrices of the largest layer's size that are made beside the stored ones. Codes of 4 bits are 32 bits wide for a while. */
function weightsAtOnce({ base, variant }: NonNullable<Computation['lora']>): number {
  if (base === 'nf4') return 3.5;
  return base === 'int8' || variant === 'dora' ? 1 : 0;
}

/** Outputs of the linear layers that the backward pass reads. */
function outputsPerToken(config: ModelConfig, mode: 'keep' | 'recompute'): number {
  const outputs = linearLayers(config).reduce((sum, layer) => sum + layer.outputs, 0);
  return mode === 'keep' ? outputs : outputs / config.layers;
}

/** Numbers of the largest linear layer. */
function largestLayer(config: ModelConfig): number {
  return Math.max(...linearLayers(config).map(({ inputs, outputs }) => inputs * outputs));
}

/** Bytes of the inputs of corrections that dropout keeps, and of their masks. */
function droppedPerToken(config: ModelConfig, mode: 'keep' | 'recompute'): number {
  const inputs = linearLayers(config).reduce((sum, layer) => sum + layer.inputs, 0);
  return inputs + (float * inputs) / (mode === 'keep' ? 1 : config.layers);
}

/** Probabilities that a trained output matrix keeps, and logits of a block. Others hold arrays of blocks. */
function logitsPerToken({ config, lora }: Computation): number {
  const { vocabularySize } = config;
  const block = headBlockRows(vocabularySize);
  const kept = vocabularySize + Math.min(vocabularySize, block);
  const head = headParameter(config);
  const isTrained =
    lora === undefined || moduleParameters(config, lora.modulesToSave).some(({ name }) => name === head);
  return isTrained && vocabularySize < largeVocabulary ? kept : Math.min(kept, 4 * block);
}

/** Logits and probabilities that scoring holds at once, per token. */
function scoredLogits({ vocabularySize }: ModelConfig): number {
  return Math.min(2 * vocabularySize, 4 * headBlockRows(vocabularySize));
}
