/**
 * A controller with 10 to 1,000 simulated samplers: when does `engineFleet` become the slow part?
 *
 *     npx tsx --conditions=@rlp/source lab/fleet-simulation.ts [--samplers 10,100,1000] [--seconds 10]
 *
 * Each sampler answers four requests at once. An answer takes a time from a Pareto distribution of shape 1.5, with a mean of one second
 * and a limit of 15 seconds. One request in 200 fails, and each sampler is away for two seconds of every minute on average. There is no
 * network. One JSON line for each number of samplers. `perSecond` counts answers of all samplers and `perSampler` of one: it falls when the
 * controller is too slow. `processorMs` is what a request costs the controller. `lost`, `doubled` and `unanswered` have to be 0.
 */
import { parseArgs } from 'node:util';
import { type Completion, RandomStream, type SampleRequest, SamplerError } from '@rlp/core';
import { engineFleet, type FleetEngine } from '@rlp/inference';

const { values } = parseArgs({
  options: {
    samplers: { type: 'string', default: '10,100,1000' },
    seconds: { type: 'string', default: '10' },
  },
});
const seconds = Number(values.seconds);
const atOnce = 4;
const meanMs = 1000;
const shape = 1.5;
const failureRate = 1 / 200;
const awayMs = 2000;
const betweenAwayMs = 58_000;

/** Milliseconds of work: Pareto, so a few answers take far longer than most. */
function workMs(random: RandomStream): number {
  const least = (meanMs * (shape - 1)) / shape;
  return Math.min(15_000, least * (1 - random.uniform()) ** (-1 / shape));
}

/** Time until something that happens once in `mean` milliseconds. */
const waitMs = (random: RandomStream, mean: number) => -mean * Math.log(1 - random.uniform());

/** A sampler that computes nothing. It answers with the number that the prompt holds. */
class SimulatedSampler implements FleetEngine {
  readonly accepts = ['shared'] as const;
  readonly policyVersion = 0;
  attempts = 0;
  readonly #random: RandomStream;
  #awayFrom: number;

  constructor(index: number) {
    this.#random = RandomStream.named('fleet simulation', index);
    this.#awayFrom = performance.now() + waitMs(this.#random, betweenAwayMs);
  }

  async sample({ prompt }: SampleRequest): Promise<readonly Completion[]> {
    this.attempts += 1;
    const now = performance.now();
    if (now > this.#awayFrom + awayMs) this.#awayFrom = now + waitMs(this.#random, betweenAwayMs);
    if (now > this.#awayFrom) throw new SamplerError('away');
    const milliseconds = workMs(this.#random);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    if (this.#random.uniform() < failureRate) throw new SamplerError('failed');
    return [
      {
        tokens: prompt,
        behaviorLogprobs: prompt.map(() => -1),
        text: '',
        stopReason: 'stop',
        policyVersion: 0,
      },
    ];
  }

  async updateWeights(): Promise<number> {
    return 0;
  }
}

/** Keeps all samplers busy for a while. */
async function simulated(count: number) {
  const samplers = Array.from({ length: count }, (_, index) => new SimulatedSampler(index));
  const fleet = engineFleet(samplers);
  const answers = new Map<number, number>();
  let asked = 0;
  let lost = 0;
  const end = performance.now() + seconds * 1000;
  const processor = process.cpuUsage();
  let answered = 0;
  const ask = async () => {
    while (performance.now() < end) {
      const number = asked++;
      try {
        const request = { prompt: [number], count: 1, maxTokens: 1, seed: `${number}` };
        const [completion] = await fleet.sample(request);
        const [answer] = completion!.tokens;
        answers.set(answer!, (answers.get(answer!) ?? 0) + 1);
        if (performance.now() < end) answered += 1;
      } catch {
        lost += 1;
      }
    }
  };
  const asking = Promise.all(Array.from({ length: atOnce * count }, ask));
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { user, system } = process.cpuUsage(processor);
  await asking;
  return {
    ...{ samplers: count, inFlight: atOnce * count, requests: asked },
    ...{ perSecond: answered / seconds, perSampler: answered / seconds / count },
    processorMs: (user + system) / 1000 / answered,
    attempts: samplers.reduce((sum, sampler) => sum + sampler.attempts, 0),
    lost,
    doubled: [...answers.values()].filter((times) => times > 1).length,
    unanswered: asked - answers.size - lost,
  };
}

for (const count of values.samplers.split(',').map(Number))
  console.log(JSON.stringify(await simulated(count)));
