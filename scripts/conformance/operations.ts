import { evaluate, matrixFromRows, matrixRows, Tape } from '@rlp/backprop/eager';
import type { Loss, TensorOps } from '@rlp/core';
import { Graph, gradients, serialize, traceOps, type Value } from '@rlp/onnx';
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

/** Float64 on a tape: `@rlp/backprop/eager`. */
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
  async differentiate({ inputs, by, weights, compute }) {
    const graph = new Graph();
    const ops = traceOps(graph);
    const values = mapValues(inputs, (rows, name) => input(graph, name, rows));
    const outputs = compute(ops, values);
    const factors = weights === undefined ? ops.constant(1) : input(graph, 'weights', weights);
    const total = weightedTotal(ops, outputs.loss, factors);
    graph.output('total', total);
    for (const [name, output] of Object.entries(outputs)) expose(graph, `output:${name}`, output);
    const derived =
      by.length === 0
        ? []
        : gradients(
            total,
            by.map((name) => values[name]!),
          );
    for (const [index, gradient] of derived.entries()) expose(graph, `gradient:${by[index]}`, gradient);
    const found = await runGraph(graph, { ...inputs, ...(weights && { weights }) });
    return {
      value: found.total![0]![0]!,
      outputs: mapValues(outputs, (_, name) => found[`output:${name}`]!),
      gradients: Object.fromEntries(by.map((name) => [name, found[`gradient:${name}`]!])),
    };
  },
  async evaluate({ loss, logprobs, mask, weights, columns, entropies }) {
    const counted = mask.map((row) => Array.from(row, (counts) => (counts === 0 ? 0 : 1)));
    let names: string[] = [];
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
        names = Object.keys(metrics);
        const zero = ops.constant(0);
        const means = mapValues(metrics, (metric) => {
          const count = ops.maximum(ops.sum(counts!), ops.constant(1));
          return ops.div(ops.sum(ops.where(counts!, metric, zero)), count);
        });
        return { loss: ops.where(counts!, tokenLosses, zero), ...means };
      },
    });
    return {
      loss: value,
      grad: slopes.logprobs!,
      tokenLosses: outputs.loss!,
      metrics: Object.fromEntries(names.map((name) => [name, outputs[name]![0]![0]!])),
    };
  },
};

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

function input(graph: Graph, name: string, rows: Rows): Value {
  return graph.input(name, 'float32', [rows.length, rows[0]?.length ?? 0]);
}

/** Makes a value an output; a value may be one only once, and an input never. */
function expose(graph: Graph, name: string, value: Value): void {
  graph.output(name, traceOps(graph).add(value, traceOps(graph).constant(0)));
}

/** Sessions by the bytes of their graphs: cases differ in their numbers more often than in what is computed. */
const sessions = new Map<string, Promise<InferenceSession>>();

function sessionOf(graph: Graph): Promise<InferenceSession> {
  const bytes = serialize(graph);
  const key = Buffer.from(bytes).toString('latin1');
  const session =
    sessions.get(key) ??
    InferenceSession.create(bytes, {
      intraOpNumThreads: 1,
      logSeverityLevel: 3,
      graphOptimizationLevel: 'disabled',
    });
  sessions.set(key, session);
  return session;
}

async function runGraph(
  graph: Graph,
  feeds: Readonly<Record<string, Rows>>,
): Promise<Record<string, number[][]>> {
  const session = await sessionOf(graph);
  const tensors = session.inputNames.map((name) => {
    const rows = feeds[name]!;
    const data = Float32Array.from(rows.flatMap((row) => Array.from(row)));
    return [name, new Tensor('float32', data, [rows.length, rows[0]?.length ?? 0])];
  });
  const found = await session.run(Object.fromEntries(tensors));
  return mapValues(found, ({ dims, data }) => {
    const [rows = 1, columns = 1] = dims;
    const list = Array.from(data as Float32Array);
    return Array.from({ length: rows }, (_, row) => list.slice(row * columns, (row + 1) * columns));
  });
}
