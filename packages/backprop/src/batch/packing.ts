import type { Loss, TokenId, TrainingBatch, TrainingSequence } from '@rlp/core';
import { type BranchedTree, branchedCost, growBranches } from './branches.ts';
import {
  type Fill,
  fillBranches,
  fillRectangle,
  type LossGrid,
  type MicroBatch,
  type Scored,
} from './fill.ts';
import type { LayoutCosts } from './layout-costs.ts';
import { type PackingLimits, type Scoring, validateBatch, validateTokens } from './packing-validation.ts';
import { cutRectangles, type Rectangle, rectanglesCost, sizeOf } from './rectangles.ts';
import { growTrees, type Path, type Tree } from './shared-prefixes.ts';

/** A batch divided into micro-batches. Their gradients sum to the gradient of the batch. */
export interface PackedBatch {
  readonly microBatches: readonly MicroBatch[];
  /** Where the scores of each micro-batch belong. */
  readonly scored: readonly (readonly Scored[])[];
  /** Length of every sequence in the batch. */
  readonly lengths: readonly number[];
  readonly temperature: number;
}

/** Options for packing. */
export interface PackingOptions extends PackingLimits, LayoutCosts {
  /**
   * Maximum positions of a micro-batch: the rectangle of its attention, empty positions included. A longer sequence gets
   * a separate micro-batch.
   */
  readonly tokensPerMicroBatch: number;
  /** Whether sequences to train on share the computation of common prefixes. Default `'shared'`. */
  readonly trainedPrefixes?: 'shared' | 'apart';
}

/**
 * Divides a batch into micro-batches.
 *
 * Only what the loss needs is computed: the tokens up to a sequence's last trained one, prefixes that sequences share
 * once, and scores of trained tokens. Sequences without trained tokens appear in no micro-batch.
 *
 * @throws ArgumentError naming every problem of the batch at once.
 */
export function packBatch(batch: TrainingBatch, loss: Loss, options: PackingOptions): PackedBatch {
  validateBatch(batch, loss, options);
  const { sequences } = batch;
  const paths = sequences.map(({ tokens, mask }) => pathOf(tokens, mask));
  const packed = pack(paths, trainedLayout(loss, options), options, (scored) =>
    lossGrid(scored, sequences, loss),
  );
  const lengths = sequences.map(({ tokens }) => tokens.length);
  return { ...packed, lengths, temperature: sequences[0]!.temperature ?? 1 };
}

/** Packs plain sequences for scoring. Throws as {@link packBatch} does. */
export function packSequences(
  sequences: readonly (readonly TokenId[])[],
  options: PackingOptions,
  { temperature, masks, sequencesPerRow }: Scoring,
): PackedBatch {
  validateTokens('logprobs', sequences, options, { temperature, masks, sequencesPerRow });
  const paths = sequences.map((tokens, index) => pathOf(tokens, masks?.[index]));
  const lengths = sequences.map((tokens) => tokens.length);
  const layout: Layout =
    sequencesPerRow === undefined ? { claims: 'equal' } : trainedLayout({ sequencesPerRow }, options);
  return { ...pack(paths, layout, options), lengths, temperature };
}

/** What the memory of a micro-batch depends on. */
export interface MicroBatchSize extends Pick<MicroBatch, 'rows' | 'length' | 'blocks' | 'stem'> {
  readonly tokens: number;
  /** Tokens after which a score is computed. */
  readonly scored: number;
}

/** Sizes of the micro-batches that {@link packBatch} makes of these sequences. Checks nothing and fills no arrays. */
export function microBatchSizes(
  sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[],
  options: Omit<PackingOptions, keyof PackingLimits>,
  sequencesPerRow = 1,
): MicroBatchSize[] {
  const paths = sequences.map(({ tokens, mask }) => pathOf(tokens, mask));
  // Trained tokens are not shared.
  const scores = paths.map(({ claims }) => claims.reduce((sum, claim) => sum + (claim === 0 ? 0 : 1), 0));
  const scoredOf = (trees: readonly Tree[]) =>
    trees.flatMap(({ branches }) => branches).reduce((sum, { member }) => sum + scores[member]!, 0);
  const division = divide(paths, trainedLayout({ sequencesPerRow }, options), options);
  if (division.form === 'branches') {
    return division.parts.map((tree) => {
      const { branches, size: tokens, stem, length } = tree;
      return { tokens, scored: scoredOf([tree]), rows: branches.length, length, blocks: 1, stem };
    });
  }
  return division.parts.map(({ rows, length, blocks }) => {
    return { tokens: sizeOf(rows), scored: scoredOf(rows.flat()), rows: rows.length, length, blocks };
  });
}

/**
 * Packs plain sequences so that the last token is read too. Throws as {@link packBatch} does.
 *
 * {@link unpack} then gives one number per state: before each token, and after the last.
 */
export function packStates(sequences: readonly (readonly TokenId[])[], options: PackingOptions): PackedBatch {
  validateTokens('values', sequences, options, { temperature: 1 });
  const paths = sequences.map((tokens) => ({ tokens, claims: new Int32Array(tokens.length).fill(1) }));
  const lengths = sequences.map((tokens) => tokens.length + 1);
  return { ...pack(paths, { claims: 'equal' }, options), lengths, temperature: 1 };
}

/**
 * Reverses the packing of scores. Returns one array per sequence, aligned with its tokens, 0 where nothing was scored.
 *
 * @param results - Scores of each micro-batch.
 */
export function unpack(packed: PackedBatch, results: readonly Float32Array[]): Float32Array[] {
  const unpacked = packed.lengths.map((length) => new Float32Array(length));
  for (const [index, members] of packed.scored.entries()) {
    const result = results[index]!;
    for (const { member, tokens, indices } of members) {
      const target = unpacked[member]!;
      for (let i = 0; i < tokens.length; i++) target[tokens[i]!] = result[indices[i]!]!;
    }
  }
  return unpacked;
}

