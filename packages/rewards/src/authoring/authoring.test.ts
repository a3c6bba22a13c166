import { OptionsError, type RewardComputer, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import { describeRewardComputer, describeVerifier } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import { dryRun, formatDryRun, type Judgement, reward, verifier } from '../authoring.ts';
import { rewardFunctions } from '../functions/reward-functions.ts';

interface Answered {
  readonly answer: string;
}

const exact = reward<Answered>({
  name: 'exact',
  score: ({ response, metadata }) => response === metadata.answer,
});

function group<Metadata>(metadata: Metadata, responses: readonly string[]): TrajectoryGroup<Metadata> {
  const task = { id: 't', prompt: 'q', metadata };
  const trajectories = responses.map(
    (response, member): Trajectory<Metadata> => ({
      id: `g/${member}`,
      task,
      steps: ['first', response].map((text) => ({
        ...{ promptTokens: [1], tokens: [2], behaviorLogprobs: [-1], text, stopReason: 'stop' },
      })),
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'first' },
        { role: 'assistant', content: response },
      ],
      response,
      status: response === 'gone' ? 'failed' : 'completed',
      policyVersion: 0,
    }),
  );
  return { id: 'g', task, trajectories };
}

const odd: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('no');
  },
  'throws undefined': () => {
    throw undefined;
  },
  NaN: () => Number.NaN,
  'a NaN score': () => ({ score: Number.NaN }),
  text: () => 'good',
  undefined: () => undefined,
  hangs: () => new Promise(() => undefined),
};

