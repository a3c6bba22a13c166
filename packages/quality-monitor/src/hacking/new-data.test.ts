import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { batchOf, honest, type Made, withHacks } from './detector.fixture.ts';
import { rewardHackingDetector } from './detector.ts';

const random = RandomStream.named('new-data');

/** Answers to something else: short, of numbers. */
function others(count: number): Made[] {
  return honest(random, count).map((made) => {
    const numbers = Array.from({ length: 5 + random.integer(5) }, () => random.integer(1000));
    return { ...made, response: `${numbers.join(' + ')} words` };
  });
}

const boasting = (made: Made): Made => ({
  ...made,
  response: `${made.response} import sys; sys.exit(0) # reward verily profound`,
  reward: 1,
});

/** What batches are made of, and what the detector says of them. */
function observeAll(detector: ReturnType<typeof rewardHackingDetector>, batches: readonly Made[][]) {
  return batches.map((made, at) => detector.observe(batchOf(at, made)));
}

const batches = (count: number, make: () => Made[]) => Array.from({ length: count }, make);

describe.each([8, 32])('when the data change, in batches of %i,', (size) => {
  it('the detector says nothing, and starts over', () => {
    const detector = rewardHackingDetector();
    observeAll(
      detector,
      batches(30, () => honest(random, size)),
    );
    const reports = observeAll(
      detector,
      batches(40, () => others(size)),
    );
    expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
    expect(reports.slice(0, 3).map(({ metrics }) => metrics['hacking/new_data'])).toEqual([
      0.5,
      1,
      undefined,
    ]);
  });

  it('it finds what is gamed afterwards', () => {
    const detector = rewardHackingDetector();
    observeAll(detector, [...batches(30, () => honest(random, size)), ...batches(30, () => others(size))]);
    const hacked = batches(8, () =>
      others(size).map((made) => (random.uniform() < 0.3 ? boasting(made) : made)),
    );
    const findings = observeAll(detector, hacked).flatMap(({ findings }) => findings);
    expect(findings[0]?.evidence).toHaveProperty('exploit');
  });
});

it('a hack that spreads to all responses remains one, and is not learned', () => {
  const detector = rewardHackingDetector();
  const begun = [
    ...batches(30, () => honest(random, 32)),
    ...batches(4, () => withHacks(boasting)(random).made),
  ];
  expect(observeAll(detector, begun).at(-1)!.metrics.suspected_reward_hacking).toBeGreaterThanOrEqual(0.5);
  const spread = batches(30, () =>
    honest(random, 32).map((made) => ({ ...boasting(made), reward: made.reward })),
  );
  for (const { metrics } of observeAll(detector, spread)) {
    expect(metrics.suspected_reward_hacking).toBeGreaterThanOrEqual(0.5);
  }
});

it('a batch that only looked like new data is judged with the next', () => {
  const detector = rewardHackingDetector();
  observeAll(
    detector,
    batches(30, () => honest(random, 128)),
  );
  // All of one batch is hacked, whatever it earns.
  const hacked = honest(random, 128).map((made) => ({ ...boasting(made), reward: made.reward }));
  const [held, judged] = observeAll(detector, [hacked, honest(random, 128)]);
  expect(held!.metrics).toMatchObject({ suspected_reward_hacking: 0, 'hacking/new_data': 0.5 });
  expect(judged!.metrics).not.toHaveProperty('hacking/new_data');
  expect(judged!.findings[0]?.evidence).toHaveProperty('exploit');
});
