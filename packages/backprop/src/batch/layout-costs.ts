import type { ModelConfig } from '@rlp/models';
import { linearLayers, parameterSpecs } from '@rlp/models/decoder';
import { elementCount } from '@rlp/onnx';
import type { Engine } from '@rlp/onnx/runtime';

/** Rows up to this length are computed at once. In blocks they take longer, because probabilities are computed twice. */
export const longestWhole = 512;

/** Columns of a block, about. Smaller blocks leave out more pairs and add more gradients of keys. */
export const blockColumns = 256;

/** Parts of rows whose attention is split. */
export const attentionParts = 4;

/** Parts of a stem apart from its branches. A fourth would cost as much as it saves, and take longer to compile. */
export const stemParts = 3;

/** Share of a row's pairs that its parts compute. */
const shownPairs = (attentionParts + 1) / (2 * attentionParts);

/**
 * `'blocks'` computes long rows in blocks of columns, one after the other, `'split'` in a few parts that stay in memory,
 * `'branches'` stems apart from their branches, and `'whole'` all pairs at once.
 */
export type AttentionForm = 'whole' | 'split' | 'blocks' | 'branches';

/** How attention may be computed, and what parts of a step cost, in tokens through the decoder's linear layers. */
export interface LayoutCosts {
  /** Cost of a pair of positions in attention, where some four million scores are computed at once. */
  readonly pair: number;
  /** Scores of a pair, one of each head. 0 on devices, where it does not matter how many there are at once. */
  readonly scores: number;
  /** Cost of one more micro-batch: weights and gradients are read once more, and matrix products are smaller. */
  readonly microBatch: number;
  /** `'blocks'` if rows may be computed in blocks. */
  readonly attention: 'whole' | 'blocks';
  /** What more tokens than stay in a cache cost. Default: nothing. */
  readonly activations?: {
    readonly cachedTokens: number;
    /** What each doubling beyond them adds to the cost of a token. */
    readonly doublingCost: number;
  };
  /** Longest row whose attention may be split. Default: none is. */
  readonly longestSplit?: number;
  /** Most pairs of a tree whose attention may be computed branch by branch. Default: none is. */
  readonly branchedPairs?: number;
}

/** A pair of attention has few operations, but most of them read and write memory. */
const pairSlowness = 2.5;

/** Cost of one more micro-batch where all parameters are in linear layers, as on two threads. With the number of threads, rounding would change. */
const microBatchTokens = 96;

/** Numbers of one activation that stay in a processor's cache from one operator to the next. */
const cachedNumbers = 3 * 2 ** 18;

/** Cost of an activation's number that is read from memory, for each doubling of the tokens, relative to one of a weight in a product. Measured. */
const numberCost = 70;

/** Probabilities of a row that its backward pass may keep. */
const keptProbabilities = 2 ** 25;

/** Costs of a model's steps. */
export function layoutCosts(
  config: ModelConfig,
  { executionProvider }: Pick<Engine, 'executionProvider'>,
): LayoutCosts {
  const onProcessor = executionProvider === 'cpu';
  const sizes = (shapes: readonly (readonly number[])[]) =>
    shapes.reduce((sum, shape) => sum + elementCount(shape), 0);
  const linear = sizes(linearLayers(config).map(({ inputs, outputs }) => [inputs, outputs]));
  const all = sizes(parameterSpecs(config).map(({ shape }) => shape));
  return {
    pair: (2 * pairSlowness * config.layers * config.heads * config.headDimension) / linear,
    scores: onProcessor ? config.heads : 0,
    microBatch: (microBatchTokens * all) / linear,
    attention: onProcessor ? 'blocks' : 'whole',
    ...(onProcessor && {
      activations: {
        cachedTokens: cachedNumbers / config.intermediateSize,
        doublingCost: (numberCost * config.layers * config.intermediateSize) / linear,
      },
    }),
    longestSplit: onProcessor ? longestSplit(config) : 0,
    branchedPairs: onProcessor && config.slidingWindow === undefined ? branchedPairs(config) : 0,
  };
}

/** Cost of the linear layers of a micro-batch. The more tokens at once, the more of their activations are read from memory. */
export function tokensCost(tokens: number, { activations }: LayoutCosts): number {
  if (!activations) return tokens;
  const { cachedTokens, doublingCost } = activations;
  return tokens * (1 + doublingCost * Math.max(0, Math.log2(tokens / cachedTokens)));
}

/** Longest row whose attention keeps its probabilities for the backward pass: of 512 to 1024 positions, and 128 MiB a row in all layers. */
function longestSplit(config: ModelConfig): number {
  const kept = Math.sqrt(keptPairs(config) / shownPairs);
  return Math.floor(Math.max(longestWhole, Math.min(2 * longestWhole, kept)));
}

/** As many as the longest row that is split keeps, so that the estimate of memory counts them. */
function branchedPairs(config: ModelConfig): number {
  return Math.min(keptPairs(config), shownPairs * longestSplit(config) ** 2);
}

function keptPairs({ layers, heads }: ModelConfig): number {
  return keptProbabilities / (layers * heads);
}
