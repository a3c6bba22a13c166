import { OptionsError, type RewardFunction, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import { describeRewardComputer } from '@rlp/core/testing';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { exactAnswer, type FunctionRewardComputer, rewardFunctions, tagFormat } from '../index.ts';
import { answerF1, checkAnswer, codeTests, gsm8kAnswer, mathAnswer, toolCalls } from '../stock.ts';
import { groupAnswering } from '../trajectories.fixture.ts';

interface Answered {
  readonly answer: string;
}

function groupOf<Metadata>(
  metadata: Metadata,
  responses: readonly string[],
  change: Partial<Trajectory<Metadata>> = {},
): TrajectoryGroup<Metadata> {
  return groupAnswering(responses, metadata, { task: { id: 'a', prompt: '7+8=', metadata }, ...change });
}

const good = '<reasoning>7+8</reasoning><answer>15</answer>';
const parts = {
  accuracy: { reward: exactAnswer({ reference: ({ answer }: Answered) => answer }) },
  format: { reward: tagFormat({ tags: ['reasoning', 'answer'] }), weight: 0.2 },
};

describeRewardComputer('rewardFunctions', {
  create: () => rewardFunctions(parts),
  group: groupOf({ answer: '15' }, [good, '<answer>15</answer>', 'so 15']),
});

describe('rewardFunctions', () => {
  it('sums weighted parts and shows them unweighted', async () => {
    const scored = await rewardFunctions(parts).computeRewards(
      groupOf({ answer: '15' }, [good, '<answer>15</answer>', '15']),
    );
    expect(scored.map(({ reward, components }) => ({ reward, components }))).toEqual([
      { reward: 1.2, components: { accuracy: 1, format: 1 } },
      { reward: 1, components: { accuracy: 1, format: 0 } },
      { reward: 0, components: { accuracy: 0, format: 0 } },
    ]);
  });

  it('knows its parts by name, and the metadata of the group', async () => {
    const named = rewardFunctions({ short: () => 1, kind: { reward: () => 0.5, weight: 2 } });
    const [scored] = await named.computeRewards(groupOf({ rating: 4 }, ['a']));
    expectTypeOf(scored!.components).toEqualTypeOf<Readonly<Record<'short' | 'kind', number | null>>>();
    expectTypeOf(scored!.trajectory.task.metadata).toEqualTypeOf<{ rating: number }>();
    // @ts-expect-error: no part has this name
    expect(scored!.components.shrot).toBeUndefined();
    expect([scored!.components.kind, scored!.trajectory.task.metadata.rating]).toEqual([0.5, 4]);
    const statistics = named.getStatistics();
    expectTypeOf<keyof typeof statistics>().toEqualTypeOf<'short' | 'kind'>();
    // @ts-expect-error: no part has this name
    expect(statistics.knid).toBeUndefined();
    expect(statistics.kind.calls).toBe(1);
    // If the metadata is named, components may have any name.
    const more = { also: () => 1 } as { also?: () => number };
    expectTypeOf(rewardFunctions({ short: () => 1, ...more }).getStatistics()).toHaveProperty('also');
    expectTypeOf(rewardFunctions<{ rating: number }>({ short: () => 1 })).toExtend<
      FunctionRewardComputer<{ rating: number }>
    >();
  });

  it('is the weighted sum for any parts and weights', async () => {
    const part = fc.record({
      value: fc.integer({ min: -9, max: 9 }),
      weight: fc.integer({ min: -3, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (drawn) => {
        const named = Object.fromEntries(
          drawn.map(({ value, weight }, k) => [`r${k}`, { reward: async () => value, weight }]),
        );
        const [scored] = await rewardFunctions(named).computeRewards(groupOf(undefined, ['x']));
        expect(scored!.reward).toBeCloseTo(
          drawn.reduce((sum, { value, weight }) => sum + value * weight, 0),
          12,
        );
      }),
      { numRuns: 50 },
    );
  });

  const broken: [string, RewardFunction, string][] = [
    ['throws', () => Promise.reject(new Error('no net')), 'threw'],
    [
      'throws at once',
      () => {
        throw new Error('no net');
      },
      'threw',
    ],
    ['hangs', () => new Promise<never>(() => {}), 'timed-out'],
    ['gives NaN', () => Number.NaN, 'not-finite'],
    ['gives infinity', async () => Number.POSITIVE_INFINITY, 'not-finite'],
    ['gives nothing', () => undefined as never, 'not-finite'],
  ];

  it.each(broken)('gives null and counts the cause when a function %s', async (_, reward, cause) => {
    const computer = rewardFunctions({ broken: { reward }, steady: { reward: () => 1 } }, { timeoutMs: 20 });
    const scored = await computer.computeRewards(groupOf(undefined, ['x', 'y']));
    expect(scored.map(({ reward, components }) => ({ reward, components }))).toEqual([
      { reward: null, components: { broken: null, steady: 1 } },
      { reward: null, components: { broken: null, steady: 1 } },
    ]);
    const { broken, steady } = computer.getStatistics();
    expect(broken!.failures).toEqual({ threw: 0, 'timed-out': 0, 'not-finite': 0, [cause]: 2 });
    expect(broken!.lastFailure).toMatch(
      /^reward "broken": (no net|took longer than 20 ms|expected a finite)/,
    );
    expect(steady).toMatchObject({ calls: 2, lastFailure: undefined });
  });

  it('does not let a part that only observes spoil the reward', async () => {
    const computer = rewardFunctions({
      steady: { reward: () => 1 },
      watched: { reward: () => Number.NaN, weight: 0 },
    });
    const [scored] = await computer.computeRewards(groupOf(undefined, ['x']));
    expect([scored!.reward, scored!.components.watched]).toEqual([1, null]);
  });

  it.each([
    ['1', '"1"'],
    [true, 'true'],
    [{}, 'an object'],
    [{ right: 1 }, 'an object with right'],
    [
      { score: 1 },
      'an object with score; reward({ name, score }) of @rlp/rewards/authoring reads judgements',
    ],
  ])('says what came instead of a number: %j', async (value, said) => {
    const [scored] = await rewardFunctions({ odd: () => value as never }).computeRewards(
      groupOf(undefined, ['x']),
    );
    expect(scored?.failures?.[0]?.message).toBe(
      `reward "odd": expected a finite number or null, got ${said}`,
    );
  });

  it('respects a function that says it cannot tell, without counting a failure', async () => {
    const computer = rewardFunctions({ unsure: { reward: () => null } });
    const [scored] = await computer.computeRewards(groupOf(undefined, ['x']));
    expect(scored!.reward).toBeNull();
    expect(computer.getStatistics().unsure!.failures.threw).toBe(0);
  });

  it.each(['failed', 'aborted', 'pending'] as const)('does not judge what %s', async (status) => {
    const computer = rewardFunctions(parts);
    const [scored] = await computer.computeRewards(groupOf({ answer: '15' }, [good], { status }));
    expect([scored!.reward, scored!.components]).toEqual([null, { accuracy: null, format: null }]);
    expect(computer.getStatistics().accuracy!.calls).toBe(0);
  });

  it('tells a function whose time is up', async () => {
    let told: unknown;
    const reward: RewardFunction = (_, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          told = signal.reason;
        });
      });
    await rewardFunctions({ slow: { reward } }, { timeoutMs: 10 }).computeRewards(groupOf(undefined, ['x']));
    expect(String(told)).toContain('took longer than 10 ms');
  });

  it('stops waiting once aborted', async () => {
    const controller = new AbortController();
    const computer = rewardFunctions({ never: { reward: () => new Promise<never>(() => {}) } });
    const scoring = computer.computeRewards(groupOf(undefined, ['x']), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(scoring).rejects.toThrow('enough');
  });

  it('measures each function by the clock it is given', async () => {
    let now = 0;
    const slow: RewardFunction = () => {
      now += 5;
      return 1;
    };
    const computer = rewardFunctions({ slow: { reward: slow } }, { clock: () => now });
    await computer.computeRewards(groupOf(undefined, ['x', 'y']));
    expect(computer.getStatistics().slow!.milliseconds).toBeGreaterThanOrEqual(10);
  });

  it('counts the time of calls that overlap once', async () => {
    let now = 0;
    const ends: (() => void)[] = [];
    const waits: RewardFunction = () => new Promise((resolve) => ends.push(() => resolve(1)));
    const computer = rewardFunctions({ waits }, { clock: () => now });
    const scoring = computer.computeRewards(groupOf(undefined, ['x', 'y', 'z']));
    now = 60;
    ends[0]!();
    await new Promise((resolve) => setTimeout(resolve));
    expect(computer.getStatistics().waits).toMatchObject({ calls: 1, milliseconds: 60 });
    now = 100;
    for (const end of ends) end();
    await scoring;
    expect(computer.getStatistics().waits).toMatchObject({ calls: 3, milliseconds: 100 });
  });

  it('takes bare functions, with weight 1, and can be called itself', async () => {
    const computer = rewardFunctions<Answered>({
      accuracy: parts.accuracy.reward,
      length: { reward: ({ response }) => response.length, weight: 0 },
      level: ({ task }) => task.metadata.answer.length,
    });
    const group = groupOf({ answer: '15' }, [good, '15']);
    const scored = await computer(group);
    expect(scored.map(({ reward }) => reward)).toEqual([3, 2]);
    expect(await computer.computeRewards(group)).toEqual(scored);
    expect([computer.scaleWeight?.('level', 0), computer.getStatistics().level?.calls]).toEqual([
      'scaled',
      4,
    ]);
  });

  it('takes ready-made rewards as parts, such as judges', async () => {
    const judge = { reward: () => 3, getStatistics: () => ({}) };
    const computer = rewardFunctions({ judge, half: { ...judge, weight: 0.5 } });
    const [scored] = await computer.computeRewards(groupOf(undefined, ['x']));
    expect([scored?.reward, scored?.components]).toEqual([4.5, { judge: 3, half: 3 }]);
  });

  it('asks for a group', async () => {
    const rewards = rewardFunctions({ a: () => 1 });
    await expect(rewards.computeRewards([] as never)).rejects.toThrow(
      'computeRewards: expected a group { id, task, trajectories }',
    );
  });

  it.each([
    ['exactAnswer', () => exactAnswer({} as never), 'reference', 'such as ({ answer }) => answer'],
    ['mathAnswer', () => mathAnswer({} as never), 'reference', 'such as ({ answer }) => answer'],
    ['gsm8kAnswer', () => gsm8kAnswer({} as never), 'reference', 'such as ({ answer }) => answer'],
    ['toolCalls', () => toolCalls({} as never), 'expected', 'such as ({ expected }) => expected'],
    ['answerF1', () => answerF1(undefined as never), 'reference', 'such as ({ answer }) => answer'],
    ['checkAnswer', () => checkAnswer(null as never), 'reference', 'such as ({ answer }) => answer'],
    ['codeTests', () => codeTests(undefined as never), 'tests', 'such as ({ tests }) => tests'],
  ])('%s says before a run what it needs', (owner, make, name, example) => {
    expect(make).toThrow(OptionsError);
    expect(make).toThrow(
      `${owner}: invalid options\n  - ${name}: must be a function of the metadata, ${example}`,
    );
  });

  it('names every bad part at once', () => {
    const bad = () => rewardFunctions({ a: { reward: 1 }, b: { reward: () => 1, wieght: 2 } } as never);
    expect(bad).toThrow(OptionsError);
    expect(bad).toThrow(/a\.reward: must be a function[\s\S]*Unrecognized option "wieght"/);
    const five = { a: 5 } as never;
    expect(() => rewardFunctions(five)).toThrow(
      'a: must be a function of a trajectory, or { reward, weight }',
    );
    expect(() => rewardFunctions({})).toThrow('expected at least one reward function');
  });

  it('does not compile on tasks without what it reads', async () => {
    const computer = rewardFunctions(parts);
    // @ts-expect-error the parts read `metadata.answer`, which these tasks lack
    await computer.computeRewards(groupOf({ question: '7+8' }, ['x']));
    // @ts-expect-error a computer that reads `metadata.answer` does not serve tasks without it
    const general: import('@rlp/core').RewardComputer<{ question: string }> = computer;
    expect(general).toBe(computer);
  });
});
