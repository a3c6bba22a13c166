import { RandomStream } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { createEngine } from '@rlp/onnx/runtime';
import { type Measurement, type MeasureOptions, peakMebibytes, timeRuns } from './measurement.ts';
import { type BenchShape, benchModel } from './shapes.ts';

/** Sampling at temperature 1 with log-probabilities of the chosen tokens, all prompts at once, no two alike. */
export async function measureGenerate(shape: BenchShape, options: MeasureOptions): Promise<Measurement> {
  const { prompts, promptLength, newTokens, vocabulary } = shape;
  const engine = await createEngine({ threads: options.threads });
  const backend = await createOnnxSampler({
    engine,
    model: benchModel(shape),
    weights: options.weights,
    maxSequences: prompts,
    contextLength: promptLength + newTokens,
  });
  const random = RandomStream.named('bench', 'prompts');
  const run = (index: number) =>
    Promise.all(
      Array.from({ length: prompts }, (_, row) =>
        backend.sample({
          prompt: Array.from({ length: promptLength }, () => random.integer(vocabulary)),
          count: 1,
          maxTokens: newTokens,
          seed: `${index}/${row}`,
        }),
      ),
    );
  const times = await timeRuns(options, run);
  await backend.close();
  await engine.close();
  return { ...times, tokens: prompts * newTokens, peakRssMiB: peakMebibytes(), extra: {} };
}
