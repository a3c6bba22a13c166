import { computedLoss, declaredColumns, type Loss, type LossInputs } from '@rlp/core';
import { Graph, type GraphRecord, pullback, recordGraph, traceOps, type Value } from '@rlp/onnx';
import { mul, reshape, sum } from '@rlp/onnx/ops';
import { readsValues } from './value-losses.ts';

/** Shape of what a loss reads: sequences, and trained tokens of the sequence that has most. Known at run time. */
export const lossShape = ['sequences', 'trained'];

/** Per-position scores that a loss can read. */
export type Score = 'logprobs' | 'entropies' | 'values';

/**
 * A loss as data: a graph with its derivatives by the model's scores.
 *
 * Functions cannot be sent to a thread. The small graph of the loss is traced where the function is, and the
 * model around it is built in the engine's thread.
 */
export interface TracedLoss {
  /**
   * Graph of the loss and its gradients.
   *
   * Inputs: `mask`, `weights`, `column:…` and {@link TracedLoss.reads}, all of {@link lossShape}. Outputs:
   * `loss`, `metric:…` and `upstream:…`. Metrics are scalar sums over trained tokens. `upstream:…` are the
   * gradients by the scores. A score that the loss does not depend on has none.
   */
  readonly graph: GraphRecord;
  readonly reads: readonly Score[];
  readonly columns: readonly string[];
  readonly metrics: readonly string[];
}

/** Traces a loss. It reads scores of 0 if the mask is 0, so masked positions cannot produce a NaN. */
export function traceLoss(loss: Loss): TracedLoss {
  const graph = new Graph();
  const input = (name: string) => graph.input(name, 'float32', lossShape);
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
  const { tokenLosses, metrics = {} } = computedLoss(loss, ops, inputs);
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
