import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { Completion } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';
import { externalReward } from '@rlp/rewards/external';
import { describe, expect, it } from 'vitest';
import { GRPOAlgorithm, type GrpoOptions } from '../algorithm/grpo.ts';
import type { RlState } from './protocol.ts';

const tokenizer = characterTokenizer('abc', { end: '.' });
const options: GrpoOptions = { tasksPerIteration: 3, rollout: { groupSize: 4, sampling: { maxTokens: 4 } } };

function parts() {
  const backend = new TabularBackend({ vocabularySize: 4, contextTokens: 1, learningRate: 0.3 });
  const environment = new SimpleTextEnvironment({ prompts: ['a', 'b', 'c'] });
  return {
    environment,
    tokenizer,
    backend,
    sampler: new TabularSampler({ backend, tokenizer }),
    tasks: taskSource(environment.tasks),
    rewards: rewardFunctions<unknown>({ short: ({ response }) => -response.length }),
    sleep: async () => undefined,
  };
}

type Parts = ReturnType<typeof parts>;

/** Trains, and returns every metric that is not finite, with how it ended. */
async function outcome(change: (given: Parts) => object, iterations = 4) {
  const given = parts();
  const dependencies = { ...given, ...change(given) } as Parts;
  const odd: string[] = [];
  let made = 0;
  try {
    for await (const { metrics } of new GRPOAlgorithm(dependencies, options).run({ iterations })) {
      made += 1;
      odd.push(...Object.keys(metrics).filter((name) => !Number.isFinite(metrics[name])));
    }
  } catch (error) {
    return { ended: (error as Error).message, made, odd, weights: await weightsOf(given) };
  }
  return { ended: 'finished', made, odd, weights: await weightsOf(given) };
}

async function weightsOf({ backend }: Parts): Promise<number[]> {
  return [...(await backend.getWeights()).values()].flatMap(({ data }) => [...data]);
}

/** A sampler whose completions are changed. */
function sampled(change: (completion: Completion) => Completion) {
  return ({ sampler }: Parts) => {
    const sample = sampler.sample.bind(sampler);
    sampler.sample = async (request) => (await sample(request)).map(change);
    return {};
  };
}

let calls = 0;
const rewarded = (reward: () => unknown) => () => ({
  rewards: rewardFunctions({ r: reward as () => number }),
});
const alternating = (...values: number[]) => rewarded(() => values[calls++ % values.length]);

describe('a fault in every iteration', () => {
  const faults: [name: string, change: (given: Parts) => object, ended: RegExp][] = [
    [
      'logprobs of NaN',
      sampled((each) => ({ ...each, behaviorLogprobs: each.behaviorLogprobs.map(() => NaN) })),
      /one finite logprob/,
    ],
    [
      'too few logprobs',
      sampled((each) => ({ ...each, behaviorLogprobs: [] })),
      /one finite logprob|disagree/,
    ],
    [
      'logprobs of −1e30',
      sampled((each) => ({ ...each, behaviorLogprobs: each.behaviorLogprobs.map(() => -1e30) })),
      /disagree by 1e\+30 nats/,
    ],
    [
      'negative tokens',
      sampled((each) => ({ ...each, tokens: each.tokens.map(() => -1) })),
      /must have ids of the vocabulary.* as tokens, got -1/,
    ],
    [
      'no text',
      sampled((each) => ({ ...each, text: undefined as never })),
      /must have a text, got undefined/,
    ],
    [
      'a policy version of NaN',
      sampled((each) => ({ ...each, policyVersion: Number.NaN })),
      /policyVersion, got NaN/,
    ],
    ['rewards that are BigInt', rewarded(() => 1n), /expected a finite number or null, got 1/],
    [
      'rewards of 1e308',
      alternating(1e308, -1e308),
      /expected a reward of at most 1e100 in size, got -?1e\+308/,
    ],
  ];
  it.each(faults)('%s ends the run with a sentence, and weights stay finite', async (_, change, ended) => {
    const { ended: how, odd, weights } = await outcome(change);
    expect(how).toMatch(ended);
    expect([odd, weights.every(Number.isFinite)]).toEqual([[], true]);
  });
});

describe('a fault now and then', () => {
  it.each([
    ['a reward of 1e308', alternating(1e308, 0, 1, 2)],
    [
      'a reward that throws',
      rewarded(() => {
        if (calls++ % 3 === 0) throw new Error('x');
        return calls % 2;
      }),
    ],
    [
      'a sampler that fails',
      ({ sampler }: Parts) => {
        const sample = sampler.sample.bind(sampler);
        sampler.sample = async (request) => {
          if (calls++ % 3 === 0) throw new Error('x');
          return sample(request);
        };
        return {};
      },
    ],
  ])('%s does not end the run', async (_, change) => {
    expect(await outcome(change)).toMatchObject({ ended: 'finished', made: 4, odd: [] });
  });
});

/** A reward server, as `fetch` sees it. */
function judgeServer() {
  const world = { mode: 'answers' as 'answers' | 'refuses' | 'hangs' | 'breaks' };
  const fetch: typeof globalThis.fetch = async (_, { body, signal } = {}) => {
    if (world.mode === 'refuses') {
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      });
    }
    if (world.mode === 'hangs') {
      await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    }
    if (world.mode === 'breaks') return new Response('no', { status: 500 });
    const { response } = JSON.parse(String(body)) as { response: string };
    return Response.json({ reward: response.length });
  };
  return { world, fetch: fetch as never };
}

describe.each(['refuses', 'hangs', 'breaks'] as const)(
  'a reward server that %s in the middle of a run',
  (how) => {
    const external = { timeoutMs: 20, backoff: { firstMs: 1, longestMs: 2 }, url: 'http://judge.example/' };

    /** Runs; the server dies after the third iteration, and comes back in the pause `returns`, if it does. */
    async function run(returns: number, resume?: RlState) {
      const { world, fetch } = judgeServer();
      let time = 0;
      const judge = externalReward({ ...external, fetch, clock: () => time });
      const given = { ...parts(), rewards: rewardFunctions({ judge: judge.reward }) };
      let pauses = 0;
      const sleep = async () => {
        time += 60_000;
        pauses += 1;
        if (pauses === returns) world.mode = 'answers';
      };
      const states: RlState[] = [];
      let error: unknown;
      try {
        const algorithm = new GRPOAlgorithm({ ...given, sleep }, options);
        for await (const { state } of algorithm.run({ iterations: 6, resume })) {
          states.push(state);
          if (state.iteration === 3 && returns > 0) world.mode = how;
        }
      } catch (reason) {
        error = reason;
      }
      return { states, error, weights: await weightsOf(given), cursor: given.tasks.cursor };
    }

    it('uses up neither iterations nor tasks, and leaves no trace once it is back', async () => {
      const whole = await run(0);
      expect(whole.states).toHaveLength(6);
      const outage = await run(2);
      expect(outage).toEqual(whole);
      const dead = await run(Number.POSITIVE_INFINITY);
      expect(dead.states).toEqual(whole.states.slice(0, 3));
      expect(dead.cursor).toBe(whole.states[2]!.taskCursor);
      expect(dead.error).toMatchObject({ reason: 'rewards-failed', state: whole.states[2] });
      expect(String(dead.error)).toMatch(/ECONNREFUSED|no answer within 20 ms|expected status 200, got 500/);
    });
  },
);
