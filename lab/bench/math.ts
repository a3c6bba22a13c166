import { loadavg } from 'node:os';
import { groupRelativeAdvantages, spreadOverTokens } from '@rlp/algorithms/advantage';
import { aggregationWeights, policyLoss } from '@rlp/algorithms/loss';
import { RandomStream } from '@rlp/core';
import { evaluate, type Matrix, matrixFromRows, matrixRows } from '@rlp/tensor';
import { type MeasureOptions, timeRuns } from './measurement.ts';
import { type Line, median } from './report.ts';

const [rows, length, groupSize] = [1024, 1024, 8];

/** Milliseconds that one call may take at most. */
const target = 150;

/**
 * The whole GRPO path on plain arrays, on one thread: group advantages, spread over tokens, aggregation weights, and value,
 * gradient and diagnostics of the clipped surrogate with k3 to a reference and the sequence mask for the sampler's gap.
 */
export async function* mathLines(options: MeasureOptions): AsyncGenerator<Line> {
  const data = experience();
  const parts = { advantages: [] as number[], weights: [] as number[], loss: [] as number[] };
  const { milliseconds, processorMilliseconds } = await timeRuns(options, async (run) => {
    const times = grpo(data);
    if (run < options.warmup) return;
    for (const [name, time] of Object.entries(times)) parts[name as keyof typeof parts].push(time);
  });
  const rounded = (value: number) => Number(value.toFixed(1));
  yield {
    name: 'math',
    shape: `${rows}x${length}`,
    value: rounded(median(milliseconds)),
    unit: 'ms',
    target,
    threads: 1,
    runs: options.runs,
    load: rounded(loadavg()[0]!),
    bestMs: rounded(Math.min(...milliseconds)),
    processorMs: rounded(median(processorMilliseconds)),
    parts: Object.fromEntries(Object.entries(parts).map(([name, times]) => [name, rounded(median(times))])),
    allocated: allocated(experience, grpo),
  };
}

interface Experience {
  readonly rewards: readonly number[][];
  readonly mask: Matrix;
  readonly logprobs: Matrix;
  readonly columns: Readonly<Record<'proximalLogprobs' | 'behaviorLogprobs' | 'referenceLogprobs', Matrix>>;
}

/** Sequences of a prompt of up to 64 tokens and an answer; policies that have moved a little apart. */
function experience(): Experience {
  const random = RandomStream.named('bench', 'math');
  const filled = (value: (index: number) => number): Matrix => ({
    rows,
    columns: length,
    data: Float64Array.from({ length: rows * length }, (_, index) => value(index)),
  });
  const logprobs = filled(() => -2 * random.uniform());
  const near = (distance: number) =>
    filled((index) => Math.min(0, logprobs.data[index]! + distance * (random.uniform() - 0.5)));
  const prompts = Array.from({ length: rows }, () => 1 + random.integer(64));
  return {
    rewards: Array.from({ length: rows / groupSize }, () =>
      Array.from({ length: groupSize }, () => random.integer(2)),
    ),
    mask: filled((index) => (index % length < prompts[Math.floor(index / length)]! ? 0 : 1)),
    logprobs,
    columns: { proximalLogprobs: near(0.5), behaviorLogprobs: near(0.01), referenceLogprobs: near(1) },
  };
}

const loss = policyLoss({ proximal: 'column', klCoefficient: 0.05 });

/** One update's worth; milliseconds of its parts. */
function grpo({
  rewards,
  mask,
  logprobs,
  columns,
}: Experience): Record<'advantages' | 'weights' | 'loss', number> {
  const start = performance.now();
  const masks = matrixRows(mask);
  const advantages = spreadOverTokens(groupRelativeAdvantages(rewards).flat(), masks);
  const advantagesDone = performance.now();
  const weights = aggregationWeights(masks, { mode: 'token-mean' });
  const weightsDone = performance.now();
  const { value } = evaluate(loss, {
    logprobs,
    mask,
    weights: matrixFromRows(weights),
    columns: { ...columns, advantages: matrixFromRows(advantages) },
  });
  if (!Number.isFinite(value)) throw new Error(`bench math: the loss is ${value}`);
  return {
    advantages: advantagesDone - start,
    weights: weightsDone - advantagesDone,
    loss: performance.now() - weightsDone,
  };
}

/** What one call allocates: arrays with memory of their own, their size, and views of such memory. */
function allocated<Input>(
  prepare: () => Input,
  call: (input: Input) => void,
): Record<'arrays' | 'MiB' | 'views', number> {
  const original = globalThis.Float64Array;
  const count = { arrays: 0, bytes: 0, views: 0 };
  class Counted extends original {
    constructor(...given: unknown[]) {
      super(...(given as [number]));
      if (given[0] instanceof ArrayBuffer) {
        count.views += 1;
        return;
      }
      count.arrays += 1;
      count.bytes += this.byteLength;
    }
  }
  globalThis.Float64Array = Counted as unknown as Float64ArrayConstructor;
  try {
    const input = prepare();
    Object.assign(count, { arrays: 0, bytes: 0, views: 0 });
    call(input);
  } finally {
    globalThis.Float64Array = original;
  }
  const { arrays, bytes, views } = count;
  return { arrays, MiB: Number((bytes / 2 ** 20).toFixed(1)), views };
}
