import { ArgumentError, RandomStream } from '@rlp/core';
import { expect, it } from 'vitest';
import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import { load, type Numbers, normals, relativeError } from '../testing/evaluate.ts';

const size = 4;
const parts = 3;

/** Outputs of both functions and their gradients, for a tree of any size. */
function bothWays(heads: number, keyHeads: number): onnx.Graph {
  const graph = new onnx.Graph();
  const integers = (name: string, ...shape: onnx.Dimension[]) => graph.input(name, 'int64', shape);
  const positions = integers('positions', 'tokens');
  const row = { slots: integers('rowSlots', 1, 'tokens'), ends: integers('rowEnds', 1, 'tokens') };
  const whole = { ...row, places: integers('rowPlaces', 'tokens'), positions };
  const branched = {
    slots: integers('slots', 'rows', 'length'),
    ends: integers('ends', 'rows', 'length'),
    places: integers('places', 'behind'),
    stem: integers('stem', 'stem'),
    ...{ positions, parts },
  };
  const values = [heads, keyHeads, keyHeads].map((count, index) =>
    graph.input(`x${index}`, 'float32', ['tokens', count * size]),
  );
  const [q, k, v] = values as [onnx.Value, onnx.Value, onnx.Value];
  const [queries, keys] = [heads, keyHeads].map((count) => layers.headMover(whole, count));
  const mask = layers.layoutMask(whole);
  const upstream = graph.input('upstream', 'float32', ['tokens', heads * size]);
  const attend = layers.branchedAttention(branched, { heads, keyHeads });
  graph.output('unread', attend(q, k, v, { scale: 0.5, stem: 'unread' }));
  const outputs = {
    packed: layers.packedAttention(q, k, v, { queries: queries!, keys: keys!, mask, scale: 0.5 }),
    branched: attend(q, k, v, { scale: 0.5 }),
  };
  for (const [name, y] of Object.entries(outputs)) {
    graph.output(name, y);
    const found = onnx.pullback(new Map([[y, upstream]]), values);
    for (const [index, gradient] of found.entries()) graph.output(`${name} ${index}`, gradient!);
  }
  return graph;
}

/** Feeds of a tree: as one row, and as a stem with a row for each branch. Empty slots name any token. */
function feedsOf(stem: number, branches: readonly number[], scale: number, heads: readonly number[]) {
  const count = branches.reduce((sum, length) => sum + length, stem);
  const length = Math.max(...branches);
  const list = (data: readonly number[], shape: readonly number[] = [data.length]): Numbers => ({
    shape,
    data,
  });
  const counted = (many: number, first = 0) => Array.from({ length: many }, (_, index) => first + index);
  const starts = branches.map((_, row) => branches.slice(0, row).reduce((sum, own) => sum + own, 0));
  const ofRows = (of: (row: number, column: number) => number) =>
    list(
      branches.flatMap((_, row) => counted(length).map((column) => of(row, column))),
      [branches.length, length],
    );
  const [own, first] = [(row: number) => branches[row]!, (row: number) => starts[row]!];
  const named = (name: string, many: number) => normals(`${name} ${count}`, [count, many * size], scale);
  return {
    positions: list([...counted(stem), ...branches.flatMap((many) => counted(many, stem))]),
    rowSlots: list(counted(count), [1, count]),
    rowPlaces: list(counted(count)),
    rowEnds: list(
      [
        ...counted(stem).map(() => count),
        ...branches.flatMap((many, row) => counted(many).map(() => stem + first(row) + many)),
      ],
      [1, count],
    ),
    slots: ofRows((row, column) => (column < own(row) ? first(row) + column : 0)),
    ends: ofRows((row, column) => (column < own(row) ? own(row) : column + 1)),
    places: list(branches.flatMap((many, row) => counted(many, row * length))),
    stem: list(counted(stem)),
    ...Object.fromEntries(heads.map((many, index) => [`x${index}`, named(`x${index}`, many)])),
    upstream: named('upstream', heads[0]!),
  };
}

it.each([
  [4, 2],
  [4, 4],
  [3, 1],
])(
  'attends in %i heads with %i of keys as packedAttention does, whatever the tree',
  async (heads, keyHeads) => {
    const evaluator = await load(bothWays(heads, keyHeads));
    const random = RandomStream.named('branches', String(heads), String(keyHeads));
    for (let round = 0; round < 20; round++) {
      const branches = Array.from({ length: 1 + random.integer(6) }, () => 1 + random.integer(9));
      // Scores of a hundred, too: then the stem or the branch has all the weight.
      const scale = round % 4 === 0 ? 6 : 1;
      const stem = parts + random.integer(30);
      const found = await evaluator.run(feedsOf(stem, branches, scale, [heads, keyHeads, keyHeads]));
      const behind = found.branched!.data.map((x, index) => (index < stem * heads * size ? 0 : x));
      expect(found.unread!.data).toEqual(behind);
      for (const [name, expected] of Object.entries(found).filter(([name]) => name.startsWith('packed'))) {
        const error = relativeError(found[name.replace('packed', 'branched')]!, expected);
        expect(error, `${name}, ${stem} and ${branches}`).toBeLessThan(3e-6 * scale);
      }
    }
  },
);

it('has no subnormal numbers, which are slow, if a key takes nearly all of the weight', async () => {
  const evaluator = await load(bothWays(1, 1));
  const feeds = feedsOf(20, [4, 6], 1, [1, 1, 1]);
  // The first key's score is 95 above the others. e⁻⁹⁵ is subnormal.
  const ofFirst = (first: number, other: number) => (_: number, index: number) =>
    index % size === 0 ? (index === 0 ? first : other) : 0;
  const { x0, x1 } = feeds as Record<string, Numbers>;
  const sunk = {
    x0: { ...x0!, data: x0!.data.map(ofFirst(1, 1)) },
    x1: { ...x1!, data: x1!.data.map(ofFirst(190, 0)) },
  };
  const found = await evaluator.run({ ...feeds, ...sunk });
  for (const name of ['branched', 'branched 0', 'branched 1', 'branched 2']) {
    const sizes = found[name]!.data.map(Math.abs).filter((x) => x > 0);
    expect(Math.min(...sizes), name).toBeGreaterThan(2 ** -126);
  }
});

it('refuses a layout without a stem and windows, and names what computes them', () => {
  const graph = new onnx.Graph();
  const layout = layers.fullLayout(graph, 1, 4);
  const heads = { heads: 2, keyHeads: 2 };
  expect(() => layers.branchedAttention(layout, heads)).toThrow(
    new ArgumentError(
      'branchedAttention: expected a layout with a stem; packedAttention computes any layout',
    ),
  );
  const attend = layers.branchedAttention({ ...layout, stem: layout.places, parts }, heads);
  const x = graph.input('x', 'float32', [4, 2 * size]);
  expect(() => attend(x, x, x, { scale: 1, window: 2 })).toThrow(
    new ArgumentError(
      'branchedAttention: expected no window, got 2; splitAttention computes layouts with windows',
    ),
  );
});
