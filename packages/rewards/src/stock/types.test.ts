import type { RewardFunction, Task } from '@rlp/core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { rewardFunctions } from '../functions/reward-functions.ts';
import { type RewardName, RewardRegistry } from '../functions/reward-registry.ts';
import { instructionFollowing } from '../instructions.ts';
import { pointwiseJudge } from '../judge.ts';
import {
  answerF1,
  checkAnswer,
  codeTests,
  cosineScaled,
  exactAnswer,
  fuzzyMatch,
  gsm8kAnswer,
  jsonFormat,
  mathAnswer,
  numericMatch,
  type StockRewardName,
  stockRewards,
  thinkFormat,
  toolCalls,
} from '../stock.ts';
import { LengthVerifier } from '../verification.ts';

interface Answered {
  readonly answer: string;
}

const reference = ({ answer }: Answered) => answer;
const asked: Task<{ readonly question: string }> = { id: 'a', prompt: '', metadata: { question: '7+8' } };

describe('stock rewards', () => {
  it('do not compile on tasks without what they read', () => {
    const expecting: RewardFunction<Answered>[] = [
      exactAnswer({ reference }),
      gsm8kAnswer({ reference }),
      mathAnswer({ reference }),
      fuzzyMatch({ reference }),
      numericMatch({ reference }),
      answerF1({ reference }),
      checkAnswer({ reference }),
      cosineScaled({ reward: gsm8kAnswer({ reference }) }),
      pointwiseJudge({ generator: async () => '', rubric: '', reference }).reward,
      thinkFormat(),
    ];
    // @ts-expect-error reads `metadata.answer`, which these tasks lack
    const math: RewardFunction<typeof asked.metadata> = mathAnswer({ reference });
    // @ts-expect-error the same through a wrapper
    const scaled: RewardFunction<typeof asked.metadata> = cosineScaled({
      reward: gsm8kAnswer({ reference }),
    });
    // @ts-expect-error expected calls are read from metadata
    const tools: RewardFunction<typeof asked.metadata> = toolCalls({
      expected: (metadata: { calls: [] }) => metadata.calls,
    });
    // @ts-expect-error so are schemas
    const json: RewardFunction<typeof asked.metadata> = jsonFormat({
      schema: (metadata: { schema: object }) => metadata.schema,
    });
    // @ts-expect-error and instructions
    const follow: RewardFunction<typeof asked.metadata> = instructionFollowing({
      instructions: (m: { list: [] }) => m.list,
    });
    // @ts-expect-error and tests
    const code: RewardFunction<typeof asked.metadata> = codeTests({
      runner: async () => {
        throw new Error();
      },
      language: 'js',
      tests: (m: { tests: [] }) => m.tests,
    });
    const format: RewardFunction<typeof asked.metadata> = thinkFormat();
    expect(
      [...expecting, math, scaled, tools, json, follow, code, format].every(
        (one) => typeof one === 'function',
      ),
    ).toBe(true);
  });

  it('infer what a computer reads from its parts', async () => {
    const computer = rewardFunctions({
      accuracy: { reward: gsm8kAnswer({ reference }) },
      format: { reward: thinkFormat() },
    });
    const group = { id: '0', task: asked, trajectories: [] };
    // @ts-expect-error these tasks lack `metadata.answer`
    expect(await computer.computeRewards(group)).toEqual([]);
  });
});

describe('names', () => {
  const registry = new RewardRegistry({
    rewards: { ...stockRewards, brevity: () => () => 1 },
    verifiers: { short: new LengthVerifier() },
  });

  it('of a registry and of stock rewards are known to the editor, and other text may come from a file', () => {
    expectTypeOf<RewardName<typeof registry>>().toEqualTypeOf<StockRewardName | 'brevity'>();
    expectTypeOf<'thinkFormat'>().toExtend<StockRewardName>();
    expectTypeOf<(typeof registry.verifierNames)[number]>().toEqualTypeOf<'short'>();
    type Config = Parameters<typeof registry.createRewards>[0][number];
    expectTypeOf<Extract<Config['name'], 'tagFormat' | 'brevity'>>().toEqualTypeOf<'tagFormat' | 'brevity'>();
    expectTypeOf<string>().toExtend<Config['name']>();
    expect(registry.rewardNames).toContain('brevity');
  });

  it('of stock rewards make rewards from JSON', () => {
    const rewards = registry.createRewards([
      { name: 'tagFormat', params: { tags: ['answer'] } },
      { name: 'brevity', weight: 0.5, verifiers: ['short'] },
    ]);
    expect(Object.keys(rewards.getStatistics())).toEqual(['tagFormat', 'brevity']);
  });
});
