import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createRolloutRewardProcessor } from '@rlp/rewards';
import { type ExternalReward, externalReward } from '@rlp/rewards/external';
import { type Line, median } from './report.ts';

const concurrency = 64;
const requests = 4000;
/** Requests under way at the median that we want at this concurrency. */
const target = 60;

/**
 * Requests under way when a processor asks a reward model in a process of its own: with one episode a request, which takes it 20 to
 * 50 ms, and with sixteen, 100 to 250 ms; and what a loop over nothing but `fetch` gets with one. Looked at every millisecond on both sides: here from the first request until the last is
 * sent, there while there are any.
 */
export async function* externalRewardLines(): AsyncGenerator<Line> {
  const model = fork(fileURLToPath(new URL('./reward-model-server.ts', import.meta.url)));
  try {
    const [{ port }] = (await once(model, 'message')) as [{ readonly port: number }];
    const url = `http://127.0.0.1:${port}/`;
    // What comes before the compiler has seen it all is not measured.
    await measureBare(model, url);
    yield await measureBare(model, url);
    for (const batchSize of [1, 16]) {
      await measure(model, url, { batchSize, count: requests });
      yield await measure(model, url, { batchSize, count: requests });
    }
  } finally {
    model.disconnect();
  }
}

interface Run {
  readonly batchSize: number;
  readonly count: number;
}

/** `fetch` and nothing else, as often and as many at once. */
async function measureBare(model: ChildProcess, url: string): Promise<Line> {
  await atServer(model);
  let next = 0;
  const lane = async () => {
    for (let k = next++; k < requests; k = next++) {
      const body = JSON.stringify({ prompt: 'Why?', response: `Because of ${k}.` });
      const headers = { 'content-type': 'application/json' };
      await (await fetch(url, { method: 'POST', headers, body })).json();
    }
  };
  const begun = { at: performance.now(), processor: process.cpuUsage() };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const milliseconds = performance.now() - begun.at;
  const { user, system } = process.cpuUsage(begun.processor);
  return {
    name: 'external-rewards',
    shape: 'bare fetch, 1 per request, 20-50 ms',
    value: median(await atServer(model)),
    unit: 'requests under way at the server, median',
    requests,
    episodesPerSecond: Math.round((1000 * requests) / milliseconds),
    processorMillisecondsPerRequest: Number(((user + system) / 1000 / requests).toFixed(3)),
    load: Number(loadavg()[0]!.toFixed(2)),
  };
}

async function measure(model: ChildProcess, url: string, { batchSize, count }: Run): Promise<Line> {
  const external = externalReward({ url, concurrency, batchSize });
  await atServer(model);
  const run = await score(external, { batchSize, count });
  const { requests: sent, retries, peakInFlight } = external.getStatistics();
  return {
    name: 'external-rewards',
    shape: batchSize === 1 ? '1 per request, 20-50 ms' : `${batchSize} per request, 100-250 ms`,
    value: median(await atServer(model)),
    unit: 'requests under way at the server, median',
    target,
    atClient: median(run.underWay),
    peakInFlight,
    requests: sent,
    retries,
    unscorable: run.unscorable,
    episodesPerSecond: Math.round(run.episodesPerSecond),
    processorMillisecondsPerRequest: Number((run.processorMilliseconds / sent).toFixed(3)),
    load: Number(loadavg()[0]!.toFixed(2)),
  };
}

async function score(external: ExternalReward, { batchSize, count }: Run) {
  const processor = createRolloutRewardProcessor({}, { external });
  const episodes = count * batchSize;
  const given = Array.from({ length: episodes }, (_, k) => ({
    prompt: 'Why?',
    response: `Because of ${k}.`,
  }));
  const underWay: number[] = [];
  const sampling = setInterval(() => {
    const { requests: sent, inFlight } = external.getStatistics();
    if (sent < count) underWay.push(inFlight);
  }, 1);
  const begun = { at: performance.now(), processor: process.cpuUsage() };
  const rewards = await processor.processEpisodeRewards(given);
  const milliseconds = performance.now() - begun.at;
  const { user, system } = process.cpuUsage(begun.processor);
  clearInterval(sampling);
  processor.close();
  const episodesPerSecond = (1000 * episodes) / milliseconds;
  const processorMilliseconds = (user + system) / 1000;
  return { underWay, unscorable: rewards.failures.length, episodesPerSecond, processorMilliseconds };
}

/** What the server had under way, each millisecond since it was asked last. */
async function atServer(model: ChildProcess): Promise<readonly number[]> {
  model.send('samples?');
  const [{ samples }] = (await once(model, 'message')) as [{ readonly samples: readonly number[] }];
  return samples;
}
