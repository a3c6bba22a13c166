import { RandomStream } from '@rlp/core';
import { InferenceSession, Tensor } from 'onnxruntime-node';

import { gradients } from '../autodiff/gradients.ts';
import type { DataType } from '../graph/data-type.ts';
import { Graph, type Value } from '../graph/graph.ts';
import { serialize } from '../graph/serialize.ts';
import { mul } from '../ops/arithmetic.ts';
import { sum } from '../ops/shape.ts';

/** A tensor as plain numbers. */
export interface Numbers {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

/** A graph loaded into ONNX Runtime on one thread. Feeds and results are plain numbers. */
export interface Evaluator {
  run(feeds: Readonly<Record<string, Numbers>>): Promise<Record<string, Numbers>>;
}

function toTensor(type: DataType, { shape, data }: Numbers): Tensor {
  switch (type) {
    case 'float64':
      return new Tensor('float64', Float64Array.from(data), shape);
    case 'int64':
      return new Tensor('int64', BigInt64Array.from(data, BigInt), shape);
    case 'int32':
      return new Tensor('int32', Int32Array.from(data), shape);
    case 'bool':
      return new Tensor('bool', Uint8Array.from(data), shape);
    default:
      return new Tensor('float32', Float32Array.from(data), shape);
  }
}

/**
 * Loads a graph.
 *
 * Graphs with float64 inputs get basic optimisation only, because the fusions of ONNX Runtime assume float32.
 * For example, `x · sigmoid(x)` would become a QuickGelu, which has no float64 kernel.
 */
export async function load(graph: Graph, options: InferenceSession.SessionOptions = {}): Promise<Evaluator> {
  const precise = graph.inputs.some(({ type }) => type === 'float64');
  const session = await InferenceSession.create(serialize(graph), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
    graphOptimizationLevel: precise ? 'basic' : 'all',
    ...options,
  });
  const types = new Map(graph.inputs.map(({ name, type }) => [name, type]));
  return {
    async run(feeds) {
      const tensors = session.inputNames.map((name) => [name, toTensor(types.get(name)!, feeds[name]!)]);
      const outputs = await session.run(Object.fromEntries(tensors));
      return Object.fromEntries(
        Object.entries(outputs).map(([name, { dims, data }]) => [
          name,
          { shape: [...dims], data: Array.from(data as Float32Array, Number) },
        ]),
      );
    },
  };
}

/** Normal deviates of a named stream. */
export function normals(name: string, shape: readonly number[], scale = 1): Numbers {
  const stream = RandomStream.named('onnx test', name, ...shape);
  const count = shape.reduce((product, size) => product * size, 1);
  return { shape, data: Array.from({ length: count }, () => scale * stream.normal()) };
}

/** A function from values to one value, and the inputs to check it at. */
export interface GradientCase {
  readonly inputs: readonly Numbers[];
  readonly build: (values: readonly Value[]) => Value;
  /** Element type of graph and inputs. Default float64. */
  readonly type?: DataType;
}

/** Value and gradients of `Σ c ⊙ build(inputs)` for fixed random `c`. */
export async function differentiate({ inputs, build, type = 'float64' }: GradientCase) {
  const graph = new Graph();
  const values = inputs.map(({ shape }, index) => graph.input(`x${index}`, type, shape));
  const y = build(values);
  const weights = normals('weights', y.shape as number[]);
  const loss = sum(mul(y, graph.constant(weights.data, weights.shape, type)));
  graph.output('loss', loss);
  graph.output('y', y);
  const forwardOnly = await load(graph);
  for (const [index, gradient] of gradients(loss, values).entries()) graph.output(`d${index}`, gradient);
  const evaluator = await load(graph);
  const feeds = (changed: readonly Numbers[]) =>
    Object.fromEntries(changed.map((numbers, index) => [`x${index}`, numbers]));
  const found = await evaluator.run(feeds(inputs));
  return {
    y: found.y!,
    weights,
    gradients: inputs.map((_, index) => found[`d${index}`]!),
    lossAt: async (changed: readonly Numbers[]) => (await forwardOnly.run(feeds(changed))).loss!.data[0]!,
  };
}

/** Central differences of `lossAt` around `inputs`. */
export async function finiteDifferences(
  inputs: readonly Numbers[],
  lossAt: (inputs: readonly Numbers[]) => number | Promise<number>,
  step = 1e-5,
): Promise<Numbers[]> {
  const results: Numbers[] = [];
  for (const [index, input] of inputs.entries()) {
    const data: number[] = [];
    for (const [position, element] of input.data.entries()) {
      const at = (value: number) =>
        lossAt(inputs.with(index, { shape: input.shape, data: input.data.with(position, value) }));
      data.push(((await at(element + step)) - (await at(element - step))) / (2 * step));
    }
    results.push({ shape: input.shape, data });
  }
  return results;
}

/** Largest difference of two tensors, relative to max(1, largest element of `expected`). */
export function relativeError(actual: Numbers, expected: Numbers): number {
  if (actual.shape.join() !== expected.shape.join()) return Number.POSITIVE_INFINITY;
  const scale = Math.max(1, ...expected.data.map(Math.abs));
  const differences = expected.data.map((value, index) => Math.abs(value - actual.data[index]!) / scale);
  return differences.some(Number.isNaN) ? Number.POSITIVE_INFINITY : Math.max(0, ...differences);
}
