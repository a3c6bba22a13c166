import type { Monitor } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { rewardHackingDetector } from '../hacking/detector.ts';
import { good, memoryLogger, monitorOf, scored } from './monitor.fixture.ts';
import { RewardQualityMonitor } from './monitor.ts';
import { monitoredReward } from './monitored-rewards.ts';

const responses = [good, `${good} indeed`, 'no tags', good];

/** A monitor with a detector, what reached its logger, and what it said of faults. */
function watched(detectors: readonly Monitor[] = [rewardHackingDetector()]) {
  const logger = memoryLogger();
  const said: string[] = [];
  const monitor = monitorOf({}, { detectors, loggers: [logger], onFailure: (message) => said.push(message) });
  const faults = () => monitor.getMonitoringSummary().monitoring.failures;
  return { monitor, records: logger.records, said, faults };
}

function cyclic(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

describe('bad input costs no run, and only what nobody could keep', () => {
  it('rewards that are not one per response: the others and the responses are assessed', () => {
    const { monitor, records, said, faults } = watched();
    for (let step = 0; step < 3; step++) {
      const { rewards } = monitor.monitorBatch({
        responses,
        rewards: { style: [1, 2], truth: [1, 0, 1, 0] },
      });
      expect(rewards.truth!.mean).toBe(0.5);
      expect(rewards.style).toBeUndefined();
    }
    expect(records.map(({ metrics }) => metrics.format_compliance_rate)).toEqual([0.75, 0.75, 0.75]);
    expect(said).toEqual([
      'quality monitor: reward style: values: 2, responses: 4; further failures are only counted',
    ]);
    expect(faults()).toEqual({ 'reward style': 3 });
    expect(monitor.getMonitoringSummary().invalidRewards).toEqual({ style: 12 });
  });

  it.each([
    [{}, 'undefined'],
    [{ response: [good], reward: [1] }, 'undefined'],
    [{ responses: good, rewards: { truth: [1] } }, '"<reasoning>four and four'],
    [{ responses: null, rewards: {} }, 'null'],
  ])('no list of responses: says so, %j', (batch, kind) => {
    const { monitor, said, faults } = watched([]);
    monitor.monitorBatch(batch as never);
    expect(said[0]).toContain(`responses: expected a list of texts, got ${kind}`);
    expect(faults()).toMatchObject({ responses: 1 });
  });

  it('no rewards, or under another name: says so once, with the fields that came', () => {
    const { monitor, said } = watched([]);
    for (let step = 0; step < 2; step++) monitor.monitorBatch({ responses, reward: [1, 0, 1, 0] } as never);
    expect(said).toEqual([
      'quality monitor: rewards: expected lists of numbers by name, got only responses, reward; further failures are only counted',
    ]);
  });

  it('a component that is missing from some batch on: its window stays, the others go on', () => {
    const { monitor, said, faults } = watched();
    monitor.monitorBatch({ responses, rewards: { style: [1, 2, 3, 4], truth: [1, 0, 1, 0] } });
    const { rewards } = monitor.monitorBatch({ responses, rewards: { truth: [1, 0, 1, 0] } });
    monitor.observe({ iteration: 2, trajectories: [{ ...scored('a', good, 1), components: { truth: 1 } }] });
    monitor.monitorBatch({
      responses,
      rewards: { style: [1, 2, 3, 4], truth: [1, 0, 1, 0], total: [1, 1, 1, 1] },
    });
    expect(rewards.style!.mean).toBe(2.5);
    expect(said).toEqual(['quality monitor: reward style: it is missing; further failures are only counted']);
    expect(faults()).toEqual({ 'reward style': 2 });
    expect(monitor.getMonitoringSummary().rewardStatistics.style!.samples).toBe(8);
  });

  it('a logger that never comes to an end: closing, no longer than a signal says', async () => {
    const said: string[] = [];
    const done: string[] = [];
    const never = { log: () => new Promise<void>(() => undefined) as never, close: async () => undefined };
    const files = { log: () => undefined, close: async () => void done.push('closed') };
    const monitor = monitorOf({}, { loggers: [never, files], onFailure: (message) => said.push(message) });
    monitor.monitorBatch({ responses, rewards: {} });
    await monitor.close({ signal: AbortSignal.timeout(10) });
    expect([done, said]).toEqual([['closed'], [expect.stringContaining('logger 0: it was not done when')]]);
    expect(monitor.getMonitoringSummary().monitoring.failures).toEqual({ 'logger 0': 1 });
  });

  it('a judge of coherence that fails: its word on that response', () => {
    const said: string[] = [];
    const coherence = (response: string) => {
      if (response === 'no tags') throw new Error('no judge is there');
      return response === good ? 0.5 : Number.NaN;
    };
    const monitor = new RewardQualityMonitor({
      assessor: new RewardQualityAssessor({ coherence }),
      onFailure: (message) => said.push(message),
    });
    const metrics = monitor.monitorBatch({ responses, rewards: { truth: [1, 0, 1, 0] } });
    expect(metrics).toMatchObject({ coherence: 0.5, rewards: { truth: { mean: 0.5 } } });
    expect(monitor.monitorBatch({ responses: ['no tags'], rewards: {} }).coherence).toBe(0);
    expect(said).toContain(
      'quality monitor: coherence: expected a number, got NaN; further failures are only counted',
    );
    expect(monitor.getMonitoringSummary().monitoring.failures).toMatchObject({ coherence: 3 });
  });

  it('rewards whose sum overflows: no alarm of theirs', () => {
    const { monitor } = watched([]);
    const found: string[] = [];
    for (const iteration of [0, 1]) {
      const trajectories = [1.7e308, 1.1e308, 1e308].map((reward, at) =>
        scored(`${at}`, `${good} ${at}`, reward),
      );
      found.push(...monitor.observe({ iteration, trajectories }).findings.map(({ rule }) => rule));
    }
    expect(found).not.toContain('variance_collapse');
  });

  it('a reward of a batch that gives another number of values: all of them', () => {
    const { monitor } = watched([]);
    const reward = (given: readonly string[]) => (given.length === 3 ? [0, 1, 2] : [1]);
    const wrapped = monitoredReward(reward, { name: 'style', monitor, batchInterval: 1 });
    expect(wrapped(['a', 'b'])).toEqual([1]);
    wrapped(['a', 'b', 'c']);
    const { invalidRewards, rewardStatistics } = monitor.getMonitoringSummary();
    expect([invalidRewards, rewardStatistics.style?.mean]).toEqual([{ style: 2 }, 1]);
    const none = monitoredReward((() => undefined) as never, { name: 'none', monitor });
    expect((none as (given: readonly string[]) => unknown)(['a'])).toBeUndefined();
  });

  it('rewards that are not finite numbers: the finite ones are kept, and judged by', () => {
    const { monitor, said, faults } = watched();
    for (let step = 0; step < 4; step++) {
      monitor.monitorBatch({ responses, rewards: { truth: [Number.NaN, 1, Infinity, 0] } });
    }
    monitor.observe({ iteration: 9, trajectories: [scored('a', good, Number.NaN), scored('b', good, 1)] });
    expect(monitor.getMonitoringSummary().rewardStatistics.truth).toMatchObject({ samples: 8, mean: 0.5 });
    expect(said[0]).toContain('reward truth: not finite: 2 of 4 values');
    expect(faults()).toMatchObject({ 'reward truth': 5 });
  });

  it.each<[string, unknown, Record<string, number>]>([
    ['nothing', {}, { samples: 0 }],
    ['null', { responses: null, rewards: null, prompts: null }, { samples: 0 }],
    ['a list of rewards', { responses, rewards: [1, 0, 1, 0] }, { reward: 0.5 }],
    ['a typed list', { responses, rewards: new Float32Array([1, 0, 1, 1]) }, { reward: 0.75 }],
    [
      'a record for each response',
      { responses, rewards: [{ a: 1 }, { a: '0' }, { b: true }, null] },
      { a: 0.5, b: 1 },
    ],
    [
      'rewards of all types',
      { responses, rewards: { a: [1n, true, ' 0 ', ''], b: [Symbol('x'), { x: 1 }, [1], 'n/a'] } },
      { a: 2 / 3 },
    ],
    [
      'messages, cycles and numbers',
      { responses: [[{ role: 'assistant', content: good }], cyclic(), 10n, Symbol('x')], rewards: {} },
      { samples: 4 },
    ],
    [
      'parts of messages',
      {
        responses: [{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }],
        prompts: [[{ content: null }]],
        rewards: { a: [1] },
      },
      { a: 1 },
    ],
    ['an error in place of rewards', { responses, rewards: new Error('judge is down') }, { samples: 4 }],
    [
      'metrics that are not numbers',
      { responses, rewards: {}, extraMetrics: { a: 'x', b: Number.NaN } },
      { samples: 4 },
    ],
  ])('a batch as a log holds it: %s', (_, batch, { samples, ...means }) => {
    const { monitor, records } = watched();
    for (let step = 0; step < 3; step++) monitor.monitorBatch(batch as never);
    const { rewardStatistics, totalSamples } = monitor.getMonitoringSummary();
    if (samples !== undefined) expect(totalSamples).toBe(3 * samples);
    for (const [name, mean] of Object.entries(means)) expect(rewardStatistics[name]?.mean).toBe(mean);
    expect(records.flatMap(({ metrics }) => Object.values(metrics)).every(Number.isFinite)).toBe(true);
  });

  it('prompts that are not one per response are left out', () => {
    const { monitor, said } = watched();
    monitor.monitorBatch({ responses, prompts: ['one'], rewards: { truth: [1, 0, 1, 0] } });
    expect(said[0]).toContain('prompts: 1 prompt for 4 responses');
    expect(monitor.getMonitoringSummary().totalSamples).toBe(4);
  });

  it('empty batches are logged as such, and nothing is at fault', () => {
    const { monitor, records, said } = watched();
    monitor.monitorBatch({ responses, rewards: { truth: [1, 0, 1, 0] } });
    monitor.monitorBatch({ responses: [], rewards: { truth: [] } });
    monitor.monitorBatch({ responses: [], rewards: {} });
    monitor.observe({ iteration: 7, trajectories: [] });
    expect(records.map(({ step }) => step)).toEqual([0, 1, 2, 7]);
    expect([said, monitor.getMonitoringSummary().totalSamples]).toEqual([[], 4]);
    expect(records.flatMap(({ metrics }) => Object.values(metrics)).every(Number.isFinite)).toBe(true);
  });

  it('binary garbage is a response like others', () => {
    const { monitor, records, said } = watched();
    const bytes = Uint8Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256);
    const garbage = [
      new TextDecoder('latin1').decode(bytes),
      new TextDecoder().decode(bytes),
      '\ud800\udfff\udc00 \u0000\u0000\uffff',
      '\u0000'.repeat(100_000),
      `<reasoning>${'\ufeff\u202e'.repeat(500)}<answer></reasoning></answer>`,
    ];
    for (let step = 0; step < 30; step++) {
      monitor.monitorBatch({
        responses: garbage,
        rewards: { truth: garbage.map((_, at) => (at + step) % 2) },
      });
    }
    expect(said).toEqual([]);
    expect(records.flatMap(({ metrics }) => Object.values(metrics)).every(Number.isFinite)).toBe(true);
    expect(() => JSON.parse(JSON.stringify(monitor.saveState()))).not.toThrow();
  });

  it('a logger that throws, or rejects later: every other logger has all of it', async () => {
    const { said } = watched();
    const rest = memoryLogger();
    const close = async () => undefined;
    const offline = () => {
      throw new Error('offline');
    };
    const later = (() => Promise.reject(new Error('offline'))) as () => never;
    for (const log of [offline, later]) {
      const monitor = monitorOf(
        {},
        { loggers: [{ log, close }, rest], onFailure: (message) => said.push(message) },
      );
      for (let step = 0; step < 3; step++) monitor.monitorBatch({ responses, rewards: {} });
      await monitor.close();
      expect(monitor.getMonitoringSummary().monitoring.failures).toEqual({ 'logger 0': 3 });
    }
    expect(rest.records).toHaveLength(6);
    expect(said).toEqual(
      new Array(2).fill('quality monitor: logger 0: offline; further failures are only counted'),
    );
  });

  it('a logger that cannot be closed: the others are', async () => {
    const closed: string[] = [];
    const log = () => undefined;
    const close = (): never => {
      throw new Error('gone');
    };
    const loggers = [
      { log, close },
      { log, close: async () => void closed.push('whole') },
    ];
    const monitor = monitorOf({}, { loggers, onFailure: () => undefined });
    await monitor.close();
    expect(closed).toEqual(['whole']);
    expect(monitor.getMonitoringSummary().monitoring.failures).toEqual({ 'logger 0': 1 });
  });

  it('a detector that throws: the assessor and the other detectors go on', () => {
    const broken: Monitor = {
      observe: () => {
        throw new Error('no such trait');
      },
      saveState: () => null,
      loadState: () => undefined,
    };
    const counting: Monitor = { ...broken, observe: () => ({ metrics: { counted: 1 }, findings: [] }) };
    const { monitor, records, faults } = watched([broken, counting]);
    monitor.monitorBatch({ responses, rewards: { truth: [1, 0, 1, 0] } });
    expect(faults()).toEqual({ 'detector 0': 1 });
    expect(records[0]!.metrics).toMatchObject({ counted: 1, format_compliance_rate: expect.any(Number) });
  });
});

