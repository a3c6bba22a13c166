import type { Loss, TensorOps } from '@rlp/core';
import { Graph, gradients, type Shape, serialize, traceOps, type Value } from '@rlp/onnx';
import { evaluate, matrixFromRows, matrixRows, Tape } from '@rlp/tensor';
import { InferenceSession, Tensor } from 'onnxruntime-node';

/** A matrix as JSON has it. */
export type Rows = readonly ArrayLike<number>[];

/** Something to compute and to differentiate. */
export interface Request {
  readonly inputs: Readonly<Record<string, Rows>>;
  /** Inputs to differentiate by. */
  readonly by: readonly string[];
  /** Factors of the elements of the output `loss`, of its shape or wider. Default: all 1. */
  readonly weights?: Rows | undefined;
  /** Named outputs; `Σ weights · loss` is what is differentiated. */
  compute<T>(
    ops: TensorOps<T>,
    inputs: Readonly<Record<string, T>>,
  ): { readonly loss: T } & Readonly<Record<string, T>>;
}

/** What came of a {@link Request}. */
interface Answer {
  readonly value: number;
  readonly outputs: Readonly<Record<string, number[][]>>;
  readonly gradients: Readonly<Record<string, number[][]>>;
}

/** A loss and what it is evaluated on. */
interface LossRequest {
  readonly loss: Loss;
  readonly logprobs: Rows;
  readonly mask: Rows;
  readonly weights: Rows;
  readonly columns: Readonly<Record<string, Rows>>;
  readonly entropies?: Rows | undefined;
}

