import { ArgumentError, type Completion, OptionsError, SamplerError } from '@rlp/core';
import { describeInferenceEngine, describeSampler } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import { engineFleet } from './engine-fleet.ts';
import { engines, published, StubEngine } from './stub-engine.fixture.ts';
import { syncWeightsToEngines } from './sync-weights.ts';

const request = { prompt: [1, 2], count: 2, maxTokens: 3, seed: 'test' };
const quick = { rest: { firstMs: 1, longestMs: 4 } };

describeSampler('a fleet', {
  create: () => engineFleet(engines(3)),
  prompt: [1, 2],
  tooLongPrompt: [1, 2, 3, 4, 5, 6, 7, 8, 9],
});
describeInferenceEngine('a fleet', {
  create: () => engineFleet(engines(3)),
  publication: published,
  impossible: (version) => ({ kind: 'adapter', version, path: 'missing' }),
  prompt: [1, 2],
});

describe('engineFleet', () => {
  it('gives requests to the least loaded engine, and those of one prefix to one engine', async () => {
    const all = engines(3);
    for (const engine of all) engine.busyMs = 5;
    const fleet = engineFleet(all);
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => fleet.sample({ ...request, prompt: [i], seed: `${i}` })),
    );
    expect(all.map(({ requests }) => requests.length)).toEqual([4, 4, 4]);
    for (let i = 0; i < 4; i++) await fleet.sample({ ...request, prompt: [7], seed: `again ${i}` });
    const homes = all.map(({ requests }) => requests.filter(({ prompt }) => prompt[0] === 7).length);
    expect(homes.toSorted()).toEqual([0, 0, 5]);
  });

  it('loses and doubles nothing when one engine is killed 100 times', async () => {
    const all = engines(3);
    for (const engine of all) engine.busyMs = 1;
    const fleet = engineFleet(all, quick);
    await fleet.updateWeights(published(1));
    const streamed = new Map<string, number>();
    let kills = 0;
    const killing = setInterval(() => {
      all[0]!.kill();
      kills += 1;
      setTimeout(() => {
        all[0]!.mode = 'up';
      }, 1);
    }, 4);
    const results = new Map<string, readonly Completion[]>();
    for (let round = 0; kills < 100; round++) {
      await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const seed = `${round}/${i}`;
          const onToken = () => streamed.set(seed, (streamed.get(seed) ?? 0) + 1);
          results.set(seed, await fleet.sample({ ...request, seed, onToken }));
        }),
      );
    }
    clearInterval(killing);
    expect(results.size).toBe(streamed.size);
    for (const [seed, completions] of results) {
      expect(completions).toHaveLength(2);
      expect(completions.every(({ policyVersion }) => policyVersion === 1)).toBe(true);
      expect(streamed.get(seed)).toBe(6);
    }
    expect(all[0]!.requests.length).toBeGreaterThan(0);
  });

  it('leaves out an engine that misses an update, and gives it the weights before it serves again', async () => {
    const all = engines(2);
    const fleet = engineFleet(all, quick);
    all[0]!.kill();
    expect(await fleet.updateWeights(published(1))).toBe(1);
    expect(fleet.status().map(({ state }) => state)).toEqual(['resting', 'serving']);
    expect(fleet.status()[0]!.reason).toBe('fetch failed');
    all[0]!.mode = 'up';
    await new Promise((resolve) => setTimeout(resolve, 5));
    await fleet.sample(request);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(fleet.status().map(({ state, policyVersion }) => [state, policyVersion])).toEqual([
      ['serving', 1],
      ['serving', 1],
    ]);
  });

  it.each([
    ['keeps old weights', /did not load the weights/],
    ['reports another version', /expected version 2/],
  ] as const)('finds out an engine that %s', async (mode, message) => {
    const all = engines(2);
    const trainer = { weights: 0 };
    const probe = {
      request: { prompt: [1], completion: [2, 3] },
      trainer: async () => [-1 - 0.5 * trainer.weights, -1 - 0.5 * trainer.weights],
    };
    const fleet = engineFleet(all, { ...quick, probe });
    for (const version of [1, 2]) {
      trainer.weights = version;
      if (version === 2) all[1]!.mode = mode;
      await fleet.updateWeights(published(version));
    }
    const [first, second] = fleet.status();
    expect(first!.state).toBe('serving');
    expect(second).toMatchObject({ state: 'resting', reason: expect.stringMatching(message) });
  });

  it('finds out an engine that loads some of the weights, by the levels of the logprobs', async () => {
    const [engine] = engines(1);
    const scored = engine!.scoreTokens.bind(engine);
    let trainer = 0;
    const probe = {
      request: { prompt: [1], completion: [2, 3] },
      trainer: async () => [-1 - 0.5 * trainer, -1 - 0.5 * trainer],
    };
    const fleet = engineFleet([engine!], { ...quick, patienceMs: 1, probe });
    trainer = 1;
    await fleet.updateWeights(published(1));
    engine!.scoreTokens = async (requests) =>
      (await scored(requests)).map((scores) => ({
        ...scores,
        logprobs: scores.logprobs.map((x) => x + 0.05),
      }));
    trainer = 2;
    await expect(fleet.updateWeights(published(2))).rejects.toThrow(
      /moved by 0\.450 nats, the trainer's by 0\.500: .* only some of them/,
    );
  });

  it('says why nothing serves, and stops waiting at its patience or once aborted', async () => {
    const all = engines(2);
    for (const engine of all) engine.kill();
    const fleet = engineFleet(all, { rest: { firstMs: 1000, longestMs: 1000 }, patienceMs: 1 });
    await expect(fleet.sample(request)).rejects.toThrow(/no engine serves[\s\S]*engine 0: fetch failed/);
    await expect(fleet.updateWeights(published(1))).rejects.toThrow(/no engine took version 1/);
    const patient = engineFleet(engines(1).map((engine) => Object.assign(engine, { mode: 'down' as const })));
    const controller = new AbortController();
    const asked = patient.sample({ ...request, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });

  it('gives up a request that failed as often as it may', async () => {
    const all = engines(2);
    for (const engine of all) engine.kill();
    const fleet = engineFleet(all, { ...quick, attempts: 2 });
    await expect(fleet.sample(request)).rejects.toThrow(
      /sample: every attempt failed \(attempts: 2, engines: 2\); see the logs of the servers\n {2}- engine \d: fetch failed\n/,
    );
  });

  it('lets an engine rest longer after each failure, and forgets failures after an update', async () => {
    const [engine] = engines(1);
    let now = 0;
    const probe = { request: { prompt: [1], completion: [2] }, trainer: async () => [-1] };
    const options = { rest: { firstMs: 100, longestMs: 250 }, patienceMs: 0, clock: () => now, probe };
    const fleet = engineFleet([engine!], options);
    engine!.mode = 'down';
    for (const [failure, rest] of [100, 200, 250, 250].entries()) {
      await expect(fleet.sample(request)).rejects.toThrow('fetch failed');
      now += rest - 1;
      await expect(fleet.sample(request)).rejects.toThrow('no engine serves');
      expect(fleet.status()[0]).toMatchObject({ state: 'resting', failures: failure + 1 });
      now += 1;
      // Learns that the rest is over, and asks the engine from then on.
      await fleet.sample(request).catch(() => undefined);
      expect(fleet.status()[0]!.state).toBe('serving');
    }
    engine!.mode = 'up';
    await fleet.updateWeights(published(1));
    expect(fleet.status()[0]).toEqual({
      ...{ state: 'serving', load: 0, policyVersion: 1, failures: 0, reason: undefined },
    });
  });

  it('is what its engines are together', () => {
    const all = engines(3);
    const shares = { engine: {}, store: 'policy' };
    Object.assign(all[0]!, { accepts: ['shared', 'adapter'], shares, vocabularySize: undefined });
    const [shared, checkpoint] = ['put them in one process', 'start it with --development'];
    Object.assign(all[0]!, { refusals: { checkpoint } });
    Object.assign(all[1]!, { accepts: ['adapter', 'checkpoint'], policyVersion: 3, refusals: { shared } });
    const fleet = engineFleet(all);
    expect(fleet.refusals).toEqual({ shared, checkpoint });
    expect(fleet.accepts).toEqual(['adapter']);
    expect([fleet.shares, fleet.vocabularySize, fleet.policyVersion]).toEqual([shares, 100, 3]);
    const unknown = engines(1).map((engine) => Object.assign(engine, { vocabularySize: undefined }));
    expect(engineFleet(unknown).vocabularySize).toBeUndefined();
  });

  it('scores on engines that can, and samples on all', async () => {
    const all = engines(2);
    Object.assign(all[0]!, { scoreTokens: undefined });
    const fleet = engineFleet(all);
    const scored = [{ prompt: [1], completion: [2, 3] }];
    for (let i = 0; i < 3; i++) {
      const [scores] = await fleet.scoreTokens(scored);
      expect(scores!.logprobs).toEqual(Float32Array.of(-1, -1));
    }
    expect(fleet.status().map(({ failures, state }) => [failures, state])).toEqual([
      [0, 'serving'],
      [0, 'serving'],
    ]);
    Object.assign(all[1]!, { scoreTokens: undefined });
    await expect(fleet.scoreTokens(scored)).rejects.toThrow(ArgumentError);
    await expect(fleet.scoreTokens(scored)).rejects.toThrow('no engine of the fleet scores tokens');
  });

  it('hands weights over once, and again to an engine that has others', async () => {
    const [alone] = engines(1);
    const foreign = engineFleet([alone!], { patienceMs: 0 });
    alone!.policyVersion = 7;
    await expect(foreign.sample(request)).rejects.toThrow('engine 0: it has weights of version 7, not 0');
    await foreign.updateWeights(published(1));
    for (let i = 0; i < 3; i++) await foreign.sample(request);
    expect(alone!.updates).toBe(1);
    const update = alone!.updateWeights.bind(alone);
    alone!.updateWeights = async (publication) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return update(publication);
    };
    alone!.policyVersion = 0;
    await expect(foreign.sample(request)).rejects.toThrow('engine 0: has old weights');
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await foreign.sample(request))[0]!.policyVersion).toBe(1);
    expect(alone!.updates).toBe(2);
  });

  it('gives up on an engine that takes too long over new weights, and on all once aborted', async () => {
    const all = engines(2);
    const stuck = Object.assign(all[1]!, { updateWeights: () => new Promise<number>(() => undefined) });
    const fleet = engineFleet([all[0]!, stuck], { ...quick, updateTimeoutMs: 5 });
    expect(await fleet.updateWeights(published(1))).toBe(1);
    expect(fleet.status()[1]!.state).toBe('resting');
    const patient = engineFleet([stuck]);
    const controller = new AbortController();
    const update = patient.updateWeights(published(1), controller.signal);
    controller.abort(new Error('enough'));
    await expect(update).rejects.toThrow('enough');
  });

  it('keeps requests of a name together', async () => {
    const all = engines(3);
    const fleet = engineFleet(all, { affinity: ({ seed }) => seed.slice(0, 1) });
    for (let i = 0; i < 9; i++) await fleet.sample({ ...request, prompt: [i % 8], seed: `a${i}` });
    expect(all.map(({ requests }) => requests.length).toSorted()).toEqual([0, 0, 9]);
  });

  it('leaves an engine that had a prefix for one that has fewer requests than the slack allows', async () => {
    for (const [slack, stays] of [
      [2, 3],
      [1, 2],
    ] as const) {
      const all = engines(2);
      const fleet = engineFleet(all, { affinitySlack: slack });
      for (const engine of all) engine.busyMs = 2;
      // The first one is at home on engine 0 then. Requests at once find it with 0, 1 and 2 more than the other.
      await fleet.sample(request);
      await Promise.all([0, 1, 2].map((i) => fleet.sample({ ...request, seed: `${i}` })));
      expect(all.map(({ requests }) => requests.length)).toEqual([1 + stays, 3 - stays]);
    }
  });

  it('asks engines that have not failed at a request before those that have', async () => {
    const all = engines(3);
    let now = 0;
    const fleet = engineFleet(all, { rest: { firstMs: 0, longestMs: 1 }, clock: () => now++, attempts: 3 });
    const asked: number[] = [];
    for (const [index, engine] of all.entries()) {
      engine.sample = async () => {
        asked.push(index);
        throw new SamplerError(`engine ${index} is away`);
      };
    }
    await expect(fleet.sample(request)).rejects.toThrow(
      'sample: every attempt failed (attempts: 3, engines: 3); see the logs of the servers\n  - engine 0: engine 0 is away\n  - engine 1: engine 1 is away\n  - engine 2: engine 2 is away',
    );
    expect(asked).toEqual([0, 1, 2]);
    expect(fleet.status().map(({ load }) => load)).toEqual([0, 0, 0]);
  });

  it('names the last four failures of a request', async () => {
    const all = engines(6);
    for (const engine of all) engine.kill();
    const fleet = engineFleet(all, { ...quick, attempts: 6 });
    const failed = fleet.sample(request).catch((error: Error) => error.message.split('\n  - '));
    expect(await failed).toEqual([
      'sample: every attempt failed (attempts: 6, engines: 6); see the logs of the servers',
      ...[2, 3, 4, 5].map((index) => `engine ${index}: fetch failed`),
    ]);
  });

  it('passes what is wrong with a request on, and asks no other engine', async () => {
    const all = engines(2);
    const fleet = engineFleet(all);
    const long = { ...request, prompt: [1, 2, 3, 4, 5, 6, 7, 8, 9] };
    await expect(fleet.sample(long)).rejects.toThrow('sample: 9 tokens do not fit');
    expect(fleet.status().map(({ state, failures, load }) => [state, failures, load])).toEqual([
      ['serving', 0, 0],
      ['serving', 0, 0],
    ]);
  });

  it('forgets the failures of an engine once it answers', async () => {
    const [engine] = engines(1);
    const fleet = engineFleet([engine!], quick);
    engine!.kill();
    await expect(engineFleet([engine!], { ...quick, attempts: 1 }).sample(request)).rejects.toThrow();
    const asked = fleet.sample(request);
    await new Promise((resolve) => setTimeout(resolve, 2));
    engine!.mode = 'up';
    await asked;
    expect(fleet.status()[0]).toMatchObject({ failures: 0, state: 'serving' });
  });

  it('rejects at once what was aborted before, and asks the trainer once for each publication', async () => {
    const all = engines(2);
    const asked: unknown[] = [];
    const probe = {
      request: { prompt: [1], completion: [2] },
      trainer: async (...given: unknown[]) => {
        asked.push(given);
        return [-1];
      },
    };
    const fleet = engineFleet(all, { probe });
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(fleet.updateWeights(published(1), signal)).rejects.toThrow('too late');
    await expect(fleet.sample({ ...request, signal })).rejects.toThrow('too late');
    expect([asked.length, all[0]!.requests.length, all[0]!.updates]).toEqual([0, 0, 0]);
    const open = new AbortController().signal;
    await fleet.updateWeights(published(1), open);
    expect(asked).toEqual([[probe.request, open]]);
  });

  it('refuses no engines, engines of two models and unknown options', () => {
    expect(() => engineFleet([])).toThrow(ArgumentError);
    const other = Object.assign(new StubEngine(), { vocabularySize: 7 });
    expect(() => engineFleet([new StubEngine(), other])).toThrow('100 and 7 tokens');
    expect(() => engineFleet(engines(1), { retries: 3 } as never)).toThrow(OptionsError);
    expect(() => engineFleet(engines(1), { affinity: 'a', clock: 3, probe: {} } as never)).toThrow(
      /^engineFleet: invalid options[\s\S]*affinity: must be a function[\s\S]*probe: must have a request and a function[\s\S]*clock: must be a function/,
    );
  });
});

describe('syncWeightsToEngines', () => {
  it('hands weights to all, and reports each', async () => {
    const all = engines(3);
    all[1]!.kill();
    all[2]!.mode = 'reports another version';
    const results = await syncWeightsToEngines(all, published(4));
    expect(results.map(({ status }) => status)).toEqual(['synchronised', 'failed', 'failed']);
  });

  it('gives up on an engine that does not answer', async () => {
    const stuck = Object.assign(new StubEngine(), {
      updateWeights: () => new Promise<number>(() => undefined),
    });
    const [result] = await syncWeightsToEngines([stuck], published(1), { timeoutMs: 5 });
    expect(result).toMatchObject({ status: 'failed' });
  });
});
