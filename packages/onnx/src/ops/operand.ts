import { ArgumentError, requireArguments } from '@rlp/core';
import type { Attributes } from '../graph/attributes.ts';
import { isFloating } from '../graph/data-type.ts';
import { expectOperand, expectValues } from '../graph/expect-values.ts';
import type { OpDefinition, Value, ValueType } from '../graph/graph.ts';
import { broadcastShapes } from '../graph/shape.ts';

/** A value, or a number that becomes a constant of the other operand's type. */
export type Operand = Value | number;

/** A switch. Options use words instead of booleans. */
export type YesNo = 'yes' | 'no';

/**
 * Converts operands to values of one graph. Throws an ArgumentError if all are numbers or element types
 * differ.
 */
export function lift<const Operands extends readonly Operand[]>(
  operation: string,
  operands: Operands,
): { [Index in keyof Operands]: Value } {
  for (const [index, operand] of operands.entries()) {
    if (typeof operand !== 'number') expectOperand(operation, index, operand);
  }
  const anchor = operands.find((operand) => typeof operand !== 'number');
  if (anchor === undefined || typeof anchor === 'number') {
    throw new ArgumentError(
      `${operation}: at least one operand must be a value of a graph, got numbers only`,
    );
  }
  const values = operands.map((operand) =>
    typeof operand === 'number' ? anchor.graph.constant(operand, [], anchor.type) : operand,
  );
  expectSameType(operation, values);
  return values as { [Index in keyof Operands]: Value };
}

/** Throws an ArgumentError unless all values have the same element type. */
export function expectSameType(operation: string, values: readonly Value[]): void {
  expectValues(operation, values);
  const types = values.map(({ type }) => type);
  if (types.every((type) => type === types[0])) return;
  throw new ArgumentError(
    `${operation}: operands must have one element type, got ${types.join(', ')}; use cast`,
  );
}

/** Throws an ArgumentError unless the value holds floating-point numbers. */
export function expectFloating(operation: string, value: Value): void {
  expectValues(operation, { operand: value });
  if (isFloating(value.type)) return;
  throw new ArgumentError(
    `${operation}: operand "${value.name}" must be floating-point, got ${value.type}; use cast`,
  );
}

/** Throws an ArgumentError unless the value holds int32 or int64 numbers. */
export function expectIndices(operation: string, value: Value): void {
  expectValues(operation, { indices: value });
  if (value.type === 'int64' || value.type === 'int32') return;
  throw new ArgumentError(`${operation}: indices must be int64 or int32, got ${value.type}; use cast`);
}

/** Inputs without `undefined`. Throws an ArgumentError if one is missing. */
function present(operation: string, inputs: readonly (Value | undefined)[]): Value[] {
  return inputs.map((input, index) => {
    if (input) return input;
    throw new ArgumentError(`${operation}: operand ${index} is missing; pass a value of the graph`);
  });
}

/** Inference for an element-wise operation: broadcast shape, type of the operands. */
export function elementwise(operation: string): NonNullable<OpDefinition['infer']> {
  return (inputs) => {
    const values = present(operation, inputs);
    const shape = broadcastShapes(
      operation,
      values.map((value) => value.shape),
    );
    return [{ type: values[0]!.type, shape }];
  };
}

/** Inference for an operation whose output has the type and shape of its first operand. */
export function sameAsFirst(inputs: readonly (Value | undefined)[]): readonly ValueType[] {
  const first = inputs[0]!;
  return [{ type: first.type, shape: first.shape }];
}

/** Adds a node with one output and returns that output. */
export function applyOne(
  definition: OpDefinition,
  inputs: readonly (Value | undefined)[],
  attributes: Attributes = {},
  declared?: ValueType,
): Value {
  requireArguments('applyOne', { definition: 'object', inputs: 'list' }, definition, inputs);
  for (let index = 0; index < Math.max(1, inputs.length); index++) {
    if (inputs[index] !== undefined || index === 0) expectOperand(definition.type, index, inputs[index]);
  }
  const { graph } = inputs[0]!;
  return declared
    ? graph.apply(definition, inputs, attributes, [declared])[0]!
    : graph.apply(definition, inputs, attributes)[0]!;
}
