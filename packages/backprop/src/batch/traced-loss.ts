import { declaredColumns, type Loss, type LossInputs } from '@rlp/core';
import {
  Graph,
  type GraphRecord,
  mul,
  pullback,
  recordGraph,
  reshape,
  sum,
  traceOps,
  type Value,
} from '@rlp/onnx';
import { readsValues } from './value-losses.ts';

/** Rows and length of a micro-batch, known when the graph runs. */
export const batchShape = ['rows', 'length'];

/** What a loss reads of a model, per position. */
export type Score = 'logprobs' | 'entropies' | 'values';

/**
 * A loss as data: a graph of its own with its derivatives by what it reads of a model. Losses are functions, which no thread
 * can be sent; this is small and made where the function lives, and the model around it is built in the engine's thread.
 */
export interface TracedLoss {
  /**
   * Inputs `mask`, `weights`, `column:…` and those of {@link TracedLoss.reads}, all `[rows, length]`. Outputs `loss`, `metric:…` (sums
   * over trained tokens, all scalars) and `upstream:…`, the loss's gradients by what it reads; one is missing where the loss does
   * not depend on it.
   */
  readonly graph: GraphRecord;
  readonly reads: readonly Score[];
  readonly columns: readonly string[];
  readonly metrics: readonly string[];
}

/**
 * Traces a loss. It sees logprobs, entropies and values of 0 where the mask is 0, so nothing there can produce a NaN, forward
 * or backward.
 */
export function traceLoss(loss: Loss): TracedLoss {
  const graph = new Graph();
  const input = (name: string) => graph.input(name, 'float32', batchShape);
  const ops = traceOps(graph);
  const [mask, weights] = [input('mask'), input('weights')];
  const zero = ops.constant(0);
  const reads = scoresOf(loss);
  const scores = new Map(reads.map((score) => [score, input(score)]));
  const masked = (score: Score) => {
    const value = scores.get(score);
    return value && ops.where(mask, value, zero);
  };
  const inputs: LossInputs<Value> = {
    logprobs: masked('logprobs') ?? ops.mul(mask, zero),
    mask,
    entropies: masked('entropies'),
    values: masked('values'),
    columns: declaredColumns(loss, (name) => input(`column:${name}`)),
  };
  const { tokenLosses, metrics = {} } = loss.compute(ops, inputs);
  const total = reshape(sum(mul(ops.where(mask, tokenLosses, zero), weights)), []);
  graph.output('loss', total);
  for (const [name, metric] of Object.entries(metrics)) {
    graph.output(`metric:${name}`, reshape(sum(mul(ops.where(mask, metric, zero), mask)), []));
  }
  const derived = pullback(new Map([[total, graph.constant(1)]]), [...scores.values()]);
  for (const [i, score] of reads.entries()) {
    if (derived[i]) graph.output(`upstream:${score}`, derived[i]);
  }
  return { graph: recordGraph(graph), reads, columns: loss.columns, metrics: Object.keys(metrics) };
}

function scoresOf(loss: Loss): Score[] {
  return [
    ...(loss.values === 'only' ? [] : (['logprobs'] as const)),
    ...(loss.entropies === 'needed' ? (['entropies'] as const) : []),
    ...(readsValues(loss) ? (['values'] as const) : []),
  ];
}
