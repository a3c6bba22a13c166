import { loadavg } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type MonitorBatch, RandomStream } from '@rlp/core';
import { RewardQualityAssessor, RewardQualityMonitor, rewardHackingDetector } from '@rlp/quality-monitor';
import { type MeasureOptions, peakMebibytes, timeRuns } from './measurement.ts';
import { pseudoWords } from './pseudo-words.ts';
import { type Line, median } from './report.ts';

const [windowSize, words, batchSize] = [1000, 200, 64];
const responsesPerRun = 12_800;

/** Responses per second on one core that we want. */
const target = 50_000;

/**
 * Responses per second assessed, near-duplicates counted: by the assessor, by the reward-hacking detector, and by the monitor
 * with both; and memory while `batches` of them stream through.
 */
export async function* monitorLines(
  options: MeasureOptions & { readonly batches: number },
): AsyncGenerator<Line> {
  const batches = makeBatches(responsesPerRun / batchSize);
  for (const part of ['assessor', 'detector', 'monitor'] as const) {
    yield await measureSpeed(part, batches, options);
  }
  yield measureMemory(options.batches);
}

/** Batches of pseudo-words with the frequencies of a language, eight tasks in each. */
function makeBatches(count: number, wordsEach = words): MonitorBatch[] {
  const random = RandomStream.named('bench', 'monitor');
  const word = pseudoWords(random);
  const text = (length: number) =>
    Array.from({ length }, (_, at) => (at % 13 === 12 ? `${word()}.` : word())).join(' ');
  return Array.from({ length: count }, (_, iteration) => {
    const prompts = Array.from({ length: 8 }, () => text(30));
    const trajectories = Array.from({ length: batchSize }, (__, at) => {
      const task = { id: `${iteration}-${at >> 3}`, prompt: prompts[at >> 3]!, metadata: undefined };
      const [accuracy, format] = [random.integer(2), random.uniform()];
      return {
        trajectory: {
          id: `${iteration}-${at}`,
          task,
          steps: [],
          messages: [],
          response: text(wordsEach),
          status: 'completed' as const,
          policyVersion: iteration,
        },
        reward: accuracy + format,
        components: { accuracy, format },
      };
    });
    return { iteration, trajectories };
  });
}

function observer(part: 'assessor' | 'detector' | 'monitor'): (batch: MonitorBatch) => unknown {
  const assessor = new RewardQualityAssessor({ windowSize, diversityWindow: windowSize });
  const detector = rewardHackingDetector();
  if (part === 'detector') return (batch) => detector.observe(batch);
  const detectors = part === 'monitor' ? [detector] : [];
  const monitor = new RewardQualityMonitor({ assessor, detectors });
  return (batch) => monitor.observe(batch);
}

async function measureSpeed(
  part: 'assessor' | 'detector' | 'monitor',
  batches: readonly MonitorBatch[],
  options: MeasureOptions,
): Promise<Line> {
  const observe = observer(part);
  let iteration = 0;
  const { milliseconds, processorMilliseconds } = await timeRuns(options, async () => {
    for (const batch of batches) observe({ ...batch, iteration: iteration++ });
  });
  const perSecond = (elapsed: number) => Math.round((1000 * responsesPerRun) / elapsed);
  return {
    name: 'monitor',
    shape: `${batchSize}x${words} words, window ${windowSize}`,
    path: part,
    value: perSecond(median(milliseconds)),
    unit: 'responses/s',
    target,
    bestResponsesPerSecond: perSecond(Math.min(...milliseconds)),
    processorResponsesPerSecond: perSecond(median(processorMilliseconds)),
    bestProcessorResponsesPerSecond: perSecond(Math.min(...processorMilliseconds)),
    load: Number(loadavg()[0]!.toFixed(2)),
  };
}

/** Memory in use, garbage collected, by tenths of a long run of short responses. */
function measureMemory(count: number): Line {
  const batches = makeBatches(50, 20);
  const observe = observer('monitor');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used: number[] = [];
  const resident: number[] = [];
  for (let iteration = 0; iteration < count; iteration++) {
    const { trajectories } = batches[iteration % batches.length]!;
    observe({ iteration, trajectories: trajectories.slice(0, 16) });
    if ((iteration + 1) % Math.ceil(count / 10) === 0) {
      collect();
      const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
      used.push(Math.round((heapUsed + arrayBuffers) / 2 ** 20));
      resident.push(Math.round(rss / 2 ** 20));
    }
  }
  return {
    name: 'monitor-memory',
    shape: '16x20 words',
    batches: count,
    usedMiBByTenth: used,
    residentMiBByTenth: resident,
    peakRssMiB: Math.round(peakMebibytes()),
  };
}
