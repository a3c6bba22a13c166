import { ArgumentError, requireFields } from '@rlp/core';

import type { Attributes } from './attributes.ts';
import { type DataType, isFloating } from './data-type.ts';
import { formatShape, type Shape, staticElementCount } from './shape.ts';
import { checkPlace, encodeTensor, type TensorData } from './tensor-data.ts';

/** A tensor of the graph: an input, a constant, an initializer or the output of a node. */
export interface Value {
  readonly graph: Graph;
  /** Unique in its graph. Generated names begin with `/`. */
  readonly name: string;
  readonly type: DataType;
  readonly shape: Shape;
  /** Node that computes the value. `undefined` for inputs, constants and initializers. */
  readonly node: Node | undefined;
}

/** Element type and shape of a value. */
export interface ValueType {
  readonly type: DataType;
  readonly shape: Shape;
}

/** One operation in a graph. Its index in `graph.nodes` is a topological order. */
export interface Node {
  readonly definition: OpDefinition;
  readonly inputs: readonly (Value | undefined)[];
  readonly outputs: readonly Value[];
  readonly attributes: Attributes;
  /** Body of a loop, its attribute `body`. */
  readonly body?: Subgraph | undefined;
}

/** A graph within a graph, such as the body of a loop. It also reads values of the graph around it. */
export interface Subgraph {
  readonly inputs: readonly Value[];
  readonly nodes: readonly Node[];
  readonly outputs: readonly Value[];
}

/** Arguments of a VJP rule. */
export interface VjpContext {
  readonly inputs: readonly (Value | undefined)[];
  readonly outputs: readonly Value[];
  readonly attributes: Attributes;
  /** ∂loss/∂outputs. `undefined` if the loss does not depend on an output. At least one is defined. */
  readonly gradients: readonly (Value | undefined)[];
  /** Inputs that need a gradient. A rule may return `undefined` for the others. */
  readonly needs: readonly boolean[];
}

/** Vector-Jacobian product: ∂loss/∂inputs from ∂loss/∂outputs, as new nodes. `undefined` means zero. */
export type Vjp = (context: VjpContext) => readonly (Value | undefined)[];

/** An operator: its ONNX name, output types and gradient rule. */
export interface OpDefinition {
  readonly type: string;
  /** Operator set: `''` for standard ONNX, `'com.microsoft'` for ONNX Runtime's operators. Default `''`. */
  readonly domain?: string;
  /**
   * Infers element types and shapes of the outputs. Throws an ArgumentError for invalid operands.
   *
   * Leave it out if types do not follow from operands and attributes, as in `Reshape`. Each node then
   * declares them.
   */
  readonly infer?: (inputs: readonly (Value | undefined)[], attributes: Attributes) => readonly ValueType[];
  /** Gradient rule. Without it, no gradient flows through. */
  readonly vjp?: Vjp;
}

/** Declares an operator. Nodes keep the definition; nothing is registered globally. */
export function defineOp(definition: OpDefinition): OpDefinition {
  return definition;
}

/** Position of an initializer's bytes in a separate file, such as a safetensors file. */
export interface ExternalData {
  /** Path relative to the folder given to the session. */
  readonly file: string;
  /** First byte. */
  readonly offset: number;
  /** Number of bytes. */
  readonly length: number;
}

/** A tensor stored with the graph. */
export interface Initializer {
  readonly value: Value;
  readonly data: Uint8Array | ExternalData;
}

/** One step of the gradient tape: a node, or a group of nodes with a custom gradient rule. */
export interface TapeEntry extends Omit<VjpContext, 'gradients' | 'needs'> {
  readonly vjp: Vjp;
}

/** Options of a {@link Graph}. */
export interface GraphOptions {
  /** Version of the ONNX operator set. Default 21. */
  readonly opset?: number;
}

