import { requireArguments } from '@rlp/core';
import { expectGraph, expectValues } from '../graph/expect-values.ts';
import { defineOp, type Graph, type Value, type ValueType } from '../graph/graph.ts';
import type { Dimension } from '../graph/shape.ts';
import { identity } from './elementwise.ts';
import { dimensionSize, reshape } from './shape.ts';

const loopOp = defineOp({ type: 'Loop' });

/** What one turn of a loop gives. */
export interface Turn {
  /** Values that the next turn gets. Same types and shapes as at the start. */
  readonly carried: readonly Value[];
  /** Values that are collected, with one more axis in front. Same shapes in every turn. */
  readonly collected: readonly Value[];
}

/**
 * Runs `build` once for each index of a dimension, in order. The body also reads values from outside.
 *
 * Only one turn's intermediate results are in memory at a time. No gradient flows through it.
 *
 * @param turns - Dimension whose size is the number of turns.
 * @param carried - Values that the first turn gets.
 * @param build - Gets the index, int64 `[]`, and the carried values.
 * @returns The carried values after the last turn, and the collected values `[turns, …]`.
 */
export function loop(
  graph: Graph,
  turns: Dimension,
  carried: readonly Value[],
  build: (index: Value, carried: readonly Value[]) => Turn,
): Turn {
  expectGraph('loop', graph);
  requireArguments('loop', { carried: 'objects', build: 'function' }, carried, build);
  expectValues('loop', carried);
  const typeOf = ({ type, shape }: Value): ValueType => ({ type, shape });
  const scalar = (type: 'int64' | 'bool'): ValueType => ({ type, shape: [] });
  let collected: readonly ValueType[] = [];
  const subgraph = graph.body([scalar('int64'), scalar('bool'), ...carried.map(typeOf)], (inputs) => {
    const [index, condition, ...state] = inputs;
    const turn = build(index!, state);
    collected = turn.collected.map(({ type, shape }) => ({ type, shape: [turns, ...shape] }));
    return [identity(condition!), ...turn.carried, ...turn.collected];
  });
  const count = reshape(dimensionSize(graph, turns), []);
  const results = graph.apply(
    loopOp,
    [count, graph.constant(1, [], 'bool'), ...carried],
    {},
    [...carried.map(typeOf), ...collected],
    subgraph,
  );
  return { carried: results.slice(0, carried.length), collected: results.slice(carried.length) };
}
