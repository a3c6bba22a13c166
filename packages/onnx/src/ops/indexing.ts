import { ArgumentError } from '@rlp/core';
import { axisOf, expectGraph } from '../graph/expect-values.ts';

import { defineOp, type Graph, type Value } from '../graph/graph.ts';
import { type Dimension, formatShape, sameShape } from '../graph/shape.ts';
import { cast } from './comparison.ts';
import { applyOne, expectIndices, expectSameType } from './operand.ts';
import { dimensionSize, expand, filled, reshape } from './shape.ts';

function gatherAlong(axis: number) {
  return defineOp({
    type: 'Gather',
    vjp: ({ inputs: [data, indices], gradients: [gradient] }) => [
      scatterSlices(data!, indices!, gradient!, axis),
      undefined,
    ],
  });
}

/**
 * Adds slices at their indices.
 *
 * Uses `ScatterElements`, because `ScatterND` on ONNX Runtime's CPU provider loses updates. Several threads
 * add duplicates there without synchronisation.
 */
function scatterSlices(data: Value, indices: Value, gradient: Value, axis: number): Value {
  const before = data.shape.slice(0, axis);
  const after = data.shape.slice(axis + 1);
  // WebGPU expands no int64.
  const flat = cast(reshape(indices, [-1]), 'int32');
  const count = flat.shape[0]!;
  const slices = reshape(gradient, [...before, count, ...after]);
  const column = reshape(flat, [...before.map(() => 1), count, ...after.map(() => 1)]);
  const zeros = filled(data.graph, data.type, data.shape);
  return scatterElements(zeros, expand(column, slices.shape), slices, { axis, reduction: 'add' });
}

/** Slices of `data` at `indices` along `axis` (default 0). The axes of `indices` replace that axis. */
export function gather(data: Value, indices: Value, options: { readonly axis?: number } = {}): Value {
  expectIndices('gather', indices);
  const resolved = axisOf('gather', data, options, 0);
  const shape = [...data.shape.slice(0, resolved), ...indices.shape, ...data.shape.slice(resolved + 1)];
  return applyOne(gatherAlong(resolved), [data, indices], { axis: resolved }, { type: data.type, shape });
}

function expectSameRank(operation: string, data: Value, indices: Value, axis: number): void {
  const fits =
    indices.shape.length === data.shape.length &&
    indices.shape.every((size, index) => {
      const limit = data.shape[index]!;
      if (index === axis || size === limit) return true;
      return typeof size === 'number' && typeof limit === 'number' && size <= limit;
    });
  if (fits) return;
  throw new ArgumentError(
    `${operation}: indices of ${formatShape(indices.shape)} must fit data of ${formatShape(data.shape)} along axis ${axis}, and do not`,
  );
}

function gatherElementsAlong(axis: number) {
  return defineOp({
    type: 'GatherElements',
    vjp: ({ inputs: [data, indices], gradients: [gradient] }) => [
      scatterElements(filled(data!.graph, data!.type, data!.shape), indices!, gradient!, {
        axis,
        reduction: 'add',
      }),
      undefined,
    ],
  });
}

/** Element at `indices[…]` along `axis` (default −1), for every position of `indices`. */
export function gatherElements(data: Value, indices: Value, options: { readonly axis?: number } = {}): Value {
  expectIndices('gatherElements', indices);
  const resolved = axisOf('gatherElements', data, options, -1);
  expectSameRank('gatherElements', data, indices, resolved);
  const declared = { type: data.type, shape: indices.shape };
  return applyOne(gatherElementsAlong(resolved), [data, indices], { axis: resolved }, declared);
}

/** Options of {@link scatterElements}. */
export interface ScatterElementsOptions {
  /** Axis that indices refer to. Default −1. */
  readonly axis?: number;
  /**
   * `'none'` replaces elements; indices must not repeat. `'add'` adds to them; duplicates add up. Default
   * `'none'`.
   */
  readonly reduction?: 'none' | 'add';
}

function scatterElementsAlong(axis: number, reduction: 'none' | 'add') {
  return defineOp({
    type: 'ScatterElements',
    vjp: ({ inputs: [, indices, updates], gradients: [gradient], needs }) => {
      const kept = () =>
        scatterElements(gradient!, indices!, filled(updates!.graph, updates!.type, updates!.shape), { axis });
      return [
        needs[0] ? (reduction === 'add' ? gradient : kept()) : undefined,
        undefined,
        needs[2] ? gatherElements(gradient!, indices!, { axis }) : undefined,
      ];
    },
  });
}

/** Copy of `data` with `updates` written or added at `indices` along `axis`. */
export function scatterElements(
  data: Value,
  indices: Value,
  updates: Value,
  options: ScatterElementsOptions = {},
): Value {
  expectIndices('scatterElements', indices);
  expectSameType('scatterElements', [data, updates]);
  const resolved = axisOf('scatterElements', data, options, -1);
  expectSameRank('scatterElements', data, indices, resolved);
  if (!sameShape(indices.shape, updates.shape)) {
    throw new ArgumentError(
      `scatterElements: indices ${formatShape(indices.shape)} and updates ${formatShape(updates.shape)} must agree`,
    );
  }
  const { reduction = 'none' } = options;
  const definition = scatterElementsAlong(resolved, reduction);
  const declared = { type: data.type, shape: data.shape };
  return applyOne(definition, [data, indices, updates], { axis: resolved, reduction }, declared);
}

const rangeOp = defineOp({ type: 'Range' });

/** The int64 numbers `0 … size − 1`. A named size is read at run time from a value that has it. */
export function range(graph: Graph, size: Dimension): Value {
  expectGraph('range', graph);
  if (typeof size === 'number') {
    return graph.constant(
      Array.from({ length: size }, (_, index) => index),
      [size],
      'int64',
    );
  }
  const limit = reshape(dimensionSize(graph, size), []);
  const inputs = [graph.constant(0, [], 'int64'), limit, graph.constant(1, [], 'int64')];
  return applyOne(rangeOp, inputs, {}, { type: 'int64', shape: [size] });
}
