import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { RewardQualityAssessor } from './assessor.ts';
import type { AssessorOptions } from './options.ts';

interface Made {
  readonly response: string;
  readonly format: number;
  readonly accuracy: number;
}

const random = RandomStream.named('learning.test', 'responses');
const upTo = (limit: number) => Math.floor(random.uniform() * limit);
const chance = (share: number) => (random.uniform() < share ? 1 : 0);

/** Short but honest work on one task. */
function worked(accuracy: number): Made {
  const [a, b] = [10 + upTo(90), 10 + upTo(90)];
  const response = `<reasoning>${a % 10}+${b % 10}=${(a % 10) + (b % 10)}</reasoning><answer>${a + b}</answer>`;
  return { response, format: 1, accuracy };
}

const plain = (accuracy: number): Made => ({
  ...worked(accuracy),
  response: `The sum is ${upTo(200)}`,
  format: 0,
});

/** Findings of severity `medium` and above, batch by batch, with the findings that were lowered. */
function watch(
  batches: readonly (readonly Made[])[],
  options: AssessorOptions & { tasks?: readonly string[] } = {},
) {
  const { tasks, ...rest } = options;
  const assessor = new RewardQualityAssessor({ explainedByLearning: 'lower', ...rest });
  return batches.map((made) => {
    const rewards = {
      format: made.map(({ format }) => format),
      accuracy: made.map(({ accuracy }) => accuracy),
    };
    const { findings } = assessor.assessBatch({
      responses: made.map(({ response }) => response),
      rewards,
      tasks,
    });
    return findings.map(({ rule, component, severity }) => `${severity} ${component ?? ''} ${rule}`);
  });
}

const batch = (make: () => Made, count = 128) => Array.from({ length: count }, make);
const alarms = (found: readonly (readonly string[])[]) =>
  found.flat().filter((one) => !one.startsWith('low'));

