import { ArgumentError, requireFields } from '@rlp/core';
import protobuf from 'protobufjs/minimal.js';
import type { Attribute } from './attributes.ts';
import { dataTypes } from './data-type.ts';
import { expectGraph } from './expect-values.ts';
import type { ExternalData, Graph, Initializer, Node, Subgraph, Value, ValueType } from './graph.ts';
import { encodeTensor } from './tensor-data.ts';

type Writer = protobuf.Writer;
type Names = ReadonlyMap<Value, string>;

/** Version 10 of the ONNX intermediate representation, which belongs to opset 21. */
const irVersion = 10;
const maximumBytes = 2 ** 31 - 1;
const attributeTypes = { float: 1, int: 2, string: 3, tensor: 4, graph: 5, ints: 7, strings: 8 } as const;

/** Options of {@link serialize}. */
export interface SerializeOptions {
  /** Whether to drop graph inputs that no output depends on. Default `'drop'`. */
  readonly unusedInputs?: 'drop' | 'keep';
}

/**
 * Serializes the graph as an ONNX `ModelProto`.
 *
 * Nodes, constants and initializers that no output depends on are left out.
 *
 * @throws ArgumentError if the graph has no outputs, or if the model exceeds protobuf's limit of 2 GB.
 */
export function serialize(graph: Graph, options: SerializeOptions = {}): Uint8Array {
  expectGraph('serialize', graph);
  const { unusedInputs = 'drop' } = requireFields('serialize: options', {}, options);
  if (graph.outputs.size === 0)
    throw new ArgumentError('serialize: the graph has no outputs; name at least one with graph.output');
  const { nodes, values } = live(graph);
  const initializers = graph.initializers.filter(({ value }) => values.has(value));
  checkSize(initializers);
  const names = outputNames(graph);
  const writer = protobuf.Writer.create();
  writer.uint32(tag(1, 0)).int64(irVersion);
  writer.uint32(tag(2, 2)).string('rlp');
  message(writer, 7, () => {
    for (const [index, node] of nodes.entries())
      message(writer, 1, () => writeNode(writer, node, index, names));
    writeAliases(writer, graph, names);
    writer.uint32(tag(2, 2)).string('graph');
    for (const initializer of initializers) message(writer, 5, () => writeInitializer(writer, initializer));
    for (const input of graph.inputs) {
      if (unusedInputs === 'keep' || values.has(input)) {
        message(writer, 11, () => writeValueInfo(writer, input.name, input));
      }
    }
    for (const [name, value] of graph.outputs) message(writer, 12, () => writeValueInfo(writer, name, value));
  });
  writeOpset(writer, '', graph.opset);
  const domains = new Set(nodes.flatMap(domainsOf));
  for (const domain of [...domains].filter((name) => name !== '').sort()) writeOpset(writer, domain, 1);
  return ownBytes(writer.finish());
}

/** Copies the bytes. protobufjs keeps small messages in a shared pool. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  const alone = bytes.byteLength === bytes.buffer.byteLength;
  return alone ? new Uint8Array(bytes.buffer) : Uint8Array.from(bytes);
}

/** Values that a node reads, those that its body reads included. */
function readsOf({ inputs, body }: Node): Value[] {
  const own = inputs.filter((input) => input !== undefined);
  return body ? [...own, ...body.nodes.flatMap(readsOf), ...body.outputs] : own;
}

/** Operator sets of a node and of its body. */
function domainsOf({ definition, body }: Node): string[] {
  return [definition.domain ?? '', ...(body?.nodes ?? []).flatMap(domainsOf)];
}

function live(graph: Graph): { nodes: Node[]; values: Set<Value> } {
  const values = new Set<Value>(graph.outputs.values());
  const nodes: Node[] = [];
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some((output) => values.has(output))) continue;
    nodes.push(node);
    for (const read of readsOf(node)) values.add(read);
  }
  return { nodes: inExecutionOrder(nodes.reverse()), values };
}

/**
 * Sorts nodes so that ONNX Runtime executes them in construction order.
 *
 * ONNX Runtime walks back from the nodes without consumers and starts with the last one in the file. If the
 * file kept construction order, it would start with the weight gradients of the first layer. Activations
 * would then stay in memory until the other layers' gradients are computed at the end.
 */
function inExecutionOrder(nodes: readonly Node[]): Node[] {
  const consumed = new Set(nodes.flatMap(readsOf));
  const feeds = ({ outputs }: Node) => outputs.some((output) => consumed.has(output));
  return [...nodes.filter(feeds), ...nodes.filter((node) => !feeds(node)).reverse()];
}

function checkSize(initializers: readonly Initializer[]): void {
  let bytes = 0;
  for (const { data } of initializers) if (data instanceof Uint8Array) bytes += data.byteLength;
  if (bytes <= maximumBytes - 2 ** 20) return;
  throw new ArgumentError(
    `serialize: initializers hold ${bytes} bytes, expected at most 2 GB; make weights graph inputs, or initializers in ` +
      `an external file ({ file, offset, length })`,
  );
}

/** Names values after their first output. Further outputs of the same value become aliases. */
function outputNames(graph: Graph): Names {
  const names = new Map<Value, string>();
  for (const [name, value] of graph.outputs) if (value.node && !names.has(value)) names.set(value, name);
  return names;
}

