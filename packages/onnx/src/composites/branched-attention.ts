import { ArgumentError, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { defineOp, type Graph, type Value } from '../graph/graph.ts';
import type { Dimension } from '../graph/shape.ts';
import { add, mul, sub } from '../ops/arithmetic.ts';
import { log, sigmoid } from '../ops/elementwise.ts';
import { range } from '../ops/indexing.ts';
import { concat, split } from '../ops/layout.ts';
import { applyOne } from '../ops/operand.ts';
import { reduceMax } from '../ops/reduction.ts';
import { dimensionSize, expand, filled, reshape, sum } from '../ops/shape.ts';
import { type AttendedKeys, attendKeys, grouped } from './attend-keys.ts';
import { type BlockedAttention, cut } from './blocked-attention.ts';
import { type HeadMover, headMover, layoutMask, type TokenLayout } from './packed-attention.ts';
import { type SplitAttentionOptions, splitAttention } from './split-attention.ts';

/** Options of {@link branchedAttention}. */
export type BranchedAttentionOptions = Omit<SplitAttentionOptions, 'windows'>;

const concatOp = defineOp({ type: 'Concat' });

/**
 * Attention of one tree: a stem and branches on it, as `packedAttention` computes it at once.
 *
 * No pair of two branches is computed. One product has the scores s of all branches with the stem, which need no mask. Those with
 * a token's own branch, t, are computed in a rectangle with a row for each branch:
 *
 *     y = w · softmax(s) v_stem + (1 − w) · softmax(t) v_branch,   w = σ(ln Σ eˢ − ln Σ eᵗ)
 *
 * The stem itself is computed by {@link splitAttention} in the layout's `parts`.
 *
 * The layout needs a `stem`. Create the function once and share it among layers.
 *
 * @throws ArgumentError for a layout without a stem, and for a window.
 */
export function branchedAttention(layout: TokenLayout, options: BranchedAttentionOptions): BlockedAttention {
  const { heads, keyHeads } = requireFields('branchedAttention: options', {}, options);
  const { stem, parts, slots, places, positions } = requireFields('branchedAttention: layout', {}, layout);
  if (stem === undefined) {
    throw new ArgumentError(
      'branchedAttention: expected a layout with a stem; packedAttention computes any layout',
    );
  }
  const { graph } = slots;
  const [width, behind, tokens] = [stem, places, positions].map(({ shape }) => shape[0]!);
  const [rows, columns] = slots.shape as [Dimension, Dimension];
  const { apart, together } = stemAndRest(graph, tokens!, [width!, behind!]);
  const row = (x: Value) => reshape(x, [1, x.shape[0]!]);
  const ofStem: TokenLayout = {
    slots: row(stem),
    ends: row(expand(dimensionSize(graph, width!), [width!])),
    places: stem,
    positions: stem,
    parts,
  };
  const all = range(graph, behind!);
  const attendStem = splitAttention(ofStem, { heads, keyHeads, windows: [undefined] });
  const attendBranches = attendBoth(heads, [
    {
      queries: headMover({ slots: row(all), places: all }, heads),
      keys: headMover(ofStem, keyHeads),
      size: [1, behind!],
    },
    {
      queries: headMover(layout, heads),
      keys: headMover(layout, keyHeads),
      size: [rows, columns],
      mask: layoutMask(layout),
    },
  ]);
  return (query, key, value, { scale, window, stem: use }) => {
    if (window !== undefined) {
      throw new ArgumentError(
        `branchedAttention: expected no window, got ${window}; splitAttention computes layouts with windows`,
      );
    }
    const [q, k, v] = [apart(query), apart(key), apart(value)];
    const ofBranches = attendBranches(q[1], k, v, scale);
    const unread = () => filled(graph, query.type, q[0].shape);
    return together([use === 'unread' ? unread() : attendStem(q[0], k[0], v[0], { scale }), ofBranches]);
  };
}

type Two<Item> = readonly [Item, Item];

/** Takes values of tokens `[tokens, …]` apart into those of the stem and those behind it, and puts them together. */
function stemAndRest(graph: Graph, tokens: Dimension, sizes: Two<Dimension>) {
  const bounds = [
    graph.constant([0], [1], 'int64'),
    ...[sizes[0], tokens].map((of) => dimensionSize(graph, of)),
  ];
  const cutBoth = (x: Value): Two<Value> => {
    const [first, second] = sizes.map((size, index) => cut(x, 0, bounds[index]!, bounds[index + 1]!, size));
    return [first!, second!];
  };
  const join = (both: readonly Value[]) => {
    const [{ type, shape }] = both as Two<Value>;
    return applyOne(concatOp, both, { axis: 0 }, { type, shape: shape.with(0, tokens) });
  };
  return {
    apart: (x: Value) =>
      customGradient(
        [x],
        () => cutBoth(x),
        (both) => [
          join(both.map((given, index) => given ?? filled(graph, x.type, x.shape.with(0, sizes[index]!)))),
        ],
      ),
    together: (both: Two<Value>) =>
      customGradient(
        both,
        () => [join(both)],
        ([gradient]) => cutBoth(gradient!),
      )[0],
  };
}

/** Queries of branches, and some keys. */
interface KeyBlock {
  readonly queries: HeadMover;
  readonly keys: HeadMover;
  /** Number of rows and columns of the queries. */
  readonly size: Two<Dimension>;
  /** Default: the queries see all keys. */
  readonly mask?: Value;
}

/** Moves heads between tokens and a block, where they are in groups whose scores stay in the cache. */
function groupMover({ queries, keys, size: [rows, columns], mask }: KeyBlock) {
  const sizes = mask || keys.heads % 2 ? [keys.heads] : [keys.heads / 2, keys.heads / 2];
  const { heads } = queries;
  return {
    mask,
    /** `[tokens, heads, size]` to `[rows, group, queries, size]` of each group. */
    queries: (x: Value) => {
      const flat = reshape(x, [x.shape[0]!, heads * Number(x.shape[2])]);
      return split(grouped(queries.toRows(flat), keys.heads), sizes, 1);
    },
    /** And back. */
    tokens: (parts: readonly Value[]) => {
      const x = concat(parts, 1);
      const rectangle = reshape(x, [rows, heads, columns, x.shape[3]!]);
      return perHead(queries.toTokens(rectangle), heads);
    },
    keys: (x: Value) => split(keys.toRows(x), sizes, 1),
    ofKeys: (parts: readonly Value[]) => keys.toTokens(concat(parts, 1)),
  };
}

/** `[tokens, heads · size]` to `[tokens, heads, size]`. */
function perHead(x: Value, heads: number): Value {
  return reshape(x, [x.shape[0]!, heads, Number(x.shape[1]) / heads]);
}

/** Attention of branches on the keys of two blocks. */
function attendBoth(heads: number, blocks: Two<KeyBlock>) {
  const movers = blocks.map(groupMover);
  return (query: Value, keys: readonly Value[], values: readonly Value[], scale: number): Value => {
    let kept: readonly (readonly AttendedKeys[])[];
    let weights: readonly Value[];
    const joined = (parts: readonly Value[]) => reshape(add(parts[0]!, parts[1]!), query.shape);
    const [y] = customGradient(
      [query, ...keys, ...values],
      () => {
        kept = movers.map((mover, block) => {
          const [k, v] = [keys, values].map((x) => mover.keys(x[block]!));
          const attend = (q: Value, group: number) =>
            attendKeys([q, k![group]!, v![group]!], { mask: mover.mask, scale });
          return mover.queries(perHead(query, heads)).map(attend);
        });
        const [s, t] = movers.map((mover, block) => mover.tokens(kept[block]!.map(logSum)));
        weights = [sigmoid(sub(s!, t!)), sigmoid(sub(t!, s!))];
        const outputs = movers.map((mover, block) =>
          mover.tokens(kept[block]!.map((group) => group.output())),
        );
        return [joined(outputs.map((output, block) => mul(weights[block]!, output)))];
      },
      ([upstream], needs) => {
        const g = perHead(upstream!, heads);
        const sums = sum(mul(g, perHead(y, heads)), { axes: -1, keepAxes: 'yes' });
        const found = movers.map((mover, block) => {
          const [own, ownSums] = [g, sums].map((x) => mover.queries(mul(x, weights[block]!)));
          const groups = kept[block]!.map((group, index) => group.gradients(own![index]!, ownSums![index]!));
          return {
            ofQueries: () => mover.tokens(groups.map(({ ofQueries }) => ofQueries())),
            ofKeys: () => mover.ofKeys(groups.map(({ ofKeys }) => ofKeys())),
            ofValues: () => mover.ofKeys(groups.map(({ ofValues }) => ofValues())),
          };
        });
        const gradients = [
          () => joined(found.map(({ ofQueries }) => ofQueries())),
          ...found.map(({ ofKeys }) => ofKeys),
          ...found.map(({ ofValues }) => ofValues),
        ];
        return gradients.map((build, input) => (needs[input] ? build() : undefined));
      },
    );
    return y;
  };
}

/** `ln Σ eˢ` of each query's scores, by the largest of them. */
function logSum({ scores, probabilities }: AttendedKeys): Value {
  const [score, probability] = [scores, probabilities].map((x) =>
    reduceMax(x, { axes: -1, keepAxes: 'yes' }),
  );
  return sub(score!, log(probability!));
}
