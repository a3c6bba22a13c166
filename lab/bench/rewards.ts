import { loadavg } from 'node:os';
import { RandomStream } from '@rlp/core';
import { createRolloutRewardProcessor, type RewardEpisode } from '@rlp/rewards';
import { type MeasureOptions, peakMebibytes, timeRuns } from './measurement.ts';
import { pseudoWords } from './pseudo-words.ts';
import { type Line, median } from './report.ts';

const [batchSize, words] = [512, 200];
const batchesPerRun = 20;

/** Episodes per second that we want, and what the system it follows says of itself (batches of 100 and more). */
const target = 100_000;
const claimed = [200, 500] as const;

/** Episodes per second of the default reward on one thread, and memory while `episodes` of them stream through. */
export async function* rewardLines(
  options: MeasureOptions & { readonly episodes: number },
): AsyncGenerator<Line> {
  const corpus = makeCorpus();
  yield await measureProcessor(corpus, options);
  yield await measureStream(corpus, options.episodes);
}

/** Text of pseudo-words with the frequencies of a language, and where each word begins. */
function makeCorpus(): { readonly text: string; readonly starts: Int32Array } {
  const random = RandomStream.named('bench', 'rewards');
  const word = pseudoWords(random);
  const parts = Array.from({ length: 400_000 }, (_, at) => (at % 13 === 12 ? `${word()}.` : word()));
  const starts = new Int32Array(parts.length);
  for (let k = 1; k < parts.length; k++) starts[k] = starts[k - 1]! + parts[k - 1]!.length + 1;
  return { text: parts.join(' '), starts };
}

/** Episode number `k`: 200 words from another place of the text each time. */
function episodeOf({ text, starts }: ReturnType<typeof makeCorpus>, k: number): RewardEpisode {
  const first = (k * 37) % (starts.length - words - 1);
  return { prompt: 'Explain the text.', response: text.slice(starts[first]!, starts[first + words]! - 1) };
}

async function measureProcessor(corpus: ReturnType<typeof makeCorpus>, options: MeasureOptions) {
  const runs = await timeBatches(corpus, options);
  const perSecond = (milliseconds: number) => rounded((1000 * batchesPerRun * batchSize) / milliseconds, 0);
  const elapsed = runs.map(({ milliseconds }) => milliseconds);
  const value = perSecond(median(elapsed));
  return {
    name: 'rewards',
    shape: `${batchSize}x${words} words`,
    value,
    unit: 'episodes/s',
    target,
    bestEpisodesPerSecond: perSecond(Math.min(...elapsed)),
    processorEpisodesPerSecond: perSecond(median(runs.map((run) => run.processorMilliseconds))),
    overClaimed: claimed.map((claim) => rounded(value / claim, 0)),
    load: rounded(loadavg()[0]!, 2),
  };
}

/** Times of scoring `batchesPerRun` batches that were not seen before, run after run. */
async function timeBatches(
  corpus: ReturnType<typeof makeCorpus>,
  options: MeasureOptions,
): Promise<{ readonly milliseconds: number; readonly processorMilliseconds: number }[]> {
  const processor = createRolloutRewardProcessor();
  const runs = [];
  let made = 0;
  for (let run = 0; run < options.warmup + options.runs; run++) {
    const batches = Array.from({ length: batchesPerRun }, () =>
      Array.from({ length: batchSize }, () => episodeOf(corpus, made++)),
    );
    const times = await timeRuns({ ...options, warmup: 0, runs: 1 }, async () => {
      for (const batch of batches) await processor.processEpisodeRewards(batch);
    });
    if (run < options.warmup) continue;
    runs.push({
      milliseconds: times.milliseconds[0]!,
      processorMilliseconds: times.processorMilliseconds[0]!,
    });
  }
  processor.close();
  return runs;
}

async function measureStream(corpus: ReturnType<typeof makeCorpus>, episodes: number): Promise<Line> {
  function* source() {
    for (let k = 0; k < episodes; k++) yield episodeOf(corpus, k);
  }
  const processor = createRolloutRewardProcessor({ batchSize });
  const marks: number[] = [];
  let scored = 0;
  const every = Math.max(batchSize, Math.floor(episodes / 10));
  const start = performance.now();
  for await (const { rewards } of processor.processEpisodeStream(source())) {
    scored += rewards.length;
    if (scored >= every * (marks.length + 1)) marks.push(rounded(process.memoryUsage().rss / 2 ** 20, 0));
  }
  const seconds = (performance.now() - start) / 1000;
  processor.close();
  return {
    name: 'rewards-stream',
    value: rounded(scored / seconds, 0),
    unit: 'episodes/s',
    episodes: scored,
    rssMiBByTenth: marks,
    peakRssMiB: rounded(peakMebibytes(), 0),
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
