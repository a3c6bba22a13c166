/** How busy rollouts keep a sampler, in simulated time, and what their scheduling costs, in real time. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type Environment,
  RandomStream,
  type Sampler,
  type State,
  type Task,
  type TaskSource,
} from '@rlp/core';
import { RolloutManager, rolloutStream } from '@rlp/rollout';
import { characters } from '@rlp/rollout/testing';
import type { Line } from './report.ts';

/** Groups of a batch, members of a group, turns of an episode. */
const batch = 16;
const groupSize = 4;
const turns = 4;
/**
 * Sequences that the simulated sampler decodes at once, and seconds per token of each. A turn takes 6 s of the sampler on average and 2.5 s
 * of a tool. With much longer tools, `inFlight` episodes would not suffice to fill the sampler, however they are scheduled.
 */
const places = batch * groupSize;
const secondsPerToken = 0.02;
const shortestTokens = 100;

/** Time that passes only when nothing else is left to do. */
class SimulatedTime {
  now = 0;
  readonly #events: { readonly at: number; readonly act: () => void }[] = [];
  #isOver = false;

  /** Resolves after so many simulated seconds. */
  after(seconds: number): Promise<void> {
    return new Promise((act) => {
      const at = this.now + seconds;
      let low = 0;
      let high = this.#events.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.#events[middle]!.at > at) low = middle + 1;
        else high = middle;
      }
      this.#events.splice(low, 0, { at, act });
    });
  }

  /** Lets time pass until `work` is done. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const end = () => {
      this.#isOver = true;
    };
    work.then(end, end);
    while (!this.#isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#events.pop();
      if (next === undefined) continue;
      this.now = Math.max(this.now, next.at);
      next.act();
    }
    return work;
  }
}

/** A sampler that decodes `places` sequences at once. Lengths are Pareto-distributed (1.5), at least 100 tokens. */
class SimulatedSampler implements Sampler {
  readonly policyVersion = 0;
  readonly #time: SimulatedTime;
  readonly #slowdown: (seed: string) => number;
  readonly #waiting: (() => void)[] = [];
  #free = places;
  busySeconds = 0;

  constructor(time: SimulatedTime, slowdown: (seed: string) => number) {
    this.#time = time;
    this.#slowdown = slowdown;
  }

