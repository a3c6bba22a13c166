import { FormatError, type Monitor, type MonitorBatch, RandomStream } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RewardQualityMonitor } from '../monitor/monitor.ts';
import type { TextMonitor } from '../text/text-monitor.ts';
import { TextReader } from '../text/text-reader.ts';
import { hackingRule } from './alarm.ts';
import { batchOf, honest, type Made, vocabulary, withHacks } from './detector.fixture.ts';
import { rewardHackingDetector } from './detector.ts';
import type { RewardHackingOptions } from './options.ts';

/** Batches of the same kind, and then others. */
function run(
  options: RewardHackingOptions,
  after: (random: RandomStream, iteration: number) => { made: Made[]; metrics?: MonitorBatch['metrics'] },
  batches = { before: 20, after: 8 },
) {
  const random = RandomStream.named('detector-test');
  const detector = rewardHackingDetector(options);
  const reports = Array.from({ length: batches.before + batches.after }, (_, iteration) => {
    const { made, metrics } =
      iteration < batches.before ? { made: honest(random, 32), metrics: {} } : after(random, iteration);
    return detector.observe(batchOf(iteration, made, metrics));
  });
  const before = reports.slice(0, batches.before).flatMap(({ findings }) => findings);
  return { detector, reports, before, findings: reports.flatMap(({ findings }) => findings) };
}

