import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RewardQualityAssessor } from './assessor.ts';
import { fixed, pythonNumber } from './number-format.ts';
import type { AssessorOptions } from './options.ts';
import { formatFinding, pathologies, pathologyNotes } from './pathology.ts';

const good = (at: number) =>
  `<reasoning>number ${at} is what ${at - 1} and one make, as counting ${at % 7} fingers shows</reasoning>` +
  `<answer>${at}${at % 10}</answer>`;
const batchOf = (count: number, response: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => response(at));
const constant = (count: number, value: number) => new Array<number>(count).fill(value);
const varied = (count: number) => Array.from({ length: count }, (_, at) => Math.sin(at));

/** Alerts of one batch after 100 good responses. */
function alertsOf(
  responses: readonly string[],
  rewards: readonly number[] = varied(responses.length),
  options: AssessorOptions = {},
): string[] {
  const assessor = new RewardQualityAssessor({ windowSize: 100, ...options });
  assessor.assessBatch({ responses: batchOf(100, good), rewards: { accuracy: varied(100) } });
  return assessor.assessBatch({ responses, rewards: { accuracy: rewards } }).findings.map(formatFinding);
}

/** UTF-16 units in any order. */
const anyText = fc.uint16Array({ maxLength: 20 }).map((units) => String.fromCharCode(...units));