/** Positions up to the last token that is scored. */
function pathOf(tokens: readonly TokenId[], mask?: ArrayLike<number>): Path {
  const claims = new Int32Array(Math.max(0, tokens.length - 1));
  let length = 0;
  for (let t = 1; t < tokens.length; t++) {
    if (mask && !mask[t]) continue;
    claims[t - 1] = 1 + tokens[t]!;
    length = t;
  }
  return { tokens, claims: claims.subarray(0, length) };
}

/** What sequences of a batch share. */
interface Layout {
  readonly claims: 'exclusive' | 'equal' | 'nothing';
  /** Sequences that share a row of the loss, and so a micro-batch. */
  readonly sequencesPerRow?: number;
}

function trainedLayout(
  { sequencesPerRow = 1 }: Pick<Loss, 'sequencesPerRow'>,
  { trainedPrefixes }: Pick<PackingOptions, 'trainedPrefixes'>,
): Layout {
  return { claims: trainedPrefixes === 'apart' ? 'nothing' : 'exclusive', sequencesPerRow };
}

function pack(
  paths: readonly Path[],
  layout: Layout,
  options: PackingOptions,
  grid?: (scored: readonly Scored[]) => LossGrid,
): Pick<PackedBatch, 'microBatches' | 'scored'> {
  const division = divide(paths, layout, options);
  const filled =
    division.form === 'branches'
      ? division.parts.map((tree) => fillBranches(tree, paths))
      : division.parts.map((rectangle) => fillRectangle(rectangle, paths));
  return {
    microBatches: filled.map(({ arrays, scored }: Fill) => ({ ...arrays, loss: grid?.(scored) })),
    scored: filled.map(({ scored }) => scored),
  };
}

/** Parts of a batch that each become a micro-batch. */
type Division =
  | { readonly form: 'branches'; readonly parts: readonly BranchedTree[] }
  | { readonly form: 'rectangles'; readonly parts: readonly Rectangle[] };

function divide(
  paths: readonly Path[],
  { claims, sequencesPerRow = 1 }: Layout,
  options: Omit<PackingOptions, keyof PackingLimits>,
): Division {
  const { tokensPerMicroBatch } = options;
  const grown = (members?: readonly number[]) =>
    growTrees(paths, claims, tokensPerMicroBatch, options, members);
  const units =
    sequencesPerRow === 1
      ? grown().map((tree) => [tree])
      : rowMembers(paths.length, sequencesPerRow)
          .map(grown)
          .filter((trees) => trees.length > 0);
  const rectangles = cutRectangles(units, tokensPerMicroBatch, options);
  const branched =
    sequencesPerRow === 1 ? growBranches(paths, claims, tokensPerMicroBatch, options) : undefined;
  return branched && branchedCost(branched, options) < rectanglesCost(rectangles, options)
    ? { form: 'branches', parts: branched }
    : { form: 'rectangles', parts: rectangles };
}

/** Indices of the sequences of each row. */
function rowMembers(sequences: number, perRow: number): number[][] {
  return Array.from({ length: sequences / perRow }, (_, row) =>
    Array.from({ length: perRow }, (_, place) => row * perRow + place),
  );
}

/** What the loss reads beside scores, without tokens that are not trained. Sequences of one row stand one after another. */
function lossGrid(
  scored: readonly Scored[],
  sequences: readonly TrainingSequence[],
  { columns: names, sequencesPerRow = 1 }: Loss,
): LossGrid {
  const rows = gridRows(scored, sequencesPerRow);
  const length = Math.max(...rows.map(scoresOf));
  const zeros = () => new Float32Array(rows.length * length);
  const columns = Object.fromEntries(names.map((name) => [name, zeros()]));
  const grid = { rows: rows.length, length, mask: zeros(), weights: zeros(), columns };
  const cells = new Int32Array(rows.length * length);
  const places = new Int32Array(scoresOf(scored));
  for (const [row, members] of rows.entries()) {
    let cell = row * length;
    for (const { member, tokens, indices } of members) {
      const sequence = sequences[member]!;
      grid.mask.fill(1, cell, cell + tokens.length);
      copyTokens(grid.weights, cell, sequence.weights, tokens);
      for (const name of names) copyTokens(columns[name]!, cell, sequence.columns[name]!, tokens);
      for (let i = 0; i < tokens.length; i++, cell++) {
        cells[cell] = indices[i]!;
        places[indices[i]!] = cell;
      }
    }
  }
  return { ...grid, cells, places };
}

/** Copies the numbers of some tokens, in ascending order, to consecutive places. */
function copyTokens(
  target: Float32Array,
  start: number,
  source: ArrayLike<number>,
  tokens: readonly number[],
): void {
  const [first, last] = [tokens[0]!, tokens.at(-1)!];
  if (source instanceof Float64Array && last - first === tokens.length - 1) {
    target.set(source.subarray(first, last + 1), start);
    return;
  }
  for (let i = 0; i < tokens.length; i++) target[start + i] = source[tokens[i]!]!;
}

function gridRows(scored: readonly Scored[], perRow: number): readonly (readonly Scored[])[] {
  if (perRow === 1) return scored.map((one) => [one]);
  const rows = new Map<number, Scored[]>();
  for (const one of scored.toSorted((a, b) => a.member - b.member)) {
    const row = Math.floor(one.member / perRow);
    rows.set(row, [...(rows.get(row) ?? []), one]);
  }
  return [...rows.values()];
}

function scoresOf(scored: readonly Scored[]): number {
  return scored.reduce((sum, { tokens }) => sum + tokens.length, 0);
}
