import { type MonitorReport, RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { hackingRule } from './alarm.ts';
import { batchOf, honest, withHacks } from './detector.fixture.ts';
import { rewardHackingDetector } from './detector.ts';
import type { RewardHackingOptions } from './options.ts';

describe('once the policy is back at earlier weights', () => {
  const hack = withHacks((made) => ({
    ...made,
    response: `${made.response} wo\u200brd, verily rigorous profound splendid`,
    reward: 1,
    components: { truth: 0 },
  }));

  /** Twenty clean batches and six hacked ones; KL that is spent on falling scores in the last. */
  function alarmedOne(options: RewardHackingOptions = { heldOut: 'truth' }) {
    const random = RandomStream.named('rolled-back');
    const detector = rewardHackingDetector(options);
    let iteration = -1;
    const observe = (what: 'honest' | 'hacked', kl = 0.1) => {
      iteration += 1;
      const made = what === 'hacked' ? hack(random).made : honest(random, 32);
      return detector.observe(batchOf(iteration, made, { 'kl/reference': kl }));
    };
    for (let batch = 0; batch < 20; batch++) observe('honest');
    for (let batch = 0; batch < 6; batch++) observe('hacked', 1);
    return { detector, observe };
  }

  const score = ({ metrics }: MonitorReport) => metrics.suspected_reward_hacking!;

  it.each([{ heldOut: 'truth' }, {}])('its alarm is over at once (%o)', (options) => {
    const [told, untold] = [alarmedOne(options), alarmedOne(options)];
    told.detector.rolledBack!();
    const after = Array.from({ length: 30 }, () => told.observe('honest'));
    expect(after.flatMap(({ findings }) => findings)).toEqual([]);
    expect(Math.max(...after.map(score))).toBeLessThan(0.5);
    expect(score(untold.observe('honest'))).toBeGreaterThan(0.5);
  });

  it('it comes again soon where those weights were hacked too', () => {
    const { detector, observe } = alarmedOne();
    detector.rolledBack!();
    const found = Array.from({ length: 5 }, () => observe('hacked', 1).findings).flat();
    expect(found[0]).toMatchObject({ rule: hackingRule });
    expect(found.some(({ evidence }) => 'trending_phrases' in evidence)).toBe(true);
  });

  it('its state is whole, also before the first batch', () => {
    const { detector } = alarmedOne();
    const next = batchOf(26, honest(RandomStream.named('next'), 32));
    for (const forgetful of [detector, rewardHackingDetector({ heldOut: 'truth' })]) {
      forgetful.rolledBack!();
      const other = rewardHackingDetector({ heldOut: 'truth' });
      other.loadState(JSON.parse(JSON.stringify(forgetful.saveState())));
      expect(other.observe(next)).toEqual(forgetful.observe(next));
    }
  });

  it.each([
    [{}, 'what was best before is no measure for rewards', false],
    [{ heldOut: 'truth' }, 'a held-out score is still measured by its best', true],
  ])('with %o %s', (options, _, alarms) => {
    const random = RandomStream.named('best-before');
    const detector = rewardHackingDetector(options);
    const observe = (iteration: number, right: number, kl: number) =>
      detector.observe(batchOf(iteration, honest(random, 64, right), { 'kl/reference': kl }));
    for (let batch = 0; batch < 30; batch++) observe(batch, batch < 20 ? 0.4 : 0.9, batch < 20 ? 0.1 : 0.5);
    detector.rolledBack!();
    const found = Array.from({ length: 20 }, (__, at) => observe(30 + at, 0.4, 0.1 * at).findings).flat();
    expect(found.some(({ evidence }) => 'kl_frontier' in evidence)).toBe(alarms);
  });
});