function writeAliases(writer: Writer, graph: Graph, names: Names): void {
  for (const [name, value] of graph.outputs) {
    if (names.get(value) === name) continue;
    message(writer, 1, () => {
      writer.uint32(tag(1, 2)).string(names.get(value) ?? value.name);
      writer.uint32(tag(2, 2)).string(name);
      writer.uint32(tag(3, 2)).string(`output ${name}`);
      writer.uint32(tag(4, 2)).string('Identity');
    });
  }
}

function tag(field: number, wireType: 0 | 2 | 5): number {
  return (field << 3) | wireType;
}

function message(writer: Writer, field: number, write: () => void): void {
  writer.uint32(tag(field, 2)).fork();
  write();
  writer.ldelim();
}

function writeOpset(writer: Writer, domain: string, version: number): void {
  message(writer, 8, () => {
    writer.uint32(tag(1, 2)).string(domain);
    writer.uint32(tag(2, 0)).int64(version);
  });
}

function writeNode(writer: Writer, node: Node, index: number, names: Names): void {
  const { definition, inputs, outputs, attributes, body } = node;
  for (const input of inputs) {
    writer.uint32(tag(1, 2)).string(input ? (names.get(input) ?? input.name) : '');
  }
  for (const output of outputs) writer.uint32(tag(2, 2)).string(names.get(output) ?? output.name);
  writer.uint32(tag(3, 2)).string(`${definition.type}_${index}`);
  writer.uint32(tag(4, 2)).string(definition.type);
  for (const [name, attribute] of Object.entries(attributes)) {
    message(writer, 5, () => writeAttribute(writer, name, attribute));
  }
  if (body) message(writer, 5, () => writeBody(writer, body, names));
  if (definition.domain) writer.uint32(tag(7, 2)).string(definition.domain);
}

function writeBody(writer: Writer, { inputs, nodes, outputs }: Subgraph, names: Names): void {
  writer.uint32(tag(1, 2)).string('body');
  message(writer, 6, () => {
    for (const [index, node] of nodes.entries())
      message(writer, 1, () => writeNode(writer, node, index, names));
    writer.uint32(tag(2, 2)).string('body');
    for (const input of inputs) message(writer, 11, () => writeValueInfo(writer, input.name, input));
    for (const output of outputs) message(writer, 12, () => writeValueInfo(writer, output.name, output));
  });
  writer.uint32(tag(20, 0)).int32(attributeTypes.graph);
}

function writeAttribute(writer: Writer, name: string, attribute: Attribute): void {
  writer.uint32(tag(1, 2)).string(name);
  const kind = writeAttributeValue(writer, attribute);
  writer.uint32(tag(20, 0)).int32(attributeTypes[kind]);
}

function writeAttributeValue(writer: Writer, attribute: Attribute): keyof typeof attributeTypes {
  if (typeof attribute === 'number') {
    writer.uint32(tag(3, 0)).int64(attribute);
    return 'int';
  }
  if (typeof attribute === 'string') {
    writer.uint32(tag(4, 2)).bytes(new TextEncoder().encode(attribute));
    return 'string';
  }
  if ('float' in attribute) {
    writer.uint32(tag(2, 5)).float(attribute.float);
    return 'float';
  }
  if ('tensor' in attribute) {
    const bytes = encodeTensor('attribute', attribute.type, attribute.tensor, 1);
    message(writer, 5, () => writeTensor(writer, '', { type: attribute.type, shape: [1] }, bytes));
    return 'tensor';
  }
  if (typeof attribute[0] === 'string') {
    for (const item of attribute) writer.uint32(tag(9, 2)).bytes(new TextEncoder().encode(String(item)));
    return 'strings';
  }
  for (const item of attribute) writer.uint32(tag(8, 0)).int64(Number(item));
  return 'ints';
}

function writeInitializer(writer: Writer, { value, data }: Initializer): void {
  writeTensor(writer, value.name, value, data);
}

function writeTensor(
  writer: Writer,
  name: string,
  { type, shape }: ValueType,
  data: Uint8Array | ExternalData,
): void {
  for (const dimension of shape) writer.uint32(tag(1, 0)).int64(Number(dimension));
  writer.uint32(tag(2, 0)).int32(dataTypes[type].code);
  writer.uint32(tag(8, 2)).string(name);
  if (data instanceof Uint8Array) {
    writer.uint32(tag(9, 2)).bytes(data);
    return;
  }
  const entries = { location: data.file, offset: String(data.offset), length: String(data.length) };
  for (const [key, value] of Object.entries(entries)) {
    message(writer, 13, () => {
      writer.uint32(tag(1, 2)).string(key);
      writer.uint32(tag(2, 2)).string(value);
    });
  }
  writer.uint32(tag(14, 0)).int32(1);
}

function writeValueInfo(writer: Writer, name: string, { type, shape }: ValueType): void {
  writer.uint32(tag(1, 2)).string(name);
  message(writer, 2, () =>
    message(writer, 1, () => {
      writer.uint32(tag(1, 0)).int32(dataTypes[type].code);
      message(writer, 2, () => {
        for (const dimension of shape) message(writer, 1, () => writeDimension(writer, dimension));
      });
    }),
  );
}

function writeDimension(writer: Writer, dimension: number | string): void {
  if (typeof dimension === 'number') writer.uint32(tag(1, 0)).int64(dimension);
  else writer.uint32(tag(2, 2)).string(dimension);
}
