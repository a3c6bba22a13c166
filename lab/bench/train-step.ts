import { monitorEventLoopDelay } from 'node:perf_hooks';
import { policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend, type OnnxBackendOptions } from '@rlp/backprop';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import {
  type Measurement,
  type MeasureOptions,
  operatorShares,
  peakMebibytes,
  timeRuns,
} from './measurement.ts';
import { type BenchShape, benchModel, benchSequences } from './shapes.ts';

const lagResolutionMs = 1;

/** Steps during which the lag is measured. */
const lagRuns = 3;

/**
 * One training step as a user makes it: `forwardBackward` with a PPO-clip loss and `optimStep` with AdamW, the engine in its
 * own thread. Every token but each sequence's first is trained on, or the answers of groups.
 */
export async function measureTrainStep(shape: BenchShape, options: MeasureOptions): Promise<Measurement> {
  const { threads, profiling, provider: executionProvider } = options;
  const engine = await createEngine({
    threads,
    executionProvider,
    profiling: profiling === 'operators' ? 'on' : 'runs',
  });
  const backend = await createOnnxBackend(backendOptions(engine, shape, options));
  const loss = policyLoss({ clipHigh: 0.2, proximal: 'behavior', correction: 'none' });
  const sequences = benchSequences(shape, ['behaviorLogprobs']);
  const step = async () => {
    const gradients = backend.forwardBackward({ sequences }, loss);
    await backend.optimStep();
    await gradients;
  };
  let before = await engine.profile();
  const times = await timeRuns(options, step, async () => {
    before = await engine.profile();
  });
  const after = await engine.profile();
  // Its timer wakes the main thread every millisecond, which makes steps on all processors 6 % slower. So these steps are not timed.
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
  lag.enable();
  for (let run = 0; run < lagRuns; run++) await step();
  lag.disable();
  await backend.close();
  await engine.close();
  const inSessions = (after[0]?.milliseconds ?? 0) - (before[0]?.milliseconds ?? 0);
  const total = times.milliseconds.reduce((sum, time) => sum + time, 0);
  return {
    ...times,
    tokens: sequences.reduce((sum, { tokens }) => sum + tokens.length - 1, 0),
    peakRssMiB: peakMebibytes(),
    extra:
      profiling === 'operators'
        ? { operators: operatorShares(after) }
        : {
            outsideSessions: 1 - inSessions / total,
            eventLoopLagP99Ms: Math.max(0, lag.percentile(99) / 1e6 - lagResolutionMs),
          },
  };
}

function backendOptions(engine: Engine, shape: BenchShape, { weights }: MeasureOptions): OnnxBackendOptions {
  return {
    engine,
    precision: weights === 'float16' ? 'mixed' : 'float32',
    model: benchModel(shape),
    learningRate: 1e-4,
    optimizer: { weightDecay: 0.01, decay: 'all' },
    maxGradientNorm: 'off',
    reference: 'none',
    tokensPerMicroBatch: shape.batch ? 4096 : shape.rows * shape.length,
  };
}
