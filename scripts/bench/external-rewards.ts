import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { createRolloutRewardProcessor } from '@rlp/rewards';
import { externalReward } from '@rlp/rewards/external';
import { type Line, median } from './report.ts';

const latencyMs = 20;
const concurrency = 64;
const episodes = 4000;
/** Requests under way at the median that we want at this concurrency. */
const target = 60;

/**
 * Requests sent and not answered when a processor asks a reward model that takes 20 ms, looked at every millisecond until the last
 * ones are sent: with one episode a request, and with sixteen.
 */
export async function* externalRewardLines(): AsyncGenerator<Line> {
  for (const batchSize of [1, 16]) yield await measure(batchSize);
}

async function measure(batchSize: number): Promise<Line> {
  let inFlight = 0;
  const server = createServer((request, response) => {
    inFlight += 1;
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const asked = JSON.parse(body) as { readonly episodes?: readonly unknown[] };
      setTimeout(() => {
        inFlight -= 1;
        response.end(
          JSON.stringify(asked.episodes ? { rewards: asked.episodes.map(() => 1) } : { reward: 1 }),
        );
      }, latencyMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const external = externalReward({ url, concurrency, batchSize });
  const processor = createRolloutRewardProcessor({}, { external });
  const count = episodes * batchSize;
  const given = Array.from({ length: count }, (_, k) => ({ prompt: 'Why?', response: `Because of ${k}.` }));
  const samples: { readonly underWay: number; readonly atServer: number }[] = [];
  const begun = performance.now();
  const sampling = setInterval(() => {
    const { requests, inFlight: underWay } = external.getStatistics();
    if (requests < episodes) samples.push({ underWay, atServer: inFlight });
  }, 1);
  const rewards = await processor.processEpisodeRewards(given);
  const milliseconds = performance.now() - begun;
  clearInterval(sampling);
  processor.close();
  server.closeAllConnections();
  server.close();
  const { requests, retries, peakInFlight } = external.getStatistics();
  return {
    name: 'external-rewards',
    shape: `${batchSize} per request, ${latencyMs} ms`,
    value: median(samples.map(({ underWay }) => underWay)),
    unit: 'requests under way, median',
    target,
    // Less where the processor is busy: server and client share one thread here.
    arrivedAtServer: median(samples.map(({ atServer }) => atServer)),
    peakInFlight,
    requests,
    retries,
    unscorable: rewards.failures.length,
    episodesPerSecond: Math.round((1000 * count) / milliseconds),
    load: Number(loadavg()[0]!.toFixed(2)),
  };
}
