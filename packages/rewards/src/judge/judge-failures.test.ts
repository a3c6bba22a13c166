import { causeOf, type TextGenerator } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { pairwiseJudge, pointwiseJudge, rankingJudge, rubricJudge } from '../judge.ts';
import { criteria, group, groupOf, honest } from './honest-judge.fixture.ts';

const { signal } = new AbortController();

describe('worstScoreFor', () => {
  /** A judge whose answer about "spoil" cannot be read. */
  const spoilt: TextGenerator = async (messages, options) =>
    messages[1]!.content.includes('spoil') ? 'hm' : honest(messages, options);
  const options = { generator: spoilt, worstScoreFor: ['unparsable'], retries: 0 } as const;
  const mixed = groupOf(['a!', 'spoil', 'b']);

  it('makes a verdict that cannot be read the worst, and counts it', async () => {
    const pointwise = pointwiseJudge({ ...options, rubric: '' });
    const rewards = await Promise.all(mixed.trajectories.map((one) => pointwise.reward(one, { signal })));
    expect(rewards).toEqual([1 / 9, 0, 0]);
    expect(pointwise.getStatistics()).toMatchObject({ failures: { unparsable: 1 }, worst: 1 });
    const rubric = await rubricJudge({ ...options, criteria }).computeRewards(mixed);
    expect(rubric[1]).toMatchObject({ reward: 0, components: { tone: 0, wit: 0 } });
    const pairs = await pairwiseJudge(options).computeRewards(mixed);
    expect(pairs.map(({ reward }) => reward)).toEqual([0.5, 0, 0]);
    const ranked = await rankingJudge(options).computeRewards(mixed);
    expect(ranked.map(({ reward }) => reward)).toEqual([0, 0, 0]);
  });

  it('is the default where the judge can judge an empty response, so that spoiling a verdict does not pay', async () => {
    const { generator, retries } = options;
    const pointwise = pointwiseJudge({ generator, retries, rubric: '' });
    expect(await pointwise.reward(mixed.trajectories[1]!, { signal })).toBe(0);
    expect(pointwise.getStatistics()).toMatchObject({ calls: 2, failures: { unparsable: 1 }, worst: 1 });
    const [, scored] = await rubricJudge({ generator, retries, criteria }).computeRewards(mixed);
    expect(scored).toMatchObject({ reward: 0, components: { tone: 0, wit: 0 } });
    const useless = pointwiseJudge({ generator: async () => 'hm', retries, rubric: '' });
    await expect(useless.reward(mixed.trajectories[0]!, { signal })).rejects.toThrow('got "hm"');
    const asked = pointwiseJudge({ generator, retries, rubric: '', worstScoreFor: [] });
    await expect(asked.reward(mixed.trajectories[1]!, { signal })).rejects.toThrow('got "hm"');
  });

  it('leaves other failures to reject', async () => {
    const broken = async () => {
      throw new Error('away');
    };
    const judge = pointwiseJudge({ ...options, generator: broken, rubric: '' });
    await expect(judge.reward(mixed.trajectories[0]!, { signal })).rejects.toThrow('away');
    expect(judge.getStatistics()).toMatchObject({ failures: { threw: 1 }, worst: 0 });
    const strict = pointwiseJudge({ generator: broken, rubric: '', worstScoreFor: ['threw'] });
    expect(await strict.reward(mixed.trajectories[0]!, { signal })).toBe(0);
  });
});

describe('a judge whose model is away', () => {
  const away = new Error('connect ECONNREFUSED');
  const generator = async () => Promise.reject(away);
  const hangs: TextGenerator = () => new Promise(() => {});

  it.each([
    ['rubricJudge', rubricJudge({ generator, criteria })],
    ['pairwiseJudge', pairwiseJudge({ generator })],
    ['rankingJudge', rankingJudge({ generator, rounds: 2 })],
  ])('says so for each trajectory (%s)', async (name, judge) => {
    const message = `${name}: connect ECONNREFUSED`;
    for (const { reward, failures } of await judge.computeRewards(group)) {
      expect([reward, failures]).toEqual([null, [{ source: 'judge', cause: 'threw', message }]]);
      expect((causeOf(failures![0]!) as Error).cause).toBe(away);
    }
  });

  it('or late', async () => {
    const judge = rankingJudge({ generator: hangs, timeoutMs: 5 });
    const [scored] = await judge.computeRewards(group);
    expect(scored!.failures).toMatchObject([{ cause: 'timed-out' }]);
  });

  it('keeps the verdicts that it has', async () => {
    let calls = 0;
    const once: TextGenerator = async (messages, options) =>
      calls++ === 0 ? honest(messages, options) : generator();
    const ranked = await rankingJudge({ generator: once, rounds: 2 }).computeRewards(group);
    expect(ranked.map(({ reward, failures }) => [reward, failures])).toEqual([
      [0, undefined],
      [1 / 9, undefined],
      [2 / 9, undefined],
    ]);
  });

  it('ends once aborted', async () => {
    const controller = new AbortController();
    const judges = [
      rubricJudge({ generator: hangs, criteria }),
      pairwiseJudge({ generator: hangs }),
      rankingJudge({ generator: hangs }),
    ];
    const waiting = judges.map((judge) => judge.computeRewards(group, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    for (const one of waiting) await expect(one).rejects.toThrow('enough');
  });
});