describe('RewardQualityAssessor', () => {
  it('refuses tags that are not plain words', () => {
    expect(() => new RewardQualityAssessor({ tags: { reasoning: '<think>' } })).toThrow(
      'tags.reasoning: must be letters, digits, "_" and "-", without brackets',
    );
  });

  it('is silent about good responses', () => {
    expect(alertsOf(batchOf(100, (at) => good(at + 500)))).toEqual([]);
  });

  it('detects format gaming', () => {
    const shells = [
      '<reasoning>just a guess</reasoning><answer>42</answer>',
      '<reasoning>the answer is the number asked for</reasoning><answer>none</answer>',
    ];
    const loop = `<reasoning>${'so it is '.repeat(12)}</reasoning><answer>42</answer>`;
    const responses = [...shells, loop, good(1), good(2)];
    expect(alertsOf(responses)).toEqual([
      '[CRITICAL] format_gaming: Suspected format gaming: 60.0% of formatted responses have low-quality content',
    ]);
  });

  it('takes one letter or digit for an answer unless told otherwise', () => {
    const choice = (at: number) => good(at).replace(/<answer>.*/, '<answer>B</answer>');
    expect(alertsOf(batchOf(10, choice))).toEqual([]);
    expect(alertsOf(batchOf(10, choice), undefined, { singleCharacterAnswers: 'reject' })).toHaveLength(1);
  });

  it('detects repetition', () => {
    const responses = batchOf(
      4,
      (at) => `<reasoning>${`again and again ${at} `.repeat(20)}</reasoning><answer>12</answer>`,
    );
    expect(alertsOf(responses, undefined, { alertThresholds: { formatGaming: 1 } })).toEqual([
      expect.stringMatching(
        /^\[HIGH\] excessive_repetition: .* avg=\d\d\.\d%, 4\/4 responses highly repetitive$/,
      ),
    ]);
  });

  it('detects empty and malformed responses', () => {
    const responses = ['', 'no tags', '<reasoning>x</reasoning>', good(1), good(2), good(3), good(4)];
    expect(alertsOf(responses)).toEqual([
      '[HIGH] degenerate_outputs: High rate of degenerate outputs: 42.9% responses are empty or malformed',
    ]);
  });

  it('says what to do where no response has tags, and takes plain text for what it is', () => {
    const plain = batchOf(10, (at) => `Flight ${at} leaves at ${at % 12}.`);
    expect(alertsOf(plain)).toEqual([
      expect.stringMatching(/None has <reasoning> and <answer>. .*option tags .* "none"/),
    ]);
    expect(alertsOf(plain, varied(10), { tags: 'none' })).toEqual([]);
    const blank = batchOf(10, (at) => (at < 3 ? ' …\n' : '4'));
    expect(alertsOf(blank, varied(10), { tags: 'none' })).toEqual([
      expect.stringContaining('30.0% responses are empty'),
    ]);
  });

  it('detects that responses are nearly the same, which equality does not', () => {
    const text = (at: number) =>
      `<reasoning>${batchOf(60, (word) => `word${word}`).join(' ')} number ${at}</reasoning><answer>42</answer>`;
    const expected =
      'diversity_collapse: Response diversity collapsed: only 1.0% unique responses in recent 100 samples';
    expect(alertsOf(batchOf(100, text))).toEqual([`[CRITICAL] ${expected}`]);
    expect(alertsOf(batchOf(100, text), undefined, { nearDuplicates: 'off' })).toEqual([]);
  });

  it("tells words apart by case only with the conventions 'tunrex'", () => {
    const responses = ['The cat sat the cat sat The cat sat'];
    const rateOf = (conventions: 'rlp' | 'tunrex') =>
      new RewardQualityAssessor({ conventions }).assessBatch({ responses, rewards: {} }).metrics
        .repetitionRate;
    expect([rateOf('rlp'), rateOf('tunrex')]).toEqual([expect.closeTo(4 / 7, 12), expect.closeTo(1 / 7, 12)]);
  });

  it("counts tags as correct if they are a pair; with the conventions 'tunrex', if both occur", () => {
    const responses = [
      '<reasoning>a</reasoning>',
      '</reasoning>a<reasoning>',
      '<reasoning>a',
      'a</reasoning>',
    ];
    const rateOf = (conventions: 'rlp' | 'tunrex') =>
      new RewardQualityAssessor({ conventions }).assessBatch({ responses, rewards: {} }).metrics
        .tagCorrectnessRate;
    expect([rateOf('rlp'), rateOf('tunrex')]).toEqual([0.25, 0.5]);
  });

  it('explains each pathology: what, why, an example and what helps', () => {
    for (const { what, why, example, mitigation } of pathologies.map((rule) => pathologyNotes[rule])) {
      for (const text of [what, why, example, ...mitigation]) expect(text).toMatch(/\S{2}/);
      expect(mitigation.length).toBeGreaterThanOrEqual(3);
    }
    const { findings } = new RewardQualityAssessor({ minSamplesForAnalysis: 1 }).assessBatch({
      responses: ['', '', ''],
      rewards: {},
    });
    for (const { rule, note } of findings) expect(note).toEqual(pathologyNotes[rule as 'format_gaming']);
    expect(findings.length).toBeGreaterThan(0);
  });

  it('detects saturation at either bound', () => {
    const rewards = [...constant(96, 3), ...varied(4)];
    expect(alertsOf(batchOf(100, good), rewards)).toEqual([
      "[HIGH] reward_saturation_high: Reward 'accuracy' saturating at maximum: 96.0% of samples at max value 3.0",
    ]);
    const low = rewards.map((value) => -value);
    expect(alertsOf(batchOf(100, good), low)[0]).toContain(
      'saturating at minimum: 96.0% of samples at min value -3.0',
    );
  });

  it('detects that a reward no longer varies, also at zero', () => {
    expect(alertsOf(batchOf(100, good), constant(100, 1.5))).toEqual([
      "[CRITICAL] variance_collapse: Reward 'accuracy' variance collapsed: CV=0.0000, std=0.0000, mean=1.5000",
    ]);
    expect(alertsOf(batchOf(100, good), constant(100, 0))).toHaveLength(1);
    expect(alertsOf(batchOf(100, good), constant(100, 0), { conventions: 'tunrex' })).toEqual([]);
  });

  it('detects a spike by what came before it, however large it is', () => {
    const rewards = varied(10).with(3, 100);
    const [alert] = alertsOf(batchOf(10, good), rewards);
    expect(alert).toMatch(
      /^\[MEDIUM\] reward_spike: Unusual reward spike in 'accuracy': value=100.000, z-score=\d+/,
    );
    // Ten times the same spike hides behind its own mean and deviation where they include it.
    const many = [...varied(90), ...constant(10, 100)];
    const together = alertsOf(batchOf(100, good), many.with(95, 200)).filter((line) =>
      line.includes('spike'),
    );
    expect(together).toEqual([expect.stringMatching(/value=200\.000, z-score=[\d.]+, and 9 more$/)]);
    const hidden = alertsOf(batchOf(100, good), many, { conventions: 'tunrex' });
    expect(hidden.filter((line) => line.includes('spike'))).toEqual([]);
  });

  it('does not call rare successes spikes', () => {
    const assessor = new RewardQualityAssessor();
    const rewards = constant(200, 0).with(7, 1);
    assessor.assessBatch({ responses: batchOf(200, good), rewards: { accuracy: rewards } });
    const { findings } = assessor.assessBatch({
      responses: batchOf(10, good),
      rewards: { accuracy: constant(10, 0).with(2, 1) },
    });
    expect(findings.filter(({ rule }) => rule === 'reward_spike')).toEqual([]);
  });

  it('says nothing before it has seen enough', () => {
    const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 20 });
    const empty = batchOf(10, () => '');
    expect(assessor.assessBatch({ responses: empty, rewards: {} }).findings).toEqual([]);
    expect(assessor.assessBatch({ responses: empty, rewards: {} }).findings).not.toEqual([]);
  });

  it('judges a reward when it has enough values, and only in batches that have some', () => {
    const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 10 });
    const typesOf = (rewards: Readonly<Record<string, readonly number[]>>, count: number) =>
      assessor
        .assessBatch({ responses: batchOf(count, (at) => good(assessor.samples + at)), rewards })
        .findings.map(({ rule, component }) => `${component} ${rule}`);
    expect(typesOf({ first: varied(20) }, 20)).toEqual([]);
    expect(typesOf({ first: varied(5), late: constant(5, 1) }, 5)).toEqual([]);
    expect(typesOf({ late: constant(5, 1) }, 5)).toEqual(['late variance_collapse']);
    expect(typesOf({ first: varied(5) }, 5)).toEqual([]);
    expect(typesOf({ late: constant(5, 1), first: constant(400, 1).slice(0, 5) }, 5)).toEqual([
      'late variance_collapse',
    ]);
  });

  it('counts characters, whatever white space is around them', () => {
    const shell = (reasoning: string, answer: string) =>
      `<reasoning>${reasoning}</reasoning><answer>\x1c${answer}\x85\u3000</answer>`;
    const { metrics } = new RewardQualityAssessor().assessBatch({
      responses: [
        shell('\u{1f600}'.repeat(4), 'ab'),
        shell('\u{1f600}'.repeat(8), ''),
        '</reasoning><reasoning>',
      ],
      rewards: {},
    });
    expect(metrics).toMatchObject({
      avgReasoningLength: 4,
      avgAnswerLength: 2 / 3,
      emptyContentRate: 1,
      tagCorrectnessRate: 2 / 3,
    });
  });

  it('counts rewards that are no numbers and goes on', () => {
    const assessor = new RewardQualityAssessor();
    const rewards = { accuracy: [1, Number.NaN, null, Number.POSITIVE_INFINITY] };
    const { metrics } = assessor.assessBatch({ responses: batchOf(4, good), rewards });
    expect(metrics.rewards.accuracy).toMatchObject({ mean: 1, samples: 1 });
    expect(assessor.getSummaryStatistics().invalidRewards).toEqual({ accuracy: 3 });
  });

  it('forgets its windows when told to, and keeps its counts', () => {
    const assessor = new RewardQualityAssessor({ windowSize: 100 });
    assessor.assessBatch({ responses: batchOf(100, () => ''), rewards: { accuracy: constant(100, 1) } });
    assessor.clearHistory();
    const { totalSamples, totalAlerts, rewardStatistics } = assessor.getSummaryStatistics();
    expect([totalSamples, totalAlerts, rewardStatistics]).toEqual([100, 3, {}]);
  });

  it('refuses rewards of another number than responses, and remembers nothing of them', () => {
    const assessor = new RewardQualityAssessor();
    const batch = { responses: ['a', 'b'], rewards: { format: [1], accuracy: [1, 2] } };
    expect(() => assessor.assessBatch(batch)).toThrow(
      'expected one reward per response (2), but "format" has 1',
    );
    expect(assessor.getSummaryStatistics().totalSamples).toBe(0);
  });

  it('keeps shares and scores within their bounds for any text', () => {
    const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 1 });
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 8 }), (responses) => {
        const { rewards, avgAnswerLength, avgReasoningLength, ...shares } = assessor.assessBatch({
          responses,
          rewards: {},
        }).metrics;
        for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0);
        for (const share of Object.values(shares)) expect(share).toBeLessThanOrEqual(1);
      }),
      { numRuns: 40 },
    );
  });
});

describe('fixed', () => {
  it.each([
    [91.25, 1, '91.2'],
    [91.75, 1, '91.8'],
    [1.15, 1, '1.1'],
    [-0.125, 2, '-0.12'],
    [2.5, 0, '2'],
    [3.3166247903554, 2, '3.32'],
  ])('writes %d with %d decimals as Python does: %s', (value, decimals, text) => {
    expect(fixed(value, decimals)).toBe(text);
  });
});

describe('pythonNumber', () => {
  it.each([
    [3, '3.0'],
    [-0.5, '-0.5'],
    [1e-4, '0.0001'],
    [0.00005, '5e-05'],
    [-1.8497427596119187e-9, '-1.8497427596119187e-09'],
    [1.9494916015941474e-8, '1.9494916015941474e-08'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [1.5e300, '1.5e+300'],
    [0, '0.0'],
  ])('writes %d as Python does', (value, text) => {
    expect(pythonNumber(value)).toBe(text);
  });
});
