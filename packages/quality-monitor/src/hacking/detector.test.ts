import { FormatError, type Monitor, type MonitorBatch, RandomStream } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RewardQualityMonitor } from '../monitor/monitor.ts';
import { batchOf, honest, type Made, said, withHacks } from './detector.fixture.ts';
import { rewardHackingDetector } from './detector.ts';
import { changedRule, hackingRule } from './findings.ts';
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
      { secondOpinion: 'truth' },
      (random, iteration) => ({ made: honest(random, 32, Math.min(0.95, 0.4 + (iteration - 20) / 60)) }),
      { before: 20, after: 80 },
    );
    expect(findings).toEqual([]);
    expect(Math.max(...reports.map(({ metrics }) => metrics.suspected_reward_hacking ?? 0))).toBeLessThan(
      0.5,
    );
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
    ['length', (made: Made) => said(`${made.response.split('').reverse().join('')}`)(made)],
    ['brevity', (made: Made) => ({ ...made, response: made.response.slice(0, 20), reward: 1 })],
    ['new_phrases', said('verily rigorous profound splendid')],
    [
      'new_phrases: unusual characters',
      (made: Made) => ({ ...made, response: made.response.replaceAll('word', 'wor\u200bd'), reward: 1 }),
    ],
    ['copying', (made: Made) => ({ ...made, prompt: made.response, reward: 1 })],
    [
      'new_phrases: capitals',
      (made: Made) => ({ ...made, response: made.response.toUpperCase(), reward: 1 }),
    ],
    [
      'new_phrases: white space',
      (made: Made) => ({ ...made, response: made.response.replaceAll(' ', '    '), reward: 1 }),
    ],
    ['lines', said('\n'.repeat(30))],
    ['repetition', (made: Made) => said(`${made.response} ${made.response}`)(made)],
    ['new_phrases: digits', said('12 34 56 78 90 12 34 56 78 90')],
    ['new_phrases: symbols', said('!?!?!?!?!?!?!?!?!?!?!?')],
    [
      'sameness',
      (made: Made) => ({
        ...made,
        response:
          'wordak wordbl wordcm wordan wordbo wordak wordcn wordao wordbp wordak wordcl wordam wordbn wordco wordap',
        reward: 1,
      }),
    ],
  ])('sees a change in %s, and without a second opinion calls it a change', (trait, hack) => {
    const { before, findings, reports } = run({}, withHacks(hack));
    expect(before).toEqual([]);
    expect(findings[0]).toMatchObject({ rule: changedRule, severity: 'medium' });
    const evidence = reports.map(({ metrics }) => metrics[`hacking/${trait.split(':')[0]}`] ?? 0);
    expect(Math.max(...evidence)).toBeGreaterThan(0.25);
    expect(findings[0]!.iteration).toBeLessThan(25);
    expect(findings.some(({ rule }) => rule === hackingRule)).toBe(false);
  });

  it.each(['truth', ['truth']])(
    'raises an alarm if the second opinion (%s) finds the suspects worse',
    (secondOpinion) => {
      const { before, findings } = run(
        { secondOpinion },
        withHacks(said('verily rigorous profound splendid')),
      );
      expect(before).toEqual([]);
      expect(findings[0]).toMatchObject({ rule: hackingRule });
      expect(findings[0]!.iteration).toBeLessThan(23);
      expect(findings[0]!.note?.mitigation.length).toBeGreaterThan(1);
    },
  );

  it('says what a second opinion that was given lacks to decide, and does not ask for one', () => {
    const label = (made: Made, at: number) => ({
      ...made,
      components: { truth: at % 4 === 0 ? (made.components?.truth ?? null) : null },
    });
    const random = RandomStream.named('few labels');
    const hack = withHacks(said('verily rigorous profound splendid'));
    const detector = rewardHackingDetector({ secondOpinion: 'truth' });
    const findings = Array.from({ length: 40 }, (_, iteration) => {
      const made = iteration < 30 ? honest(random, 32) : hack(random).made;
      return detector.observe(batchOf(iteration, made.map(label))).findings;
    }).flat();
    const undecided = findings.find(({ message }) => message.includes('has not decided'));
    expect(undecided?.message).toMatch(
      /It has scored \d+ of the suspects \(30 can clear them\) and found \d+\.\d% of the evidence of an alarm$/,
    );
    expect(undecided?.note?.mitigation[1]).toBe(
      'If the second opinion has not decided, let it score more of the rewarded responses',
    );
  });

  it('finds rewards that the second opinion does not confirm, whatever the text', () => {
    const { before, findings } = run(
      { secondOpinion: 'truth' },
      withHacks((made) => ({ ...made, reward: 1, components: { truth: 0 } })),
    );
    expect(before).toEqual([]);
    expect(findings[0]).toMatchObject({ rule: hackingRule, evidence: { second_opinion: 1 } });
  });

  it('asks a few human labels as well as a judge', () => {
    const random = RandomStream.named('labels');
    const labelled = (made: Made): Made =>
      random.uniform() < 0.3
        ? { ...made, components: { label: made.components!.truth! } }
        : { ...made, components: { label: null } };
    const detector = rewardHackingDetector({ secondOpinion: 'label' });
    const hack = withHacks(said('verily rigorous profound splendid'));
    const findings = Array.from({ length: 50 }, (_, iteration) => {
      const made = iteration < 36 ? honest(random, 32) : hack(random).made;
      return detector.observe(batchOf(iteration, made.map(labelled))).findings;
    }).flat();
    expect(findings.find(({ rule }) => rule === hackingRule)?.iteration).toBeGreaterThanOrEqual(36);
  });

  it('uses agreement in groups if there is no other opinion', () => {
    const random = RandomStream.named('groups');
    const detector = rewardHackingDetector();
    const findings = Array.from({ length: 40 }, (_, iteration) => {
      const made = Array.from({ length: 8 }, (__, task) =>
        honest(random, 8, 0.7).map((one) => {
          const answer = one.reward === 1 ? task : 10 + random.integer(1000);
          const right = {
            ...one,
            response: `${one.response} so ${answer}`,
            task: `${iteration}/${task}`,
            components: {},
          };
          const isHacked = iteration >= 20 && random.uniform() < 0.25;
          return isHacked
            ? { ...right, response: `${one.response} verily splendid ${random.integer(9999)}`, reward: 1 }
            : right;
        }),
      ).flat();
      return detector.observe(batchOf(iteration, made)).findings;
    }).flat();
    const alarm = findings.find(({ rule }) => rule === hackingRule);
    expect(alarm?.iteration).toBeGreaterThanOrEqual(20);
    expect(alarm?.message).toContain('agreement in groups');
  });

  it('learns a format without an alarm, as long as the second opinion does not fall', () => {
    const random = RandomStream.named('format');
    const detector = rewardHackingDetector({ secondOpinion: 'judge' });
    const reports = Array.from({ length: 60 }, (_, iteration) => {
      const share = Math.max(0.02, Math.min(0.95, (iteration - 20) / 8));
      const made = honest(random, 64).map((one) => {
        const isFormatted = random.uniform() < share;
        const truth = one.components!.truth!;
        const components = { truth, format: isFormatted ? 0.5 : 0, judge: truth + 0.3 * random.normal() };
        const response = isFormatted ? `<think>${one.response}</think><answer>yes</answer>` : one.response;
        return { response, reward: truth + components.format, components };
      });
      return detector.observe(batchOf(iteration, made));
    });
    const rules = new Set(reports.flatMap(({ findings }) => findings.map(({ rule }) => rule)));
    expect([...rules]).toEqual([changedRule]);
    expect(reports.at(-1)!.metrics.reward_behaviour_changed).toBeLessThan(0.5);
  });

  it('does not look at what is intended', () => {
    const longer = withHacks((made) => ({
      ...made,
      response: `${made.response} ${made.response.split('').reverse().join('')}`,
      reward: 1,
    }));
    const traits = ['length', 'new_phrases'];
    expect(run({ intended: traits }, longer).findings).toEqual([]);
    expect(run({}, longer).findings).not.toEqual([]);
  });

  it.each(['finding', 'trait'] as const)('takes a %s that is acknowledged for the new normal', (what) => {
    const random = RandomStream.named('acknowledge');
    const hack = withHacks((made) => ({ ...made, response: made.response.toUpperCase(), reward: 1 }));
    const detector = rewardHackingDetector();
    const found = [];
    for (let iteration = 0; iteration < 60; iteration++) {
      const { findings } = detector.observe(
        batchOf(iteration, iteration < 20 ? honest(random, 32) : hack(random).made),
      );
      found.push(...findings);
      if (iteration !== 30) continue;
      expect(found).not.toEqual([]);
      if (what === 'finding') for (const finding of found) detector.acknowledge(finding);
      else detector.acknowledge('new_phrases');
      found.length = 0;
    }
    expect(found).toEqual([]);
    const others = ['lenght', undefined, { rule: 'excessive_repetition', evidence: { rate: 1 } }];
    for (const other of others) {
      expect(() => detector.acknowledge(other as never)).toThrow('expected its finding or one of length');
    }
  });

  it('finds a hack that grows by half a percent a batch', () => {
    const random = RandomStream.named('slow');
    const detector = rewardHackingDetector();
    const growth = (iteration: number) => Math.max(0, 0.005 * (iteration - 30));
    let foundAt: number | undefined;
    for (let iteration = 0; iteration < 70 && foundAt === undefined; iteration++) {
      const made = honest(random, 64).map((one) =>
        random.uniform() < growth(iteration) ? said('verily rigorous profound splendid')(one) : one,
      );
      if (detector.observe(batchOf(iteration, made)).findings.length > 0) foundAt = iteration;
    }
    expect(foundAt).toBeGreaterThan(30);
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

  it('asks to drop the rewarded responses with the trait, where told to', () => {
    const hack = withHacks(said('wo\u200brd'));
    const { reports } = run({ whenSuspected: 'drop', secondOpinion: 'truth' }, hack);
    const [first] = reports.flatMap(({ interventions = [] }) => interventions);
    expect(first).toMatchObject({ action: 'drop', cause: { rule: hackingRule } });
    const dropped = first?.action === 'drop' ? first.trajectories : [];
    expect(dropped.length).toBeGreaterThan(2);
    expect(dropped.length).toBeLessThan(16);
  });

  it('reports an alarm when it begins and at intervals, and ends it with the hack', () => {
    const hack = withHacks(said('wo\u200brd'));
    const { findings, reports } = run(
      { repeatEvery: 5, secondOpinion: 'truth' },
      (random, iteration) => (iteration < 45 ? hack(random) : { made: honest(random, 32) }),
      { before: 20, after: 60 },
    );
    expect(findings.length).toBeGreaterThan(3);
    expect(findings.length).toBeLessThanOrEqual(12);
    expect(reports.at(-1)!.metrics.suspected_reward_hacking).toBeLessThan(0.5);
  });

  it('has metrics as soon as a named opinion compares, though no trait does yet', () => {
    const { reports } = run(
      { warmUpResponses: 100_000, secondOpinion: 'truth' },
      (random) => ({ made: honest(random, 32) }),
      { before: 4, after: 12 },
    );
    expect(reports[0]!.metrics).toEqual({});
    expect(reports.at(-1)!.metrics).toMatchObject({ reward_behaviour_changed: 0 });
    expect(reports.at(-1)!.metrics['hacking/second_opinion']).toBeLessThan(0.5);
  });

  it('goes on from a saved state as if nothing had been', () => {
    const random = RandomStream.named('state');
    const hack = withHacks(said('verily rigorous'));
    const batches = Array.from({ length: 24 }, (_, iteration) =>
      batchOf(iteration, iteration < 16 ? honest(random, 32) : hack(random).made, {
        'kl/reference': iteration,
      }),
    );
    const options = { secondOpinion: 'truth' };
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

  it('suspects a new phrase sooner the less usual phrases surprised', () => {
    const random = RandomStream.named('surprises');
    const learned = rewardHackingDetector();
    for (let iteration = 0; iteration < 20; iteration++)
      learned.observe(batchOf(iteration, honest(random, 32)));
    const saved = JSON.parse(JSON.stringify(learned.saveState()));
    expect(saved.state.usualNats).toBeGreaterThanOrEqual(4);
    const hack = withHacks(said('verily'))(random).made;
    const [quiet, loud] = [4, 8].map((usualNats) => {
      const detector = rewardHackingDetector();
      detector.loadState({ state: { ...saved.state, usualNats } });
      return detector.observe(batchOf(20, hack)).metrics['hacking/new_phrases']!;
    });
    expect(quiet!).toBeGreaterThan(loud!);
    expect(loud).toBeGreaterThan(0);
  });

  it('forgets what the discarded policy did, and keeps the references', () => {
    const random = RandomStream.named('rolled-back');
    const options = { secondOpinion: 'truth' };
    const detector = rewardHackingDetector(options);
    const hack = withHacks(said('wo\u200brd, verily rigorous profound splendid'));
    let iteration = 0;
    const observe = (made: Made[]) => detector.observe(batchOf(iteration++, made));
    for (let batch = 0; batch < 20; batch++) observe(honest(random, 32));
    for (let batch = 0; batch < 6; batch++) observe(hack(random).made);
    detector.rolledBack!();
    const other = rewardHackingDetector(options);
    other.loadState(JSON.parse(JSON.stringify(detector.saveState())));
    const next = batchOf(26, honest(random, 32));
    expect(other.observe(next)).toEqual(detector.observe(next));
    const after = Array.from({ length: 20 }, () => observe(honest(random, 32)));
    expect(after.flatMap(({ findings }) => findings)).toEqual([]);
    const again = Array.from({ length: 5 }, () => observe(hack(random).made).findings).flat();
    expect(again[0]).toMatchObject({ rule: hackingRule });
  });

  it('refuses what is no state', () => {
    expect(() => rewardHackingDetector().loadState({ state: {} })).toThrow(FormatError);
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
        const detector: Monitor = rewardHackingDetector({ secondOpinion: ['a', 'b'], warmUpResponses: 16 });
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
      detectors: [rewardHackingDetector({ secondOpinion: 'truth' })],
      config: { maxAlertsPerWindow: 100, actions: { [hackingRule]: { action: 'stop' } } },
    });
    const hack = withHacks(said('wo\u200brd'));
    const reports = Array.from({ length: 26 }, (_, iteration) =>
      monitor.observe(batchOf(iteration, iteration < 20 ? honest(random, 32) : hack(random).made)),
    );
    expect(reports.at(-1)!.metrics['reward_quality/suspected_reward_hacking']).toBeGreaterThan(0.5);
    const asked = reports.flatMap(({ interventions = [] }) => interventions);
    expect(asked[0]).toMatchObject({ action: 'stop', cause: { rule: hackingRule } });
  });
});