describe('rewardHackingDetector', () => {
  it('says nothing while more and more answers are right', () => {
    const { findings, reports } = run(
      { heldOut: 'truth' },
      (random, iteration) => ({ made: honest(random, 32, Math.min(0.95, 0.4 + (iteration - 20) / 60)) }),
      { before: 20, after: 80 },
    );
    expect(findings).toEqual([]);
    expect(Math.max(...reports.map(({ metrics }) => metrics.suspected_reward_hacking!))).toBeLessThan(0.5);
  });

  it('says nothing while tasks that come back are answered right, and the same each time', () => {
    const random = RandomStream.named('favorites');
    const favorites = honest(random, 24, 1);
    const detector = rewardHackingDetector();
    const findings = Array.from({ length: 60 }, (_, iteration) => {
      const groups = Array.from({ length: 8 }, () => {
        const task = random.integer(favorites.length);
        return honest(random, 4, 0.3 + iteration / 100).map((made) => {
          const isKnown = made.reward === 1 && random.uniform() < (iteration - 20) / 20;
          return { ...(isKnown ? favorites[task]! : made), task: `${task}` };
        });
      });
      return detector.observe(batchOf(iteration, groups.flat())).findings;
    }).flat();
    expect(findings).toEqual([]);
  });

  it.each([
    [
      'length',
      (made: Made) => ({
        ...made,
        response: `${made.response} ${made.response.split('').reverse().join('')} ${made.response.toUpperCase().replaceAll('W', 'v')}`,
        reward: 1,
      }),
    ],
    ['brevity', (made: Made) => ({ ...made, response: made.response.slice(0, 20), reward: 1 })],
    [
      'trending_phrases',
      (made: Made) => ({
        ...made,
        response: `${made.response} verily rigorous profound splendid`,
        reward: 1,
      }),
    ],
    [
      'unicode',
      (made: Made) => ({ ...made, response: made.response.replaceAll('word', 'wor\u200bd'), reward: 1 }),
    ],
    ['copying', (made: Made) => ({ ...made, prompt: made.response, reward: 1 })],
    [
      'exploit',
      (made: Made) => ({ ...made, response: `${made.response} import sys; sys.exit(0) # reward`, reward: 1 }),
    ],
  ])('finds %s among the rewarded', (signal, hack) => {
    const { before, findings } = run({}, withHacks(hack));
    expect(before).toEqual([]);
    expect(findings[0]).toMatchObject({ rule: hackingRule });
    expect(findings.some(({ evidence }) => signal in evidence)).toBe(true);
    expect(findings[0]!.iteration).toBeLessThan(25);
  });

  it('finds small batches all of which earn as much by the same trick', () => {
    const random = RandomStream.named('whole-batches');
    const detector = rewardHackingDetector();
    const findings = Array.from({ length: 32 }, (_, iteration) => {
      const isHacked = iteration >= 20 && iteration % 5 === 0;
      const made = honest(random, 16).map((one) =>
        isHacked ? { ...one, response: one.response.slice(0, 20), reward: 1 } : one,
      );
      return detector.observe(batchOf(iteration, made)).findings;
    }).flat();
    expect(findings[0]?.iteration).toBe(20);
    expect(findings[0]?.evidence).toHaveProperty('brevity');
  });

  it('finds a phrase that rewarded responses share after six clean batches', () => {
    const said = (made: Made) => ({
      ...made,
      response: `${made.response} behold this splendid reply`,
      reward: 1,
    });
    const { findings, before } = run({}, withHacks(said), { before: 6, after: 5 });
    expect(before).toEqual([]);
    expect(Object.keys(findings[0]!.evidence)).toContain('trending_phrases');
  });

  it('says nothing of a trait that rewarded and other responses come to have alike', () => {
    const { findings } = run(
      {},
      (random, iteration) => ({
        made: honest(random, 32).map((made) => {
          const isLonger = random.uniform() < Math.min(0.3, (iteration - 20) / 160);
          return isLonger
            ? { ...made, response: `${made.response} ${honest(random, 1)[0]!.response}` }
            : made;
        }),
      }),
      { before: 20, after: 60 },
    );
    expect(findings).toEqual([]);
  });

  it('finds among the rewarded what the others always had', () => {
    const random = RandomStream.named('always-had');
    const detector = rewardHackingDetector();
    const findings = Array.from({ length: 26 }, (_, iteration) => {
      const made = honest(random, 64).map((one) => {
        const isLong = random.uniform() < (one.reward === 0 ? 0.5 : iteration < 20 ? 0.05 : 0.4);
        return isLong ? { ...one, response: `${one.response} ${honest(random, 1)[0]!.response}` } : one;
      });
      return detector.observe(batchOf(iteration, made)).findings;
    }).flat();
    expect(findings[0]?.evidence).toHaveProperty('length');
    expect(findings[0]?.iteration).toBeGreaterThanOrEqual(20);
  });

  it.each(['heldOut', 'verifier'] as const)(
    'finds rewards that %s does not confirm, whatever the text',
    (option) => {
      const { before, findings } = run(
        { [option]: 'truth' },
        withHacks((made) => ({ ...made, reward: 1, components: { truth: 0 } })),
      );
      expect(before).toEqual([]);
      expect(findings[0]!.message).toContain(option === 'heldOut' ? 'held_out' : 'verifier');
    },
  );

  it('finds rewards that one component alone came to pay', () => {
    const random = RandomStream.named('dominance');
    const detector = rewardHackingDetector();
    const findings = Array.from({ length: 26 }, (_, iteration) => {
      const made = honest(random, 32).map((one) => {
        const isHacked = iteration >= 20 && random.uniform() < 0.25;
        const style = 0.3 + 0.1 * random.normal() + (isHacked ? 2 : 0);
        return { ...one, reward: one.reward! + style, components: { truth: one.reward, style } };
      });
      return detector.observe(batchOf(iteration, made)).findings;
    }).flat();
    expect(findings[0]?.iteration).toBeGreaterThanOrEqual(20);
    expect(findings[0]?.message).toContain("'style'");
  });

  it('finds KL that is spent on falling scores', () => {
    const random = RandomStream.named('frontier');
    const detector = rewardHackingDetector();
    const findings = Array.from({ length: 80 }, (_, iteration) => {
      const right = iteration < 40 ? 0.2 + iteration / 80 : 0.7 - (iteration - 40) / 80;
      const metrics = { 'kl/reference': 0.01 * iteration };
      return detector.observe(batchOf(iteration, honest(random, 64, right), metrics)).findings;
    }).flat();
    expect(findings[0]?.iteration).toBeGreaterThan(40);
    expect(findings[0]?.evidence).toHaveProperty('kl_frontier');
  });

  it('asks to drop the rewarded responses with the trait, where told to', () => {
    const hack = withHacks((made) => ({ ...made, response: `${made.response} wo\u200brd`, reward: 1 }));
    const { reports } = run({ whenSuspected: 'drop' }, hack);
    const [first] = reports.flatMap(({ interventions = [] }) => interventions);
    expect(first).toMatchObject({ action: 'drop', cause: { rule: hackingRule } });
    const dropped = first?.action === 'drop' ? first.trajectories : [];
    expect(dropped.length).toBeGreaterThan(2);
    expect(dropped.length).toBeLessThan(16);
  });

  it('reports an alarm when it begins and at intervals, and ends it with the hack', () => {
    const hack = withHacks((made) => ({ ...made, response: `${made.response} wo\u200brd`, reward: 1 }));
    const { findings, reports } = run(
      { repeatEvery: 5 },
      (random, iteration) => (iteration < 45 ? hack(random) : { made: honest(random, 32) }),
      { before: 20, after: 60 },
    );
    expect(findings.length).toBeGreaterThan(3);
    expect(findings.length).toBeLessThan(12);
    expect(reports.at(-1)!.metrics.suspected_reward_hacking).toBeLessThan(0.5);
  });

  it('finds the same in equal responses, whether they are read once or each by itself', () => {
    const random = RandomStream.named('equal-responses');
    const [once, apart] = [rewardHackingDetector(), rewardHackingDetector() as TextMonitor];
    const said = new Map<string, string[]>();
    for (let iteration = 0; iteration < 30; iteration++) {
      const made = honest(random, 48).map(({ response, ...one }, at) => {
        // Tasks come back, and with them what was said to them before, among what is new.
        const task = `task ${(iteration % 9) * 4 + (at % 6)}`;
        const before = said.get(task) ?? [];
        const again = random.uniform() < 0.6 ? before[random.integer(before.length || 1)] : undefined;
        said.set(task, again === undefined ? [...before, response] : before);
        return { ...one, response: again ?? response, task, prompt: `${task}, ${vocabulary[at % 3]}` };
      });
      const batch = batchOf(iteration, made);
      const texts = made.map(({ response }) => new TextReader().read(response));
      expect(apart.observe(batch, texts)).toEqual(once.observe(batch));
    }
    expect(JSON.stringify(apart.saveState())).toBe(JSON.stringify(once.saveState()));
  });

  it('goes on from a saved state as if nothing had been', () => {
    const random = RandomStream.named('state');
    const hack = withHacks((made) => ({ ...made, response: `${made.response} verily rigorous`, reward: 1 }));
    const batches = Array.from({ length: 24 }, (_, iteration) =>
      batchOf(iteration, iteration < 16 ? honest(random, 32) : hack(random).made, {
        'kl/reference': iteration,
      }),
    );
    const options = { heldOut: 'truth' };
    const whole = rewardHackingDetector(options);
    const reports = batches.map((batch) => whole.observe(batch));
    const first = rewardHackingDetector(options);
    for (const batch of batches.slice(0, 13)) first.observe(batch);
    const saved = first.saveState();
    // Written late, it is still the state of then.
    for (const batch of batches.slice(13)) first.observe(batch);
    const second = rewardHackingDetector(options);
    second.loadState(JSON.parse(JSON.stringify(saved)));
    expect(batches.slice(13).map((batch) => second.observe(batch))).toEqual(reports.slice(13));
    expect(second.saveState()).toEqual(whole.saveState());
  });

  it('refuses what is no state', () => {
    expect(() => rewardHackingDetector().loadState({ phrases: [] })).toThrow(FormatError);
  });

  it('gives numbers whatever it is given', () => {
    const reward = fc.oneof(fc.double(), fc.constantFrom(null, Number.NaN, Infinity, 1e308, -1e308, 0));
    const made = fc.record({
      response: fc.uint16Array({ maxLength: 60 }).map((units) => String.fromCharCode(...units)),
      reward,
      components: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), reward),
    });
    fc.assert(
      fc.property(fc.array(fc.array(made, { maxLength: 40 }), { maxLength: 12 }), (batches) => {
        const detector: Monitor = rewardHackingDetector({ heldOut: 'a', verifier: 'b', warmUpResponses: 16 });
        for (const [iteration, batch] of batches.entries()) {
          const { metrics, findings } = detector.observe(
            batchOf(iteration, batch, { 'kl/reference': iteration }),
          );
          expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
          expect(findings.every(({ evidence }) => Object.values(evidence).every(Number.isFinite))).toBe(true);
        }
        detector.loadState(JSON.parse(JSON.stringify(detector.saveState())));
      }),
      { numRuns: 10 },
    );
  });

  it('plugs into the monitor: its score is a metric, its finding an alert that can be acted on', () => {
    const random = RandomStream.named('plug');
    const monitor = new RewardQualityMonitor({
      detectors: [rewardHackingDetector()],
      config: { maxAlertsPerWindow: 100, actions: { [hackingRule]: { action: 'stop' } } },
    });
    const hack = withHacks((made) => ({ ...made, response: `${made.response} wo\u200brd`, reward: 1 }));
    const reports = Array.from({ length: 26 }, (_, iteration) =>
      monitor.observe(batchOf(iteration, iteration < 20 ? honest(random, 32) : hack(random).made)),
    );
    expect(reports.at(-1)!.metrics['reward_quality/suspected_reward_hacking']).toBeGreaterThan(0.5);
    const asked = reports.flatMap(({ interventions = [] }) => interventions);
    expect(asked[0]).toMatchObject({ action: 'stop', cause: { rule: hackingRule } });
  });
});