/** A graph under construction. Create values with {@link Graph.input}, {@link Graph.constant} and operators. */
export class Graph {
  readonly opset: number;
  nodes: Node[] = [];
  readonly inputs: Value[] = [];
  readonly initializers: Initializer[] = [];
  readonly outputs = new Map<string, Value>();
  /** A value and axis that have the size of each named dimension. */
  readonly dimensions = new Map<string, { readonly value: Value; readonly axis: number }>();

  readonly #rebuilders = new Map<Value, () => Value>();
  #tape: TapeEntry[] = [];
  readonly #names = new Set<string>();
  readonly #constants = new Map<string, Initializer[]>();
  #counter = 0;

  constructor(options: GraphOptions = {}) {
    const { opset = 21 } = requireFields('Graph', {}, options);
    if (!Number.isInteger(opset) || opset < 18) {
      throw new ArgumentError(`Graph: opset must be an integer of at least 18, got ${opset}`);
    }
    this.opset = opset;
  }

  /** Entries that gradients flow through, in construction order. */
  get tape(): readonly TapeEntry[] {
    return this.#tape;
  }

  /** Declares a tensor fed at run time. Throws an ArgumentError if the name is taken. */
  input(name: string, type: DataType, shape: Shape): Value {
    const value = this.#value(this.#claim(name), type, shape, undefined);
    this.inputs.push(value);
    return value;
  }

  /**
   * Declares a tensor stored with the graph. `data` holds its elements or names their position in a file.
   *
   * Files are not read here.
   *
   * @throws ArgumentError if the name is taken, or if the data or position does not fill the shape.
   */
  initializer(
    name: string,
    type: DataType,
    shape: readonly number[],
    data: TensorData | ExternalData,
  ): Value {
    const value = this.#value(this.#claim(name), type, shape, undefined);
    const owner = `initializer "${name}"`;
    const count = staticElementCount(name, shape);
    const external = typeof data === 'object' && 'file' in data;
    if (external) checkPlace(owner, type, data, count);
    this.initializers.push({ value, data: external ? data : encodeTensor(owner, type, data, count) });
    return value;
  }

  /**
   * Adds a constant. Equal constants are stored once. The shape defaults to `[]` for a number and `[length]`
   * for a list.
   */
  constant(data: TensorData, shape?: readonly number[], type: DataType = 'float32'): Value {
    const resolved = shape ?? (typeof data === 'number' ? [] : [data.length]);
    const bytes = encodeTensor('constant', type, data, staticElementCount('constant', resolved)).slice();
    const key = `${type}${formatShape(resolved)}${hash(bytes)}`;
    const bucket = this.#constants.get(key) ?? [];
    const known = bucket.find(({ data: other }) => other instanceof Uint8Array && equalBytes(other, bytes));
    if (known) return known.value;
    const value = this.#value(this.#fresh('constant'), type, resolved, undefined);
    const initializer = { value, data: bytes };
    this.#constants.set(key, [...bucket, initializer]);
    this.initializers.push(initializer);
    return value;
  }

  /** Makes `value` an output under this name. Throws an ArgumentError if the name is taken. */
  output(name: string, value: Value): void {
    if (value.graph !== this)
      throw new ArgumentError(
        `output "${name}": the value belongs to another graph; use a value of this one`,
      );
    this.#claim(name);
    this.outputs.set(name, value);
  }