  async sample({ count, seed }: Parameters<Sampler['sample']>[0]) {
    return Promise.all(Array.from({ length: count }, (_, member) => this.#decode(seed, member)));
  }

  async #decode(seed: string, member: number) {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((enter) => this.#waiting.push(enter));
    const uniform = 1 - RandomStream.named(seed, member).uniform();
    const tokens =
      Math.min(100 * shortestTokens, shortestTokens * uniform ** (-1 / 1.5)) * this.#slowdown(seed);
    await this.#time.after(tokens * secondsPerToken);
    this.busySeconds += tokens * secondsPerToken;
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
    return { tokens: [65], behaviorLogprobs: [-1], text: 'A', stopReason: 'stop' as const, policyVersion: 0 };
  }
}

function environmentOf(wait: (state: State) => Promise<void> | undefined): Environment {
  return {
    reset: ({ prompt }) => ({ prompt, response: '', stepCount: 0 }),
    buildPrompt: ({ prompt }) => String(prompt),
    updateState(state, response) {
      const next = { ...state, response, stepCount: state.stepCount + 1 };
      return wait(state)?.then(() => next) ?? next;
    },
    isTerminal: ({ stepCount }) => stepCount >= turns,
  };
}

function endlessTasks(): TaskSource {
  let cursor = 0;
  return {
    get cursor() {
      return cursor;
    },
    take: (count) =>
      Array.from({ length: count }, (): Task => ({ id: `t${cursor++}`, prompt: 'A', metadata: undefined })),
    seek(to) {
      cursor = to;
    },
  };
}

/** Busy share of the sampler over `batches` batches, with one group in 16 slower by `factor`. */
async function utilisation(how: 'synchronous' | 'stream', batches: number, factor: number): Promise<number> {
  const time = new SimulatedTime();
  const isSlow = (seed: string) => Number(/t(\d+)/.exec(seed)?.[1]) % batch === 3;
  const sampler = new SimulatedSampler(time, (seed) => (factor > 1 && isSlow(seed) ? factor : 1));
  const stream = RandomStream.named('tools');
  const environment = environmentOf(() => time.after(0.1 + 4.9 * stream.uniform()));
  const manager = new RolloutManager(
    { environment, sampler, tokenizer: characters },
    { groupSize, concurrency: 4 * batch, environmentTimeoutMs: 600_000 },
  );
  const tasks = endlessTasks();
  const work = async () => {
    if (how === 'synchronous') {
      for (let at = 0; at < batches; at++) {
        for await (const _ of manager.collectGroups(tasks.take(batch), { iteration: at }));
      }
      return;
    }
    const groups = rolloutStream(manager, { tasks, batch, inFlight: 4 * batch });
    for (let at = 0; at < batches * batch; at++) await groups.next();
    share = sampler.busySeconds / (places * time.now);
    await groups.return!();
  };
  let share: number | undefined;
  await time.during(work());
  return share ?? sampler.busySeconds / (places * time.now);
}

const immediate: Sampler = {
  policyVersion: 0,
  sample: async ({ count }) =>
    Array.from({ length: count }, () => ({
      tokens: [65],
      behaviorLogprobs: [-1],
      text: 'A',
      stopReason: 'stop' as const,
      policyVersion: 0,
    })),
};

/** Microseconds per turn with a sampler and an environment that answer at once, and growth of the heap on the way. */
async function scheduling(episodes: number) {
  const manager = new RolloutManager(
    { environment: environmentOf(() => undefined), sampler: immediate, tokenizer: characters },
    { groupSize, concurrency: 4 * batch },
  );
  const groups = rolloutStream(manager, { tasks: endlessTasks(), batch, inFlight: 4 * batch });
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const run = async (count: number) => {
    for (let at = 0; at < count; at += groupSize) await groups.next();
  };
  await run(episodes / 10);
  const before = heap();
  const begun = performance.now();
  await run(episodes);
  const milliseconds = performance.now() - begun;
  const grown = heap() - before;
  await groups.return!();
  return { microsecondsPerTurn: (milliseconds * 1000) / (episodes * turns), grownMiB: grown };
}

/** Delay of the event loop while so many episodes are under way. Each waits for a sampler that answers thousands at a time. */
async function lag(episodes: number): Promise<{ p99: number; max: number }> {
  const sampler: Sampler = {
    policyVersion: 0,
    async sample(request) {
      await new Promise((resolve) => setTimeout(resolve, 200 + (request.seed.length % 7) * 50));
      return immediate.sample(request);
    },
  };
  const manager = new RolloutManager(
    { environment: environmentOf(() => undefined), sampler, tokenizer: characters },
    { groupSize, concurrency: episodes },
  );
  const histogram = monitorEventLoopDelay({ resolution: 5 });
  const tasks = endlessTasks().take(episodes / groupSize);
  const work = async () => {
    for await (const _ of manager.collectGroups(tasks));
  };
  const running = work();
  await new Promise((resolve) => setTimeout(resolve, 50));
  histogram.enable();
  await running;
  histogram.disable();
  return { p99: histogram.percentile(99) / 1e6, max: histogram.max / 1e6 };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

const rounded = (value: number) => Number(value.toPrecision(4));

/** One line per figure. */
export async function* rolloutLines(episodes = 100_000, batches = 60): AsyncGenerator<Line> {
  const shape = { batch, groupSize, turns, places, batches };
  for (const factor of [1, 10]) {
    const name =
      factor === 1 ? 'rollout utilisation' : 'rollout utilisation, one group in 16 ten times slower';
    const peer = await utilisation('synchronous', batches, factor);
    const value = await utilisation('stream', batches, factor);
    yield {
      ...{ name, shape, value: rounded(value), unit: 'busy share of the sampler, simulated time' },
      ...{ peer: 'synchronous loop', peerValue: rounded(peer), ratio: rounded(value / peer) },
    };
  }
  const { microsecondsPerTurn, grownMiB } = await scheduling(episodes);
  yield {
    name: 'rollout scheduling',
    shape: { episodes },
    value: rounded(microsecondsPerTurn),
    unit: 'µs per turn',
  };
  yield { name: 'rollout heap growth', shape: { episodes }, value: rounded(grownMiB), unit: 'MiB' };
  const { p99, max } = await lag(10_000);
  const inFlight = { episodes: 10_000 };
  yield { name: 'rollout event loop delay, 99 %', shape: inFlight, value: rounded(p99), unit: 'ms' };
  yield { name: 'rollout event loop delay, largest', shape: inFlight, value: rounded(max), unit: 'ms' };
}
