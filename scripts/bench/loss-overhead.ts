import { loadavg } from 'node:os';
import { crossEntropy, policyLoss } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { type Loss, RandomStream, type TrainingSequence } from '@rlp/core';
import { createEngine } from '@rlp/onnx/runtime';
import type { MeasureOptions } from './measurement.ts';
import { type Line, median } from './report.ts';
import { type BenchShape, benchModel, type ShapeName, shapes } from './shapes.ts';

/** Clip, k3 to a reference policy and the sequence mask for the sampler's gap: all that GRPO adds to cross-entropy. */
const full = policyLoss({ proximal: 'column', klCoefficient: 0.05, correction: 'sequence-mask' });

/**
 * What the loss costs in the training graph: steps with plain cross-entropy and with the full GRPO loss in turn, in one process
 * and on one model. The share is that of the medians.
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
  const sequences = trainingSequences(shape);
  const times = new Map<Loss, number[]>([
    [crossEntropy, []],
    [full, []],
  ]);
  for (let run = 0; run < warmup + runs; run++) {
    for (const [loss, measured] of times) {
      const start = performance.now();
      const gradients = backend.forwardBackward({ sequences }, loss);
      await backend.optimStep();
      await gradients;
      if (run >= warmup) measured.push(performance.now() - start);
    }
  }
  await backend.close();
  await engine.close();
  const [plain, whole] = [times.get(crossEntropy)!, times.get(full)!];
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
  };
}

function trainingSequences({ rows, length, vocabulary }: BenchShape): TrainingSequence[] {
  const random = RandomStream.named('bench', 'batch');
  const numbers = (value: () => number) => Array.from({ length: length + 1 }, value);
  const near = () => numbers(() => -Math.log(vocabulary) + 0.1 * (random.uniform() - 0.5));
  return Array.from({ length: rows }, () => ({
    tokens: numbers(() => random.integer(vocabulary)),
    mask: numbers(() => 1).with(0, 0),
    weights: numbers(() => 1 / (rows * length)),
    columns: {
      advantages: numbers(() => 2 * random.uniform() - 1),
      behaviorLogprobs: near(),
      proximalLogprobs: near(),
      referenceLogprobs: near(),
    },
  }));
}