  /**
   * Adds a node. Operators call this. Pass `undefined` to omit an optional input.
   *
   * @param declared - Element types and shapes of the outputs. Default: inferred by the definition.
   * @param body - Body of a loop, from {@link Graph.body}. Default: no body.
   */
  apply(
    definition: OpDefinition,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
    declared: readonly ValueType[] | undefined = definition.infer?.(inputs, attributes),
    body?: Subgraph,
  ): readonly Value[] {
    for (const [index, input] of inputs.entries()) {
      if (input && input.graph !== this) {
        throw new ArgumentError(
          `${definition.type}: operand ${index} ("${input.name}") belongs to another graph; use values of this one`,
        );
      }
    }
    const outputs: Value[] = [];
    const node: Node = { definition, inputs, outputs, attributes, body };
    if (!declared) throw new ArgumentError(`${definition.type}: the types of its outputs must be declared`);
    for (const { type, shape } of declared) {
      outputs.push(this.#value(this.#fresh(definition.type), type, shape, node));
    }
    this.nodes.push(node);
    if (definition.vjp && outputs.some(({ type }) => isFloating(type))) {
      this.#tape.push({ inputs, outputs, attributes, vjp: definition.vjp });
    }
    return outputs;
  }

  /** Runs `build` on a separate tape. Returns its result and that tape. */
  withTape<Result>(build: () => Result): { readonly result: Result; readonly tape: readonly TapeEntry[] } {
    const outer = this.#tape;
    const tape: TapeEntry[] = [];
    this.#tape = tape;
    try {
      return { result: build(), tape };
    } finally {
      this.#tape = outer;
    }
  }

  /**
   * Builds the body of a loop or branch. Its nodes are kept apart from those of the graph, and so are its dimensions.
   *
   * No gradient flows through it. Give the node that has the body a custom gradient.
   */
  body(inputs: readonly ValueType[], build: (inputs: readonly Value[]) => readonly Value[]): Subgraph {
    const outer = this.nodes;
    const known = new Set(this.dimensions.keys());
    this.nodes = [];
    try {
      const values = inputs.map(({ type, shape }) =>
        this.#value(this.#fresh('body'), type, shape, undefined),
      );
      const { result } = this.withTape(() => build(values));
      return { inputs: values, nodes: this.nodes, outputs: result };
    } finally {
      this.nodes = outer;
      for (const name of this.dimensions.keys()) if (!known.has(name)) this.dimensions.delete(name);
    }
  }

  /** Adds a group of nodes with a custom gradient rule to the tape. */
  record(entry: TapeEntry): void {
    this.#tape.push(entry);
  }

  /**
   * Declares a cheap way to recompute a value from values that are kept anyway.
   *
   * Gradient rules of later operators then read the result of `build`, so the value itself is not kept for
   * the backward pass. `build` runs at most once and must return the same type and shape. Use other operators
   * than the first time, because the runtime merges equal nodes.
   */
  rebuild(value: Value, build: () => Value): void {
    let again: Value | undefined;
    this.#rebuilders.set(value, () => {
      again ??= build();
      return again;
    });
  }

  /** The value that gradient rules should read: `value`, or its recomputation by {@link Graph.rebuild}. */
  rebuilt(value: Value): Value {
    return this.#rebuilders.get(value)?.() ?? value;
  }

  #claim(name: string): string {
    if (name === '' || name.startsWith('/')) {
      throw new ArgumentError(`graph: names must be non-empty and not begin with "/", got "${name}"`);
    }
    if (this.#names.has(name))
      throw new ArgumentError(`graph: the name "${name}" is taken; choose another one`);
    this.#names.add(name);
    return name;
  }

  #fresh(hint: string): string {
    return `/${hint}_${this.#counter++}`;
  }

  #value(name: string, type: DataType, shape: Shape, node: Node | undefined): Value {
    for (const dimension of shape) {
      const fits = typeof dimension === 'number' ? Number.isInteger(dimension) && dimension >= 0 : dimension;
      if (!fits)
        throw new ArgumentError(
          `"${name}": expected a shape of whole numbers and names, got ${formatShape(shape)}`,
        );
    }
    const value: Value = { graph: this, name, type, shape: [...shape], node };
    for (const [axis, dimension] of shape.entries()) {
      if (typeof dimension === 'string' && !this.dimensions.has(dimension)) {
        this.dimensions.set(dimension, { value, axis });
      }
    }
    return value;
  }
}

/** FNV-1a hash, 32 bits. */
function hash(bytes: Uint8Array): number {
  let state = 0x811c9dc5;
  for (const byte of bytes) state = Math.imul(state ^ byte, 0x01000193);
  return state >>> 0;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
