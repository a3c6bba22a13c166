import { ArgumentError, requireFields } from '@rlp/core';
import type { Attributes } from './attributes.ts';
import type { DataType } from './data-type.ts';
import { expectGraph } from './expect-values.ts';
import type { Graph, Value, ValueType } from './graph.ts';
import { formatShape, sameShape } from './shape.ts';
import type { TensorData } from './tensor-data.ts';

interface ValueRecord extends ValueType {
  readonly name: string;
}

interface NodeRecord {
  readonly type: string;
  readonly domain: string;
  readonly inputs: readonly (string | undefined)[];
  readonly outputs: readonly ValueRecord[];
  readonly attributes: Attributes;
}

/** A graph as plain data that can be sent to another thread. Gradient rules are not included. */
export interface GraphRecord {
  readonly opset: number;
  readonly inputs: readonly ValueRecord[];
  readonly constants: readonly (ValueRecord & { readonly bytes: Uint8Array })[];
  readonly nodes: readonly NodeRecord[];
  /** Names of values, by output name. */
  readonly outputs: ReadonlyMap<string, string>;
}

/**
 * Records a graph as plain data.
 *
 * @throws ArgumentError if an initializer lies in a file.
 */
export function recordGraph(graph: Graph): GraphRecord {
  expectGraph('recordGraph', graph);
  return {
    opset: graph.opset,
    inputs: graph.inputs.map(recordValue),
    constants: graph.initializers.map(({ value, data }) => {
      if (data instanceof Uint8Array) return { ...recordValue(value), bytes: data };
      throw new ArgumentError(`recordGraph: initializer "${value.name}" lies in a file; read its data first`);
    }),
    nodes: graph.nodes.map(({ definition, inputs, outputs, attributes }) => ({
      type: definition.type,
      domain: definition.domain ?? '',
      inputs: inputs.map((input) => input?.name),
      outputs: outputs.map(recordValue),
      attributes,
    })),
    outputs: new Map([...graph.outputs].map(([name, value]) => [name, value.name])),
  };
}

function recordValue({ name, type, shape }: Value): ValueRecord {
  return { name, type, shape };
}

/**
 * Adds the nodes of a recorded graph to another graph and returns its outputs.
 *
 * `inputs` replaces the inputs of the record. Gradients do not flow through the added nodes. To
 * differentiate, record the graph with its gradients.
 *
 * @throws ArgumentError if an input is missing or has the wrong type or shape, or if the operator sets
 * differ.
 */
export function replayGraph(
  graph: Graph,
  record: GraphRecord,
  inputs: Readonly<Record<string, Value>>,
): Map<string, Value> {
  expectGraph('replayGraph', graph);
  requireFields('replayGraph', { inputs: 'objects', constants: 'objects', nodes: 'objects' }, record);
  if (record.opset !== graph.opset) {
    throw new ArgumentError(
      `replayGraph: the graph has opset ${graph.opset}, the record ${record.opset}; both must be equal`,
    );
  }
  const values = new Map<string, Value>();
  for (const expected of record.inputs) values.set(expected.name, requireInput(expected, inputs));
  for (const { name, type, shape, bytes } of record.constants) {
    values.set(name, graph.constant(viewAs(type, bytes), shape as readonly number[], type));
  }
  for (const { type, domain, inputs: names, outputs, attributes } of record.nodes) {
    const operands = names.map((name) => (name === undefined ? undefined : values.get(name)!));
    const made = graph.apply({ type, domain }, operands, attributes, outputs);
    for (const [index, { name }] of outputs.entries()) values.set(name, made[index]!);
  }
  return new Map([...record.outputs].map(([name, value]) => [name, values.get(value)!]));
}

function requireInput({ name, type, shape }: ValueRecord, inputs: Readonly<Record<string, Value>>): Value {
  const value = inputs[name];
  if (value && value.type === type && sameShape(value.shape, shape)) return value;
  const got = value ? `${value.type} ${formatShape(value.shape)}` : 'nothing';
  throw new ArgumentError(`replayGraph: input "${name}" must be ${type} ${formatShape(shape)}, got ${got}`);
}

/** Aligned array over the bytes, of the class that {@link Graph.constant} takes for this type. */
function viewAs(type: DataType, bytes: Uint8Array): Exclude<TensorData, number> {
  const { buffer } = Uint8Array.from(bytes);
  const views = {
    float32: () => new Float32Array(buffer),
    float64: () => new Float64Array(buffer),
    float16: () => new Uint16Array(buffer),
    bfloat16: () => new Uint16Array(buffer),
    int64: () => new BigInt64Array(buffer),
    int32: () => new Int32Array(buffer),
    uint8: () => new Uint8Array(buffer),
    bool: () => new Uint8Array(buffer),
  };
  return views[type]();
}
