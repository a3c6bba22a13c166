import {
  ArgumentError,
  OptionsError,
  type RewardComputer,
  type RewardFunction,
  type Step,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import { describeRewardComputer } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import {
  absoluteRewardComputer,
  normalizedRewardFunctions,
  ParetoRewardComputer,
  relativeRewardComputer,
  SVRLRewardComputer,
  svrlScore,
} from '../computers.ts';
import { rewardFunctions } from '../functions/reward-functions.ts';

const step = (text: string): Step => ({
  promptTokens: [],
  tokens: [],
  behaviorLogprobs: [],
  text,
  stopReason: 'stop',
});

/** A group whose responses are JSON records of what each trajectory is worth. */
function groupOf(
  worths: readonly Readonly<Record<string, number | null>>[],
  change: (member: number) => Partial<Trajectory> = () => ({}),
): TrajectoryGroup {
  const task = { id: 'a', prompt: 'p', metadata: undefined };
  const trajectories = worths.map(
    (worth, member): Trajectory => ({
      id: `0/a/${member}`,
      task,
      steps: [step('one')],
      messages: [],
      response: JSON.stringify(worth),
      status: 'completed',
      policyVersion: 0,
      ...change(member),
    }),
  );
  return { id: '0/a', task, trajectories };
}

const worth =
  (name: string): RewardFunction =>
  ({ response }) =>
    (JSON.parse(response) as Record<string, number | null>)[name] ?? null;

const group = groupOf([
  { a: 3, b: 0 },
  { a: 1, b: 2 },
  { a: 1, b: 1 },
  { a: 2, b: null },
]);
const objectives = { a: worth('a'), b: worth('b') };
const onlyA = () => rewardFunctions<unknown>({ a: { reward: worth('a') } });

const computers = {
  absoluteRewardComputer: () => absoluteRewardComputer(onlyA()),
  relativeRewardComputer: () => relativeRewardComputer(onlyA()),
  normalizedRewardFunctions: () =>
    normalizedRewardFunctions<unknown>({ a: { reward: worth('a') }, b: { reward: worth('b') } }),
  ParetoRewardComputer: () => new ParetoRewardComputer({ objectives }),
  'ParetoRewardComputer, relative': () => new ParetoRewardComputer({ objectives, method: 'relative' }),
  SVRLRewardComputer: () => new SVRLRewardComputer({ taskEvaluator: worth('a') }),
};
for (const [name, create] of Object.entries(computers)) describeRewardComputer(name, { create, group });

const rewardsOf = async (computer: Pick<RewardComputer, 'computeRewards'>, of = group) =>
  (await computer.computeRewards(of)).map(({ reward }) => reward);

describe('absoluteRewardComputer and relativeRewardComputer', () => {
  it('look at the whole group and keep the score visible', async () => {
    const scored = await relativeRewardComputer(onlyA(), { scale: 'unit' }).computeRewards(group);
    expect(scored.map(({ reward }) => reward)).toEqual([1, 1 / 6, 1 / 6, 2 / 3]);
    expect(scored[0]!.components).toEqual({ a: 3, score: 3 });
    expect(await rewardsOf(absoluteRewardComputer(onlyA(), { normalize: 'none' }))).toEqual([3, 1, 1, 2]);
    const standardized = (await rewardsOf(absoluteRewardComputer(onlyA()))) as number[];
    expect(standardized.reduce((sum, reward) => sum + reward, 0)).toBeCloseTo(0, 12);
    expect(standardized.reduce((sum, reward) => sum + reward ** 2, 0)).toBeCloseTo(4, 12);
  });

  it('leaves out whom the inner computer could not score', async () => {
    const some = groupOf([{ a: 1 }, { a: null }, { a: 3 }]);
    expect(await rewardsOf(absoluteRewardComputer(onlyA()), some)).toEqual([-1, null, 1]);
    expect((await rewardsOf(relativeRewardComputer(onlyA()), groupOf([{ a: 9 }])))[0]).toBe(0);
    expect(() => relativeRewardComputer(onlyA(), { ties: 'random' as 'dense' })).toThrow(OptionsError);
  });
});

describe('scaleWeight', () => {
  const two = groupOf([
    { a: 1, b: 0 },
    { a: 0, b: 1000 },
  ]);
  const parts = { a: { reward: worth('a'), weight: 4 }, b: { reward: worth('b') } };

  it('reaches the weights of a computer that is wrapped', async () => {
    const ranked = relativeRewardComputer(rewardFunctions<unknown>(parts), { scale: 'unit' });
    expect(await rewardsOf(ranked, two)).toEqual([0, 1]);
    expect(ranked.scaleWeight?.('b', 0.001)).toBe('scaled');
    expect(await rewardsOf(ranked, two)).toEqual([1, 0]);
    expect(ranked.scaleWeight?.('c', 2)).toBe('unknown component');
    const without = { computeRewards: onlyA().computeRewards };
    expect(absoluteRewardComputer(without).scaleWeight).toBeUndefined();
  });

  it('reaches the weights of normalised parts, and refuses a factor that is none', async () => {
    const computer = normalizedRewardFunctions<unknown>(parts);
    expect(await rewardsOf(computer, two)).toEqual([3, -3]);
    computer.scaleWeight?.('a', 0.25);
    expect(await rewardsOf(computer, two)).toEqual([0, 0]);
    expect(() => computer.scaleWeight?.('a', Number.NaN)).toThrow(
      'expected a finite factor for "a", got NaN',
    );
  });
});

describe('normalizedRewardFunctions', () => {
  const parts = {
    a: { reward: worth('a'), weight: 2 },
    b: { reward: worth('b') },
    c: { reward: worth('c'), weight: 0 },
  };

  it('lets each part decide as its weight says, not as its spread', async () => {
    const wide = groupOf([
      { a: 1, b: 0 },
      { a: 0, b: 1000 },
    ]);
    expect(await rewardsOf(normalizedRewardFunctions<unknown>(parts), wide)).toEqual([1, -1]);
    const [first] = await normalizedRewardFunctions<unknown>(parts).computeRewards(wide);
    expect(first!.components).toEqual({ a: 1, b: 0, c: null });
  });

  it('refuses another way with what is missing', () => {
    const options = { missing: 'ignored' as 'partial' };
    expect(() => normalizedRewardFunctions<unknown>(parts, options)).toThrow('missing');
  });

  it('leaves out whom a part could not score, or takes the other parts', async () => {
    const some = groupOf([
      { a: 1, b: 0 },
      { a: 3, b: 2 },
      { a: 5, b: null },
    ]);
    expect(await rewardsOf(normalizedRewardFunctions<unknown>(parts), some)).toEqual([-3, 3, null]);
    const partial = await rewardsOf(normalizedRewardFunctions<unknown>(parts, { missing: 'partial' }), some);
    expect(partial[2]).toBeCloseTo(2 * Math.sqrt(1.5), 12);
    expect(await rewardsOf(normalizedRewardFunctions<unknown>(parts), groupOf([{ a: 5, b: 1 }]))).toEqual([
      0,
    ]);
  });
});

describe('ParetoRewardComputer', () => {
  it('rewards by front, shows objectives and front, and leaves out who lacks an objective', async () => {
    const scored = await new ParetoRewardComputer({ objectives }).computeRewards(group);
    expect(scored.map(({ reward }) => reward)).toEqual([1, 1, 0.5, null]);
    expect(scored.map(({ components }) => components)).toEqual([
      { a: 3, b: 0, front: 0 },
      { a: 1, b: 2, front: 0 },
      { a: 1, b: 1, front: 1 },
      { a: 2, b: null, front: null },
    ]);
  });

  it('goes by the weighted mean where one score is needed', async () => {
    const options = { objectives: [worth('a'), worth('b')], objectiveNames: ['a', 'b'], weights: [3, 1] };
    const absolute = new ParetoRewardComputer({ ...options, method: 'absolute' });
    expect(absolute.objectiveNames).toEqual(['a', 'b']);
    expect(await rewardsOf(absolute)).toEqual([2.25, 1.25, 1, null]);
    const relative = (await rewardsOf(
      new ParetoRewardComputer({ ...options, method: 'relative' }),
    )) as number[];
    expect(relative[1]).toBe(0);
    expect(relative[0]).toBeCloseTo(Math.sqrt(1.5), 6);
    const even = new ParetoRewardComputer({ objectives: [worth('a')], normalize: 'population-std' });
    expect(even.objectiveNames).toEqual(['objective0']);
    expect(await rewardsOf(even, groupOf([{ a: 1 }, { a: 1 }]))).toEqual([0, 0]);
  });

  it('says why a trajectory has no reward', async () => {
    const broken: RewardFunction = () => {
      throw new Error('the judge is down');
    };
    const wrapped = relativeRewardComputer(rewardFunctions({ a: worth('a'), broken }));
    for (const computer of [wrapped, new ParetoRewardComputer({ objectives: { a: worth('a'), broken } })]) {
      const [scored] = await computer.computeRewards(group);
      expect(scored?.failures?.[0]?.message).toMatch(/"broken": the judge is down/);
    }
  });

  it('refuses names and weights that do not fit', () => {
    const list = [worth('a'), worth('b')];
    expect(() => new ParetoRewardComputer({ objectives: list, objectiveNames: ['a', 'a'] })).toThrow(
      /2 different names/,
    );
    expect(() => new ParetoRewardComputer({ objectives: list, weights: [1] })).toThrow(OptionsError);
    expect(() => new ParetoRewardComputer({ objectives: list, weights: [0, 0] })).toThrow(/not all 0/);
    expect(() => new ParetoRewardComputer({ objectives: {} })).toThrow(
      /objectives: expected at least one, got none/,
    );
    expect(() => new ParetoRewardComputer({ objective_functions: list } as never)).toThrow(
      /objectives: expected functions of a trajectory[\s\S]*"objective_functions"; in rlp this is objectives/,
    );
  });
});

it.each([
  [() => relativeRewardComputer((() => 1) as never), /relativeRewardComputer: expected a reward computer/],
  [
    () => absoluteRewardComputer({ a: () => 1 } as never),
    /absoluteRewardComputer: .* got an object with a; reward/,
  ],
  [() => new SVRLRewardComputer({} as never), /SVRLRewardComputer: [\s\S]*taskEvaluator: must be a function/],
  [
    () => normalizedRewardFunctions({ a: () => 1 }, { mising: 'partial' } as never),
    /normalizedRewardFunctions: [\s\S]*did you mean missing/,
  ],
])('names what it was made without: %s', (make, problem) => {
  expect(make).toThrow(problem);
});

describe('svrlScore', () => {
  it('is quality less the share of the budget spent, plus the share of steps saved', () => {
    const input = { taskScore: 0.9, spent: 5, budget: 10, steps: 10, maxTurns: 50 };
    expect(svrlScore(input)).toBeCloseTo(0.9 - 0.1 * 0.5 + 0.05 * 0.8, 12);
    expect(svrlScore({ ...input, steps: 80 })).toBeCloseTo(0.85, 12);
    expect(svrlScore({ ...input, budget: 0 })).toBeCloseTo(0.9 - 0.1 + 0.04, 12);
    expect(svrlScore({ ...input, budget: 0 }, { emptyBudget: 'free' })).toBeCloseTo(0.94, 12);
    expect(svrlScore({ ...input, budget: 0, spent: 0 })).toBeCloseTo(0.94, 12);
    expect(() => svrlScore({ ...input, spent: -1 })).toThrow(/must not be negative/);
    for (const change of [{ taskScore: Number.NaN }, { steps: -1 }, { steps: 0, maxTurns: 0 }]) {
      expect(() => svrlScore({ ...input, ...change })).toThrow(ArgumentError);
    }
  });
});

describe('SVRLRewardComputer', () => {
  const call = { id: 'c', type: 'function', function: { name: 'check', arguments: '{}' } } as const;
  const spending = groupOf([{ a: 1 }, { a: 1 }, { a: 0 }], (member) => ({
    messages: [{ role: 'assistant', content: '', tool_calls: Array.from({ length: member }, () => call) }],
    steps: Array.from({ length: member + 1 }, () => step('x')),
  }));

  it('counts tool calls against the budget', async () => {
    const options = { taskEvaluator: worth('a'), toolBudget: 2, efficiencyWeight: 0 };
    const scored = await new SVRLRewardComputer(options).computeRewards(spending);
    expect(scored.map(({ reward }) => reward)).toEqual([1, 1 - 0.1 * 0.5, -0.1]);
    expect(scored[1]!.components).toEqual({ task: 1, verification: 0.5, efficiency: 48 / 50 });
  });

  it("takes what the environment reports, else counts the policy's own calls", async () => {
    const options = { taskEvaluator: worth('a'), toolBudget: 4, efficiencyWeight: 0 };
    const example = { role: 'assistant', content: '', tool_calls: [call, call] } as const;
    const group = groupOf([{ a: 1 }, { a: 1 }], (member) =>
      member === 0
        ? { metrics: { 'verification/spent': 3, 'verification/budget': 12 }, steps: [step('x')] }
        : { messages: [example], steps: [{ ...step('x'), toolCalls: [call] }] },
    );
    const scored = await new SVRLRewardComputer(options).computeRewards(group);
    expect(scored.map(({ components }) => components.verification)).toEqual([0.25, 0.25]);
  });

  it('counts the responses of a recorded conversation, which has no steps', async () => {
    const say = (content: string) => ({ role: 'assistant', content }) as const;
    const recorded = groupOf([{ a: 1 }, { a: 1 }], (member) => ({
      steps: [],
      messages: member === 0 ? [say('b')] : [say('a'), { role: 'user', content: 'go on' }, say('b')],
    }));
    const options = { taskEvaluator: worth('a'), maxTurns: 10 };
    const scored = await new SVRLRewardComputer(options).computeRewards(recorded);
    expect(scored.map(({ components }) => components.efficiency)).toEqual([0.9, 0.8]);
  });

  it('counts nothing of the prompt, and a conversation without a response saves no steps', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } } as const;
    const prompt = [{ role: 'assistant', content: 'a', tool_calls: [call] }] as const;
    const group = groupOf([{ a: 1 }, { a: 1 }], (member) => ({
      ...{ task: { id: '0', prompt, metadata: { a: 1 } }, steps: [] },
      messages: member === 0 ? prompt : [...prompt, { role: 'assistant', content: 'b' }],
    }));
    const options = { taskEvaluator: worth('a'), maxTurns: 10 };
    const scored = await new SVRLRewardComputer(options).computeRewards(group);
    expect(scored.map(({ components }) => components.efficiency)).toEqual([0, 0.9]);
    expect(scored.map(({ components }) => components.verification)).toEqual([0, 0]);
  });

  it('refuses a budget of tools that is none, and to judge nothing', () => {
    const options = { taskEvaluator: undefined, toolBudget: Number.NaN };
    expect(() => new SVRLRewardComputer(options as never)).toThrow(
      /toolBudget: [\s\S]*taskEvaluator: must be a function of a trajectory/,
    );
  });

  it('asks for the cost, ranks, or peels fronts', async () => {
    const verificationCost = () => ({ spent: Number.NaN, budget: 1 });
    const broken = new SVRLRewardComputer({ taskEvaluator: worth('a'), verificationCost });
    expect(await rewardsOf(broken, spending)).toEqual([null, null, null]);
    const pareto = new SVRLRewardComputer({ taskEvaluator: worth('a'), method: 'pareto' });
    expect(await rewardsOf(pareto, spending)).toEqual([1, 1 - 1 / 3, 1 - 2 / 3]);
    const relative = (await rewardsOf(
      new SVRLRewardComputer({ taskEvaluator: worth('a'), method: 'relative' }),
      spending,
    )) as number[];
    expect(relative[0]).toBeGreaterThan(relative[1]!);
  });
});