/** What came of a {@link LossRequest}. */
export interface LossAnswer {
  readonly loss: number;
  /** By the logprobs. */
  readonly grad: number[][];
  readonly tokenLosses: number[][];
  /** Means over the tokens that count. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** An implementation of `TensorOps`, with its way to evaluate a loss. */
export interface Operations {
  readonly name: string;
  differentiate(request: Request): Promise<Answer>;
  evaluate(request: LossRequest): Promise<LossAnswer>;
}

/** `Σ weights · loss`, over the weights that are not 0. */
function weightedTotal<T>(ops: TensorOps<T>, loss: T, weights: T): T {
  return ops.sum(ops.mul(ops.where(weights, loss, ops.constant(0)), weights));
}

const toLists = (rows: Rows) => rows.map((row) => Array.from(row));

/** Float64 on a tape: `@rlp/tensor`. */
export const eager: Operations = {
  name: 'eager float64',
  async differentiate({ inputs, by, weights, compute }) {
    const tape = new Tape();
    const variables = Object.fromEntries(
      Object.entries(inputs).map(([name, rows]) => {
        const matrix = matrixFromRows(rows);
        return [name, by.includes(name) ? tape.variable(matrix) : tape.data(matrix)];
      }),
    );
    const outputs = compute(tape, variables);
    const { loss } = outputs;
    const ones = { ...loss, data: new Float64Array(loss.data.length).fill(1) };
    const factors = weights === undefined ? ones : matrixFromRows(weights);
    const total = weightedTotal(tape, loss, tape.data(factors));
    tape.backward(total, { rows: 1, columns: 1, data: Float64Array.of(1) });
    return {
      value: total.data[0]!,
      outputs: mapValues(outputs, (output) => toLists(matrixRows(output))),
      gradients: Object.fromEntries(
        by.map((name) => [name, toLists(matrixRows(tape.gradient(variables[name]!)))]),
      ),
    };
  },
  async evaluate({ loss, logprobs, mask, weights, columns, entropies }) {
    const result = evaluate(loss, {
      logprobs: matrixFromRows(logprobs),
      mask: matrixFromRows(mask),
      weights: matrixFromRows(weights),
      entropies: entropies && matrixFromRows(entropies),
      columns: mapValues(columns, (rows) => matrixFromRows(rows)),
    });
    return {
      loss: result.value,
      grad: toLists(matrixRows(result.gradients.logprobs)),
      tokenLosses: toLists(matrixRows(result.tokenLosses)),
      metrics: result.metrics,
    };
  },
};

/** Traced into a graph in float32, run by ONNX Runtime on the CPU. */
export const onnx: Operations = {
  name: 'onnx float32',
  async differentiate({ weights, ...request }) {
    const feeds = { ...request.inputs, ...(weights && { [weightsName]: weights }) };
    const found = await run(sessionOf(request, namedDimensions(feeds)), feeds);
    const named = (prefix: string) =>
      Object.fromEntries(
        Object.entries(found).flatMap(([name, rows]) =>
          name.startsWith(prefix) ? [[name.slice(prefix.length), rows]] : [],
        ),
      );
    return { value: found.total![0]![0]!, outputs: named('output:'), gradients: named('gradient:') };
  },
  async evaluate({ loss, logprobs, mask, weights, columns, entropies }) {
    const counted = mask.map((row) => Array.from(row, (counts) => (counts === 0 ? 0 : 1)));
    const {
      value,
      outputs,
      gradients: slopes,
    } = await onnx.differentiate({
      inputs: { logprobs, mask: counted, ...(entropies && { entropies }), ...columns },
      by: ['logprobs'],
      weights: weights.map((row, b) => Array.from(row, (weight, t) => weight * counted[b]![t]!)),
      compute(ops, { logprobs: given, mask: counts, entropies: spread, ...rest }) {
        const inputs = { logprobs: given!, mask: counts!, entropies: spread, columns: rest };
        const { tokenLosses, metrics = {} } = loss.compute(ops, inputs);
        const zero = ops.constant(0);
        const means = mapValues(metrics, (metric) => {
          const count = ops.maximum(ops.sum(counts!), ops.constant(1));
          return ops.div(ops.sum(ops.where(counts!, metric, zero)), count);
        });
        return { loss: ops.where(counts!, tokenLosses, zero), ...means };
      },
    });
    const { loss: tokenLosses, ...means } = outputs;
    return {
      loss: value,
      grad: slopes.logprobs!,
      tokenLosses: tokenLosses!,
      metrics: mapValues(means, (mean) => mean[0]![0]!),
    };
  },
};

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

/** The graph's input for a request's weights; no request has an input of this name. */
const weightsName = 'weights of the loss';

/** Shapes of a request's inputs and weights, by name. */
type Shapes = Readonly<Record<string, Shape>>;

/**
 * Names for the sizes that most inputs have, as in a training graph, so that cases of other sizes share it. 1 stays a number, for
 * it broadcasts.
 */
function namedDimensions(inputs: Readonly<Record<string, Rows>>): Shapes {
  const sizes = mapValues(inputs, sizeOf);
  const [count, length] = [0, 1].map((axis) => Math.max(...Object.values(sizes).map((size) => size[axis]!)));
  return mapValues(sizes, ([rows, columns]) => [
    rows > 1 && rows === count ? 'sequences' : rows,
    columns > 1 && columns === length ? 'tokens' : columns,
  ]);
}

function sizeOf(rows: Rows): [number, number] {
  return [rows.length, rows[0]?.length ?? 0];
}

/** Traces a request and its gradients, as the training graph does. */
function traced({ inputs, by, compute }: Request, shapes: Shapes): Graph {
  const graph = new Graph();
  const ops = traceOps(graph);
  const values = mapValues(shapes, (shape, name) => graph.input(name, 'float32', shape));
  const outputs = compute(
    ops,
    mapValues(inputs, (_, name) => values[name]!),
  );
  const total = weightedTotal(ops, outputs.loss, values[weightsName] ?? ops.constant(1));
  graph.output('total', total);
  for (const [name, output] of Object.entries(outputs)) expose(graph, `output:${name}`, output);
  const wanted = by.map((name) => values[name]!);
  const derived = wanted.length === 0 ? [] : gradients(total, wanted);
  for (const [index, gradient] of derived.entries()) expose(graph, `gradient:${by[index]}`, gradient);
  return graph;
}

/** Makes a value an output; a value may be one only once, and an input never. */
function expose(graph: Graph, name: string, value: Value): void {
  graph.output(name, traceOps(graph).add(value, traceOps(graph).constant(0)));
}

/** Every operation that a request asks for, its operands and its constants: equal lists are equal graphs. */
function description({ inputs, by, compute }: Request, shapes: Shapes): string {
  const lines: string[] = [];
  const note =
    (operation: string) =>
    (...operands: readonly (string | number)[]) =>
      `#${lines.push(`${operation} ${operands.join(' ')}`)}`;
  const ops = new Proxy({}, { get: (_, operation) => note(String(operation)) }) as TensorOps<string>;
  const outputs = compute(
    ops,
    mapValues(inputs, (_, name) => name),
  );
  return JSON.stringify([shapes, by, outputs, lines]);
}

const sessions = new Map<string, Promise<InferenceSession>>();

/** Cases differ in their numbers more often than in what is computed, so what is computed is traced once. */
function sessionOf(request: Request, shapes: Shapes): Promise<InferenceSession> {
  const key = description(request, shapes);
  const session =
    sessions.get(key) ??
    InferenceSession.create(serialize(traced(request, shapes)), {
      intraOpNumThreads: 1,
      logSeverityLevel: 3,
      graphOptimizationLevel: 'disabled',
    });
  sessions.set(key, session);
  return session;
}

async function run(
  starting: Promise<InferenceSession>,
  feeds: Readonly<Record<string, Rows>>,
): Promise<Record<string, number[][]>> {
  const session = await starting;
  const tensors = session.inputNames.map((name) => {
    const rows = feeds[name]!;
    const data = Float32Array.from(rows.flatMap((row) => Array.from(row)));
    return [name, new Tensor('float32', data, sizeOf(rows))];
  });
  const found = await session.run(Object.fromEntries(tensors));
  return mapValues(found, ({ dims, data }) => {
    const [rows = 1, columns = 1] = dims;
    const list = Array.from(data as Float32Array);
    return Array.from({ length: rows }, (_, row) => list.slice(row * columns, (row + 1) * columns));
  });
}
