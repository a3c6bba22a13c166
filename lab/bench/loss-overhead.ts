import { loadavg } from 'node:os';
import { crossEntropy, policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend } from '@rlp/backprop';
import type { Loss } from '@rlp/core';
import { Graph, gradients, serialize, traceOps } from '@rlp/onnx';
import { createEngine } from '@rlp/onnx/runtime';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { MeasureOptions } from './measurement.ts';
import { type Line, median } from './report.ts';
import { type BenchShape, benchModel, benchSequences, type ShapeName, shapes } from './shapes.ts';

/** Clip, k3 to a reference policy and the sequence mask for the sampler's gap: all that GRPO adds to cross-entropy. */
const full = policyLoss({ proximal: 'column', klCoefficient: 0.05, correction: 'sequence-mask' });

/**
 * What the loss costs in the training graph: steps with plain cross-entropy and with the full GRPO loss in turn, in one process
 * and on one model. The share is that of the medians; on a busy machine it says little, so `alone` has the milliseconds of the
 * losses' own nodes and their gradients, in graphs of nothing else on batches of the same shape.
 */
export async function* lossOverheadLines(
  shapeName: ShapeName,
  { threads, warmup, runs }: MeasureOptions,
): AsyncGenerator<Line> {
  const shape = shapes[shapeName];
  const load = Number(loadavg()[0]!.toFixed(1));
  const engine = await createEngine({ threads });
  const backend = await createOnnxBackend({
    engine,
    model: benchModel(shape),
    learningRate: 1e-4,
    maxGradientNorm: 'off',
    reference: 'none',
    tokensPerMicroBatch: shape.rows * shape.length,
  });
  const sequences = benchSequences(shape, ['behaviorLogprobs', 'proximalLogprobs', 'referenceLogprobs']);
  const [plain, whole]: [number[], number[]] = [[], []];
  for (let run = 0; run < warmup + runs; run++) {
    for (const [loss, measured] of [[crossEntropy, plain] as const, [full, whole] as const]) {
      const start = performance.now();
      const pass = backend.forwardBackward({ sequences }, loss);
      await backend.optimStep();
      await pass;
      if (run >= warmup) measured.push(performance.now() - start);
    }
  }
  await backend.close();
  await engine.close();
  const percent = (share: number) => Number((100 * share).toFixed(2));
  yield {
    name: 'loss-overhead',
    shape: shapeName,
    value: percent(median(whole) / median(plain) - 1),
    unit: '%',
    target: 2,
    threads,
    runs,
    load,
    crossEntropyMs: Number(median(plain).toFixed(1)),
    grpoMs: Number(median(whole).toFixed(1)),
    ofFastest: percent(Math.min(...whole) / Math.min(...plain) - 1),
    ofPairs: percent(median(whole.map((time, run) => time / plain[run]!)) - 1),
    alone: {
      crossEntropyMs: await millisecondsAlone(crossEntropy, shape, threads),
      grpoMs: await millisecondsAlone(full, shape, threads),
    },
  };
}

/** Value, diagnostics and gradient of a loss by the logprobs, as nodes of a graph of their own: the median of many runs. */
async function millisecondsAlone(loss: Loss, { rows, length }: BenchShape, threads: number): Promise<number> {
  const graph = new Graph();
  const ops = traceOps(graph);
  const input = (name: string) => graph.input(name, 'float32', [rows, length]);
  const names = ['logprobs', 'mask', 'weights', ...loss.columns];
  const [logprobs, mask, weights, ...columns] = names.map(input);
  const { tokenLosses, metrics = {} } = loss.compute(ops, {
    logprobs: logprobs!,
    mask: mask!,
    columns: Object.fromEntries(loss.columns.map((name, index) => [name, columns[index]!])),
  });
  const total = ops.sum(ops.mul(ops.where(mask!, tokenLosses, ops.constant(0)), weights!));
  graph.output('total', total);
  for (const [name, metric] of Object.entries(metrics)) {
    graph.output(name, ops.sum(ops.where(mask!, metric, ops.constant(0))));
  }
  graph.output('gradient', gradients(total, [logprobs!])[0]!);
  const session = await InferenceSession.create(serialize(graph), {
    intraOpNumThreads: threads,
    logSeverityLevel: 3,
  });
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => [
      name,
      new Tensor('float32', new Float32Array(rows * length).fill(name === 'mask' ? 1 : -0.5), [rows, length]),
    ]),
  );
  const times: number[] = [];
  for (let run = 0; run < 200; run++) {
    const start = performance.now();
    await session.run(feeds);
    times.push(performance.now() - start);
  }
  await session.release();
  return Number(median(times).toFixed(3));
}
