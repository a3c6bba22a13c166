import { ArgumentError, described, requireFields } from '@rlp/core';

import { dataTypes } from './data-type.ts';
import type { Graph, Value } from './graph.ts';
import { resolveAxis, type Shape, staticDimension } from './shape.ts';

function isDimension(size: unknown): boolean {
  return typeof size === 'string' ? size !== '' : Number.isInteger(size) && (size as number) >= -1;
}

function isGraph(graph: unknown): boolean {
  return typeof graph === 'object' && typeof (graph as Partial<Graph> | null)?.apply === 'function';
}

function isValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { graph, type, shape } = value as Partial<Value>;
  return (
    isGraph(graph) &&
    Object.hasOwn(dataTypes, String(type)) &&
    Array.isArray(shape) &&
    shape.every(isDimension)
  );
}

/** Checks arguments by name, or those of a list. @throws ArgumentError naming the first that is not a value. */
export function expectValues(
  operation: string,
  given: Readonly<Record<string, unknown>> | readonly unknown[],
): void {
  for (const [name, value] of Object.entries(given)) {
    if (isValue(value)) continue;
    throw new ArgumentError(
      `${operation}: ${name} must be a value of a graph, such as graph.input(…), got ${described(value)}`,
    );
  }
}

/** Checks an argument by its place. @throws ArgumentError for what is not a value. */
export function expectOperand(operation: string, index: number, given: unknown): void {
  // Graphs have thousands of operands, whose names only an error needs.
  if (!isValue(given)) expectValues(operation, { [`operand ${index}`]: given });
}

/** Index of the axis that options name. @throws ArgumentError if there is none, or for what is not a value. */
export function axisOf(
  operation: string,
  x: Value,
  options: { readonly axis?: number },
  fallback: number | undefined = undefined,
): number {
  return resolveAxis(
    operation,
    requireFields(`${operation}: options`, {}, options).axis ?? fallback,
    rankOf(operation, x),
  );
}

/** Size of the last axis. @throws ArgumentError if it is named, or for what is not a value. */
export function widthOf(operation: string, x: Value): number {
  expectValues(operation, { x });
  return staticDimension(operation, x.shape, x.shape.at(-1));
}

/** Number of axes. @throws ArgumentError for what is not a value. */
export function rankOf(operation: string, x: Value): number {
  expectValues(operation, { x });
  return x.shape.length;
}

/** @throws ArgumentError for what is not a list of whole numbers and names. −1 may stand for a size that is inferred. */
export function expectShape(operation: string, shape: Shape): void {
  if (Array.isArray(shape) && shape.every(isDimension)) return;
  throw new ArgumentError(
    `${operation}: shape must be a list of whole numbers and names, got ${described(shape)}`,
  );
}

/** @throws ArgumentError for what is not a graph. */
export function expectGraph(operation: string, graph: Graph): void {
  if (isGraph(graph)) return;
  throw new ArgumentError(`${operation}: expected a graph, from new Graph(), got ${described(graph)}`);
}