describe('explainedByLearning: lower', () => {
  it('does not alarm where a short format pays off more and more, up to all responses', () => {
    const shares = Array.from({ length: 30 }, (_, at) => Math.min(1, 0.3 + 0.04 * at));
    const found = watch(shares.map((share) => batch(() => worked(chance(share)))));
    expect(alarms(found)).toEqual([]);
    expect(found.flat()).toContain('low  format_gaming');
    expect(found.flat()).toContain('low accuracy reward_saturation_high');
  });

  it('does not alarm where plain text becomes formatted', () => {
    const steps = Array.from({ length: 30 }, (_, at) => at / 20);
    const found = watch(
      steps.map((at) => batch(() => (chance(at) ? worked : plain)(chance(0.1 + 0.6 * at)))),
    );
    expect(alarms(found)).toEqual([]);
  });

  it('judges diversity by the number of tasks', () => {
    const groups = () =>
      Array.from({ length: 8 }, () => Array.from({ length: 16 }).fill(worked(1)) as Made[]);
    const batches = Array.from({ length: 5 }, () =>
      groups()
        .flat()
        .map((one) => ({ ...one, accuracy: chance(0.5) })),
    );
    expect(
      alarms(watch(batches, { tasks: Array.from({ length: 128 }, (_, at) => `task ${at >> 4}`) })).join(),
    ).not.toContain('diversity_collapse');
    expect(alarms(watch(batches)).join()).toContain('diversity_collapse');
  });

  const junk = (accuracy: number): Made => {
    const reasoning = random.uniform().toString(36).slice(2, 9);
    return {
      response: `<reasoning>${reasoning}</reasoning><answer>${upTo(9)}1</answer>`,
      format: 1,
      accuracy,
    };
  };
  const manyWords = () =>
    Array.from({ length: 12 }, () => random.uniform().toString(36).slice(2, 9)).join(' ');
  const long = (accuracy: number): Made => {
    return {
      response: `<reasoning>${manyWords()}</reasoning><answer>${100 + upTo(99)}</answer>`,
      format: 1,
      accuracy,
    };
  };

  it.each<[string, readonly (readonly Made[])[], string]>([
    [
      'the same empty words pay',
      [batch(() => ({ ...junk(chance(0.5)), response: '<reasoning>ok</reasoning><answer>17</answer>' }))],
      'format_gaming',
    ],
    ['junk earns nothing but the format', [batch(() => junk(0))], 'format_gaming'],
    [
      'junk replaces reasoning and earns less',
      [
        ...Array.from({ length: 10 }, () => batch(() => long(chance(0.6)))),
        ...Array.from({ length: 3 }, () => batch(() => junk(chance(0.1)))),
      ],
      'format_gaming',
    ],
    [
      'a reward is lost',
      [
        ...Array.from({ length: 10 }, () => batch(() => long(chance(0.6)))),
        ...Array.from({ length: 9 }, () => batch(() => long(chance(0.01)))),
      ],
      'accuracy reward_saturation_low',
    ],
    [
      'nothing is written',
      [batch(() => ({ response: '', format: 0, accuracy: chance(0.5) }))],
      'degenerate_outputs',
    ],
    [
      'a learned format is lost',
      [...Array.from({ length: 5 }, () => batch(() => long(chance(0.6)))), batch(() => plain(chance(0.6)))],
      'degenerate_outputs',
    ],
    ['all rewards are the same from the start', [batch(() => long(1))], 'accuracy variance_collapse'],
  ])('still alarms if %s', (_, batches, rule) => {
    expect(alarms(watch(batches)).join()).toContain(rule);
  });

  const varied = (accuracy: () => number, format: () => number = () => 1) =>
    batch(() => ({ ...long(accuracy()), format: format() }), 64);
  const then = (before: readonly Made[], after: readonly Made[], count = 6) => [
    ...Array.from({ length: 6 }, () => before),
    ...Array.from({ length: count }, () => after),
  ];
  const paid = (thought: () => string, answer: () => string = () => `${upTo(99)}7`) =>
    batch(() => {
      const response = `<reasoning>${thought()}</reasoning><answer>${answer()}</answer>`;
      return { response, format: 1, accuracy: chance(0.8) };
    }, 64);
  const unformatted = (text: () => string) =>
    batch(() => ({ response: text(), format: 0, accuracy: chance(0.5) }), 64);
  const honest = varied(() => chance(0.4));

  it.each<[string, readonly (readonly Made[])[], string]>([
    [
      'a judge returns one value below its best',
      then(
        varied(() => (chance(0.1) === 1 ? 0.1 : 0.6 + 0.3 * random.uniform())),
        varied(() => 0.78),
      ),
      'accuracy variance_collapse',
    ],
    [
      'a grader accepts everything at once',
      then(
        honest,
        varied(() => 1),
      ),
      'accuracy variance_collapse',
    ],
    [
      'a reward is lost while the format is learned',
      then(
        varied(
          () => chance(0.6),
          () => chance(0.6),
        ),
        varied(() => chance(0.12)),
      ),
      'format variance_collapse',
    ],
    [
      'the format is learned and the content never paid',
      then(
        batch(() => {
          const format = chance(0.5);
          return { ...(format === 1 ? long : plain)(0), format };
        }),
        varied(() => 0),
      ).slice(5),
      'accuracy variance_collapse',
    ],
    [
      'rare exploits earn all',
      then(
        honest,
        varied(() => 40 * chance(0.03)),
      ),
      'accuracy reward_saturation_low',
    ],
    [
      'there is a letter between the tags',
      then(
        honest,
        paid(
          () => 'abcdefg'.charAt(upTo(7)),
          () => '',
        ),
      ),
      'degenerate_outputs',
    ],
    [
      'answers are empty',
      then(
        honest,
        paid(manyWords, () => ''),
      ),
      'degenerate_outputs',
    ],
    [
      'one word replaces plain text',
      then(
        unformatted(manyWords),
        unformatted(() => 'ok'),
      ),
      'degenerate_outputs',
    ],
    ['a learned format gives way to plain text', then(honest, unformatted(manyWords)), 'degenerate_outputs'],
    [
      'junk that is paid replaces work',
      then(
        honest,
        paid(() => `x${upTo(1e6)}`),
      ),
      'format_gaming',
    ],
    [
      'thoughts have no word',
      then(
        [],
        paid(() => '.,!?;:'.slice(upTo(5)).repeat(1 + upTo(3))),
      ),
      'format_gaming',
    ],
    [
      'thoughts are loops',
      then(
        [],
        paid(() => `so ${upTo(1e6)} then `.repeat(20)),
      ),
      'format_gaming',
    ],
    [
      'all tasks have the same few thoughts',
      then(
        [],
        paid(() => `as in case ${upTo(5)}`),
      ),
      'format_gaming',
    ],
  ])('alarms to the end if %s', (_, batches, rule) => {
    const found = watch(
      batches.filter(({ length }) => length > 0),
      { windowSize: 256 },
    );
    expect(alarms(found.slice(-1)).join()).toContain(rule);
  });

  it.each<[string, readonly (readonly Made[])[]]>([
    [
      'a penalty never applies',
      then(honest, [...honest, ...varied(() => 1)], 9).map((made) =>
        made.map((one) => ({ ...one, format: 0 })),
      ),
    ],
    [
      'a sum keeps its first part and the second is rare',
      then(
        honest,
        varied(() => 1 + chance(0.05)),
      ),
    ],
    ['successes are rare', [batch(() => long(chance(0.05)), 200)]],
  ])('does not alarm if %s', (_, batches) => {
    const found = alarms(watch(batches, { windowSize: 256 }));
    expect(found.filter((one) => !one.endsWith('reward_spike'))).toEqual([]);
  });

  it('remembers across saved states', () => {
    const first = new RewardQualityAssessor({ explainedByLearning: 'lower', windowSize: 128 });
    const assess = (assessor: RewardQualityAssessor, made: readonly Made[]) =>
      assessor.assessBatch({
        responses: made.map(({ response }) => response),
        rewards: { accuracy: made.map(({ accuracy }) => accuracy) },
      });
    assess(
      first,
      batch(() => worked(chance(0.5))),
    );
    const second = new RewardQualityAssessor({ explainedByLearning: 'lower', windowSize: 128 });
    second.loadState(JSON.parse(JSON.stringify(first.saveState())));
    const solved = batch(() => worked(1));
    const { findings } = assess(second, solved);
    expect(findings.length).toBeGreaterThan(0);
    expect(findings).toEqual(assess(first, solved).findings);
    expect(findings.filter(({ severity }) => severity !== 'low')).toEqual([]);
  });
});
