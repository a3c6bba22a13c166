import type { EvaluateResult, StepData } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { alignRewardsWithStepData, applyGigpoToBatchSteps } from '../steps.ts';

/** Steps in these states; the n-th is the (n + 1)-th answer of its conversation. */
const episode = (...states: readonly string[]): StepData[] =>
  states.map((stateKey, at) => ({
    systemStepIndex: at,
    observationData: stateKey,
    actionTaken: { type: 'text', content: 'x' },
    resultingMessagesHistory: [],
    isDone: at === states.length - 1,
    stepInfo: { stateKey, assistantTurnIndex: at + 1 },
  }));

const judged = (score: number, outputs: Readonly<Record<number, number>> = {}): EvaluateResult => ({
  score,
  isScoreValid: true,
  metrics: {},
  stepOutputs: Object.entries(outputs).map(([stepIndex, baseReward]) => {
    return { stepIndex: Number(stepIndex), baseReward, metrics: {} };
  }),
});

const rewardsOf = (steps: readonly (readonly StepData[])[]) =>
  steps.map((each) => each.map(({ baseReward }) => baseReward));

describe('alignRewardsWithStepData', () => {
  const episodes = [episode('a', 'b'), episode('a', 'c', 'b')];

  it('gives steps the rewards of the assistant messages that they wrote', () => {
    const { steps, finalScores, problems } = alignRewardsWithStepData(
      [judged(1, { 1: 0.5, 2: -1 }), judged(0, { 2: 0.25 })],
      episodes,
    );
    expect(rewardsOf(steps)).toEqual([
      [0.5, -1],
      [undefined, 0.25, undefined],
    ]);
    expect([finalScores, problems]).toEqual([[1, 0], []]);
  });

  it('tells of judgements that fit no step or one already judged, and leaves those steps alone', () => {
    const notes: string[] = [];
    const twice = {
      ...judged(1),
      stepOutputs: [1, '1', 7].map((stepIndex) => ({ stepIndex, baseReward: 2, metrics: {} })),
    };
    const { steps, problems } = alignRewardsWithStepData([twice], [episodes[0]!], {
      onNote: (text) => notes.push(text),
    });
    expect(rewardsOf(steps)).toEqual([[2, undefined]]);
    expect(problems).toEqual([
      'episode 0: assistant message 1 is judged twice; the first judgement counts',
      'episode 0: no step wrote assistant message 7, expected one of: 1, 2',
    ]);
    expect(notes).toEqual(problems);
  });

  it('has no score for an episode that could not be judged', () => {
    const results = [
      { ...judged(1), isScoreValid: false },
      { ...judged(1), error: 'the judge is down' },
    ];
    expect(alignRewardsWithStepData(results, episodes).finalScores).toEqual([null, null]);
    expect(() => alignRewardsWithStepData([judged(1)], episodes)).toThrow(
      'expected one result per episode, got 1 for 2',
    );
  });
});

describe('applyGigpoToBatchSteps', () => {
  it('mixes how the episode did with how the step went on from its state', () => {
    // Sparse: the score stands at the last step. Returns: 1, 2 and 0, 0 with γ = 0.5. States a and b occur twice.
    const steps = applyGigpoToBatchSteps([episode('a', 'b'), episode('a', 'b')], [2, 0], {
      omega: 0.25,
      gamma: 0.5,
      scale: 'none',
    });
    expect(steps.map((each) => each.map(({ returnToGo }) => returnToGo))).toEqual([
      [1, 2],
      [0, 0],
    ]);
    const [first, second] = [0.25 * 1 + 0.75 * 0.5, 0.25 * 1 + 0.75 * 1];
    expect(steps.map((each) => each.map(({ advantage }) => advantage))).toEqual([
      [first, second],
      [-first, -second],
    ]);
  });

  it('adds the score to rewards of steps only where it is told to', () => {
    const rewarded = episode('a', 'b').map((step) => ({ ...step, baseReward: 1 }));
    const returns = (options: object) =>
      applyGigpoToBatchSteps([rewarded, episode('c', 'd')], [10, 10], { gamma: 1, ...options }).map((each) =>
        each.map(({ returnToGo }) => returnToGo),
      );
    expect(returns({})).toEqual([
      [2, 1],
      [10, 10],
    ]);
    expect(returns({ terminalScore: 'always' })).toEqual([
      [12, 11],
      [10, 10],
    ]);
    expect(returns({ terminalScore: 'never', defaultStepReward: -1 })).toEqual([
      [2, 1],
      [-2, -1],
    ]);
  });

  it('compares episodes with those of their group, and leaves those without a score alone', () => {
    const four = ['a', 'a', 'a', 'a'].map((state) => episode(state));
    const steps = applyGigpoToBatchSteps(four, [1, 0, 5, null], {
      groups: ['g', 'g', 'h', 'h'],
      scale: 'none',
    });
    expect(steps.map(([step]) => step!.advantage)).toEqual([0.5, -0.5, 2.5, undefined]);
    expect(steps[3]![0]).not.toHaveProperty('returnToGo');
  });

  it('traces each step, by whatever tells its state', () => {
    const traces: unknown[] = [];
    applyGigpoToBatchSteps([episode('a', 'a'), episode('b')], [1, 0], {
      stateHashingFunction: ({ observationData }) => `seen ${String(observationData)}`,
      gamma: 1,
      scale: 'none',
      onTrace: ({ anchor, returnToGo }, { systemStepIndex }) =>
        traces.push([systemStepIndex, anchor, returnToGo]),
    });
    expect(traces).toEqual([
      [0, { state: 'seen a', steps: 2 }, 1],
      [1, { state: 'seen a', steps: 2 }, 1],
      [0, { state: 'seen b', steps: 1 }, 0],
    ]);
  });

  it('joins similar states if it is told to', () => {
    const similar = { match: 'similar', threshold: 0.7 } as const;
    const sizes: (number | undefined)[] = [];
    applyGigpoToBatchSteps([episode('at door one'), episode('at door two')], [1, 0], {
      anchors: similar,
      onTrace: ({ anchor }) => sizes.push(anchor?.steps),
    });
    expect(sizes).toEqual([2, 2]);
  });

  it('says what is missing', () => {
    const unknown = episode('a').map((step) => ({ ...step, stepInfo: {} }));
    expect(() => applyGigpoToBatchSteps([unknown], [1])).toThrow('step 0 has no stepInfo.stateKey');
    expect(() => applyGigpoToBatchSteps([episode('a')], [])).toThrow(
      'finalScores must have one entry per episode',
    );
    expect(() => applyGigpoToBatchSteps([], [], { gama: 1 } as never)).toThrow('did you mean gamma?');
  });
});