describe('reward functions of one monitor', () => {
  const scores = { length: (text: string) => text.length, words: (text: string) => text.split(' ').length };

  /** The batches that a monitor was given. */
  function listening() {
    const monitor = monitorOf();
    const batches: unknown[] = [];
    const monitorBatch = monitor.monitorBatch.bind(monitor);
    monitor.monitorBatch = (batch) => {
      batches.push(batch);
      return monitorBatch(batch);
    };
    return { monitor, batches };
  }

  it('are assessed together, whatever the order they are called in', async () => {
    const { monitor, batches } = listening();
    const options = { monitor, batchInterval: 3 };
    const length = monitoredReward(scores.length, { ...options, name: 'length' });
    const words = monitoredReward(async (text: string) => scores.words(text), { ...options, name: 'words' });
    for (const text of ['a', 'b b', 'a', 'c c c']) length(text);
    await Promise.all(['c c c', 'a', 'b b', 'a'].map(async (text) => words(text)));
    expect(batches).toEqual([
      { responses: ['c c c', 'a', 'b b'], rewards: { length: [5, 1, 3], words: [3, 1, 2] }, step: 3 },
    ]);
    expect([length.pending, words.pending]).toEqual([1, 1]);
    words.flush();
    expect(batches.slice(1)).toEqual([{ responses: ['a'], rewards: { length: [1], words: [1] }, step: 4 }]);
  });

  it('do not wait for ever for one that fails', () => {
    const { monitor, batches } = listening();
    const length = monitoredReward(scores.length, { monitor, name: 'length' });
    const broken = monitoredReward(
      (_: string): number => {
        throw new Error('no such reference');
      },
      { monitor, name: 'broken' },
    );
    expect(() => broken('a')).toThrow('no such reference');
    for (let at = 0; at < 1025; at++) length(String(at));
    expect(batches).toMatchObject([{ step: 1025 }]);
    expect(length.pending).toBe(0);
  });
});