describe('reward', () => {
  it('scores with numbers, right or wrong, null, or whole judgements', async () => {
    const judgements: Record<string, Judgement> = {
      a: 0.25,
      b: true,
      c: null,
      d: { score: 1, isScoreValid: false },
      e: { score: 0.5, metrics: { tone: { score: 0.1, isScoreValid: true } } },
    };
    const given = reward({ name: 'given', score: async ({ response }) => judgements[response]! });
    const scored = await given.computeRewards(group(undefined, ['a', 'b', 'c', 'd', 'e', 'gone']));
    expect(scored.map((one) => one.reward)).toEqual([0.25, 1, null, null, 0.5, null]);
    expect(scored[4]?.components).toEqual({ given: 0.5, tone: 0.1 });
    expect(given.getStatistics()).toMatchObject({ calls: 5, failures: { threw: 0 } });
  });

  it('puts step outputs on the steps they name', async () => {
    const steps = reward({
      name: 'steps',
      score: ({ messages }) => ({
        score: 1,
        stepOutputs: messages
          .filter(({ role }) => role === 'assistant')
          .map(({ content }, stepIndex) => ({ stepIndex, baseReward: content.length, metrics: {} }))
          .concat({ stepIndex: 9, baseReward: 1, metrics: {} }),
      }),
    });
    const [scored] = await steps.computeRewards(group(undefined, ['ab']));
    expect(scored?.trajectory.steps.map((step) => step.reward)).toEqual([5, 2]);
    expect(steps.getStatistics().misplacedSteps).toBe(1);
  });

  it('keeps the rewards of steps, weighted, as a part of several rewards', async () => {
    const lengths = reward({
      name: 'lengths',
      score: ({ trajectory }) => ({
        score: 1,
        stepOutputs: trajectory.steps.map(({ text }, stepIndex) => ({ stepIndex, baseReward: text.length })),
      }),
    });
    const last = reward({
      name: 'last',
      score: () => ({ score: 0, stepOutputs: [{ stepIndex: 1, baseReward: 1 }] }),
    });
    const parts = {
      lengths,
      same: lengths.reward,
      last: { reward: last.reward, weight: 10 },
      plain: () => 1,
    };
    const watched = { ...parts, unpaid: { reward: lengths.reward, weight: 0 } };
    for (const rewards of [rewardFunctions(parts), rewardFunctions(watched)]) {
      const [scored] = await rewards.computeRewards(group(undefined, ['ab']));
      expect(scored?.reward).toBe(3);
      expect(scored?.trajectory.steps.map((step) => step.reward)).toEqual([10, 14]);
    }
  });

  it('names itself once if it fails as a part', async () => {
    const broken = reward({ name: 'broken', score: () => Promise.reject(new Error('no net')) });
    const [scored] = await rewardFunctions({ broken }).computeRewards(group(undefined, ['ab']));
    expect(scored?.failures?.[0]?.message).toBe('reward "broken": no net');
  });

  it('is refused as a part if it judges whole groups', () => {
    const together = reward({ name: 'together', scoreBatch: (inputs) => inputs.map(() => 1) });
    expect(() => rewardFunctions({ together } as never)).toThrow(
      /together\.reward: must be a function of a trajectory. What judges whole groups/,
    );
  });

  it.each(Object.keys(odd))('gives null to an episode on which it %s, and to no other', async (name) => {
    const pointwise = reward({
      name: 'odd',
      timeoutMs: 20,
      score: ({ response }) => (response === 'bad' ? (odd[name]!() as Judgement) : 1),
    });
    const scored = await pointwise.computeRewards(group(undefined, ['a', 'bad', 'b']));
    expect(scored.map((one) => one.reward)).toEqual([1, null, 1]);
    const { calls, failures, lastFailure } = pointwise.getStatistics();
    expect([calls, failures.threw + failures['timed-out'] + failures['not-finite']]).toEqual([3, 1]);
    expect(lastFailure).toMatch(/^reward "odd": /);
    const parts = rewardFunctions({ odd: { reward: pointwise.reward } }, { timeoutMs: 1000 });
    const again = await parts.computeRewards(group(undefined, ['a', 'bad']));
    expect(again.map((one) => one.reward)).toEqual([1, null]);
  });

  it('judges a group together', async () => {
    const relative = reward<Answered>({
      name: 'relative',
      scoreBatch: (inputs) => {
        const longest = Math.max(...inputs.map(({ response }) => response.length));
        return inputs.map(({ response }) => (response === 'x' ? Number.NaN : response.length / longest));
      },
    });
    const scored = await relative.computeRewards(group({ answer: '' }, ['ab', 'x', 'gone', 'abcd']));
    expect(scored.map((one) => one.reward)).toEqual([0.5, null, null, 1]);
    expect(relative.getStatistics()).toMatchObject({ calls: 1, failures: { 'not-finite': 1 } });
    const few = reward({ name: 'few', scoreBatch: () => [1] });
    expect((await few.computeRewards(group(undefined, ['a', 'b']))).map((one) => one.reward)).toEqual([
      null,
      null,
    ]);
    expect(few.getStatistics().lastFailure).toContain('expected 2 judgements, got 1');
  });

  it('counts time, and scores outside its range', async () => {
    let now = 0;
    const wide = reward({
      name: 'wide',
      clock: () => now,
      score: () => {
        now += 5;
        return 2;
      },
    });
    expect((await wide.computeRewards(group(undefined, ['a', 'b'])))[0]?.reward).toBe(2);
    expect(wide.getStatistics()).toMatchObject({ outOfRange: 2, milliseconds: expect.any(Number) });
    expect(wide.getStatistics().milliseconds).toBeGreaterThanOrEqual(10);
  });

  it('ends with the signal', async () => {
    const slow = reward({ name: 'slow', score: () => new Promise<number>(() => undefined) });
    const signal = AbortSignal.timeout(20);
    await expect(slow.computeRewards(group(undefined, ['a']), { signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const batch = reward({ name: 'slow', scoreBatch: () => new Promise<number[]>(() => undefined) });
    await expect(
      batch.computeRewards(group(undefined, ['a']), { signal: AbortSignal.timeout(20) }),
    ).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('names every problem of its definition', () => {
    const bad = () => reward({ name: '', range: [1, 0], timeoutMs: -1, score: 7 } as never);
    expect(bad).toThrow(OptionsError);
    expect(bad).toThrow(/name[\s\S]*timeoutMs[\s\S]*score: must be a function/);
    expect(() => reward({ name: 'a' } as never)).toThrow('expected either score or scoreBatch');
    expect(reward({ name: 'a', score: () => 1, scoreBatch: undefined } as never)).toHaveProperty('reward');
  });

  it('does not compile on tasks without what it reads', async () => {
    await exact.computeRewards(group({ answer: 'a' }, ['a']));
    // @ts-expect-error it reads `metadata.answer`, which these tasks lack
    await exact.computeRewards(group({ question: 'q' }, ['a']));
    // @ts-expect-error a reward that reads `metadata.answer` does not serve tasks without it
    const general: RewardComputer<{ question: string }> = exact;
    // @ts-expect-error the metadata is unknown unless the reward says what it needs
    const unknown = () => reward({ name: 'x', score: ({ metadata }) => metadata.answer === '' });
    // @ts-expect-error text is no judgement
    const text = () => reward({ name: 'x', score: () => 'good' });
    // @ts-expect-error examples must have what the rewards read
    const examples = () => dryRun({ exact }, [{ prompt: '', response: '', metadata: { question: '' } }]);
    expect([general, unknown, text, examples]).toHaveLength(4);
  });

  describeRewardComputer('reward', {
    create: () => reward({ name: 'length', score: ({ response }) => response.length / 100 }),
    group: group(undefined, ['a', 'bb', 'ccc']),
  });
  describeRewardComputer('reward of batches', {
    create: () => reward({ name: 'length', scoreBatch: (all) => all.map(({ response }) => response.length) }),
    group: group(undefined, ['a', 'bb', 'ccc']),
  });
});

describe('verifier', () => {
  const polite = verifier({ name: 'polite', verify: ({ response }) => /please/.test(response) });

  it('knows what is known about the task', async () => {
    const right = verifier({
      name: 'right',
      verify: ({ response, metadata }) => response === metadata?.answer,
    });
    const request = { prompt: '2+2=', response: '4' };
    const reports = await right.verifyBatch([{ ...request, metadata: { answer: '4' } }, request]);
    expect(reports.map(({ result }) => result)).toEqual(['pass', 'fail']);
  });

  it('reports scores, right or wrong, or whole reports, and fails what breaks it', async () => {
    const odd = verifier({
      name: 'odd',
      verify: async ({ response }) => {
        if (response === 'throw') throw new Error('no');
        if (response === 'report') return { result: 'warning', score: 0.6, details: { a: 1 }, message: 'hm' };
        return Number(response);
      },
    });
    const requests = ['1', '0.6', '0', '7', 'throw', 'report'].map((response) => ({ prompt: 'p', response }));
    const reports = await odd.verifyBatch(requests);
    expect(reports.map(({ result }) => result)).toEqual([
      'pass',
      'warning',
      'fail',
      'fail',
      'fail',
      'warning',
    ]);
    expect(odd.getStatistics()).toMatchObject({ verified: 6, broken: 2 });
    expect(reports[3]?.message).toBe('odd: expected a score in 0..1, true, false or a report, got 7');
    expect(reports[5]?.details).toEqual({ a: 1 });
    expect((await polite.verifyBatch([{ prompt: '', response: 'please' }]))[0]?.score).toBe(1);
  });

  it.each([undefined, null, '0.9', Number.NaN, { score: 1 }])(
    'fails a response that it judges %j',
    async (judgement) => {
      const wrong = verifier({ name: 'wrong', verify: () => judgement as never });
      const [report] = await wrong.verifyBatch([{ prompt: '', response: 'a' }]);
      expect(report).toMatchObject({ result: 'fail', score: 0 });
      expect(report!.message).toMatch(/^wrong: (expected a score in 0\.\.1|gave no valid report)/);
      expect(wrong.getStatistics().broken).toBe(1);
    },
  );

  it('names every bad option at once', () => {
    const options = { name: '', verify: () => 1, timeoutMs: 1e12, concurrency: 0 };
    expect(() => verifier(options)).toThrow(/^verifier: [\s\S]*timeoutMs[\s\S]*concurrency[\s\S]*name/);
  });

  describeVerifier('verifier', {
    create: () => polite,
    requests: ['please', 'now'].map((response) => ({ prompt: 'p', response })),
  });
});

describe('dryRun', () => {
  const example = (response: string) => ({ prompt: 'q', response, metadata: { answer: 'a' } });

  it('finds what is suspicious', async () => {
    let calls = 0;
    const report = await dryRun<Answered>(
      {
        exact,
        constant: () => 0.5,
        broken: ({ response }) => (response === 'a' ? 1 : Number.NaN),
        random: () => calls++ % 7,
        length: ({ response }) => response.length,
        greedy: reward({ name: 'greedy', score: ({ response }) => response.length }),
        writes: ({ task }) => {
          (task.metadata as { answer: string }).answer += '!';
          return task.metadata.answer.length % 2;
        },
        group: reward({ name: 'group', scoreBatch: (inputs) => inputs.map((_, k) => k / 10) }),
      },
      ['a', 'bbb', 'cc', 'dddd', 'eeeeee', 'fffff', 'ggggggg', 'h', 'ii'].map(example),
    );
    const findings = Object.fromEntries(
      report.rewards.map(({ name, findings }) => [name, findings.map(({ kind }) => kind)]),
    );
    expect(findings).toEqual({
      exact: [],
      constant: ['constant'],
      broken: ['unscorable'],
      random: ['not-deterministic'],
      length: ['follows-length'],
      greedy: ['out-of-range', 'follows-length'],
      writes: expect.arrayContaining(['changes-input']),
      group: [],
    });
    expect(report.rewards[0]?.scores).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(report.rewards[7]?.scores[3]).toBe(0.3);
    expect(report.rewards[2]?.failures[0]).toEqual({
      example: 1,
      message: 'reward "broken": expected a finite number or null, got NaN',
    });
  });

  it('survives rewards that throw and hang, and calls slow ones slow', async () => {
    let now = 0;
    const report = await dryRun<Answered>(
      {
        throws: () => {
          throw new Error('no');
        },
        hangs: () => new Promise(() => undefined),
        slow: () => {
          now += 5000;
          return 1;
        },
      },
      [example('a'), example('b')],
      { timeoutMs: 10, clock: () => now },
    );
    expect(report.rewards.map(({ failures }) => failures.length)).toEqual([2, 2, 0]);
    expect(report.rewards[2]?.findings.map(({ kind }) => kind)).toEqual(['constant', 'slow']);
    expect(formatDryRun(report, { scores: 'shown' })).toContain(
      'slow: 1 … 1 … 1, 5000 ms per example\n  ! constant: every example has the score 1\n  ! slow: a call takes 5000 ms',
    );
    expect(formatDryRun(await dryRun({ exact }, []))).toContain('no scores');
  });
});
