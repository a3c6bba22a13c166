import { type Environment, RandomStream, type State, type TrajectoryGroup } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  babble,
  collect,
  type GrowingState,
  growing,
  manage,
  type Setting,
  task,
  tasks,
} from './growing.fixture.ts';
import { RolloutManager, type RolloutOptions } from './index.ts';
import { characters, chat, mockPolicy } from './testing.ts';

const members = (groups: readonly TrajectoryGroup<number>[]) =>
  groups.flatMap(({ trajectories }) => trajectories);

describe('RolloutManager.collectGroups', () => {
  it('records what the policy saw and did', async () => {
    const { manager } = manage({ sampler: { speak: () => '42' }, options: { groupSize: 1 } });
    const [group] = await collect(manager.collectGroups([task('a')], { iteration: 3 }));
    expect(group).toEqual({
      id: '3/a',
      task: task('a'),
      trajectories: [
        {
          id: '3/a/0',
          task: task('a'),
          steps: [
            {
              promptTokens: characters.encode('a?'),
              tokens: characters.encode('42¶'),
              behaviorLogprobs: [-0.5, -0.5, -0.5],
              text: '42',
              stopReason: 'stop',
              policyVersion: 0,
              observation: 'a?',
            },
          ],
          messages: [
            { role: 'user', content: 'a?' },
            { role: 'assistant', content: '42' },
            { role: 'user', content: '|' },
          ],
          response: '42',
          status: 'completed',
          termination: { reason: 'environment' },
          policyVersion: 0,
          group: { id: '3/a', member: 0 },
        },
      ],
    });
  });

  it('asks once for the first turn of a group, and once per member for each later turn', async () => {
    const { manager, sampler } = manage({ options: { groupSize: 4 } });
    await collect(manager.collectGroups([task('a', 3)]));
    expect(sampler.requests.map(({ count }) => count)).toEqual([4, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(new Set(sampler.requests.map(({ seed }) => seed)).size).toBe(9);
  });

  it('gives equal groups in the order of the tasks, whatever the timing', async () => {
    const expected = await collect(manage().manager.collectGroups(tasks(5, 3), { iteration: 1 }));
    expect(expected.map(({ id }) => id)).toEqual(tasks(5).map(({ id }) => `1/${id}`));
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.integer({ min: 1, max: 6 }), async (schedule, concurrency) => {
        const stream = RandomStream.named(schedule);
        const { manager } = manage({
          sampler: { delay: () => stream.integer(4) },
          options: { concurrency },
        });
        expect(await collect(manager.collectGroups(tasks(5, 3), { iteration: 1 }))).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  it('draws anew for another iteration, another seed and a repeated task', async () => {
    const texts = async (options: RolloutOptions, iteration: number) =>
      members(await collect(manage({ options }).manager.collectGroups(tasks(4), { iteration })))
        .map(({ response }) => response)
        .join();
    const draws = [await texts({}, 0), await texts({}, 1), await texts({ seed: 'other' }, 0)];
    expect(new Set(draws).size).toBe(3);

    const repeated = await collect(manage().manager.collectGroups([task('a'), task('a')], { iteration: 0 }));
    expect(repeated.map(({ id }) => id)).toEqual(['0/a', '0/a#1']);
    const ids = members(repeated).map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
  });

  it('tells collections apart that are asked for before either is read', async () => {
    const { manager } = manage();
    const [one, other] = [manager.collectGroups([task('a')]), manager.collectGroups([task('a')])];
    const ids = [...(await collect(other)), ...(await collect(one))].map(({ id }) => id);
    expect(ids).toEqual(['1/a', '0/a']);
  });

  it('keeps at most `concurrency` groups under way', async () => {
    let underWay = 0;
    let most = 0;
    const watched: Environment<GrowingState, number> = {
      ...growing,
      reset: (...arguments_) => {
        underWay += 1;
        most = Math.max(most, underWay);
        return growing.reset(...arguments_);
      },
      updateState: (...arguments_) => {
        underWay -= 1;
        return growing.updateState(...arguments_);
      },
    };
    const { manager } = manage({
      environment: watched,
      sampler: { delay: () => 2 },
      options: { concurrency: 3, groupSize: 1 },
    });
    await collect(manager.collectGroups(tasks(10)));
    expect(most).toBe(3);
  });

  it('completes episodes that are over when they begin, without asking the sampler', async () => {
    const { manager, sampler } = manage({ options: { groupSize: 2 } });
    const [group] = await collect(manager.collectGroups([task('a', 0)]));
    expect(sampler.requests).toEqual([]);
    expect(group!.trajectories).toMatchObject(
      [0, 1].map((member) => ({
        id: `0/a/${member}`,
        ...{ steps: [], response: '', status: 'completed', termination: { reason: 'environment' } },
        group: { id: '0/a', member },
      })),
    );
  });

  it('puts the key of the state that the policy saw on each step, if there are keys', async () => {
    const environment = { ...growing, stateKey: ({ prompt }: GrowingState) => prompt };
    const options = { groupSize: 1 };
    const sampler = { speak: () => '1' };
    const keysOf = async (setting: Setting) => {
      const [trajectory] = members(
        await collect(manage({ ...setting, options, sampler }).manager.collectGroups([task('a', 3)])),
      );
      return trajectory!.steps.map((step) => ('stateKey' in step ? step.stateKey : 'no key'));
    };
    expect(await keysOf({ environment })).toEqual(['a?', 'a?1|', 'a?1|1|']);
    expect(await keysOf({})).toEqual(['no key', 'no key', 'no key']);
  });

  it('counts tokens by what they are', async () => {
    const { manager } = manage({ sampler: { speak: () => '12' }, options: { groupSize: 2 } });
    await collect(manager.collectGroups([task('a')]));
    // `a?` and `12¶` of two members.
    expect(manager.getStatistics()).toMatchObject({ tokens: { sampled: 6, prompt: 4 }, averageTokens: 3 });
  });

  it('keeps the oldest policy version of an episode', async () => {
    let version = 4;
    const { manager } = manage({
      sampler: { policyVersion: () => version++ },
      options: { groupSize: 1 },
    });
    const [trajectory] = members(await collect(manager.collectGroups([task('a', 3)])));
    expect(trajectory!.policyVersion).toBe(4);
  });

  it('runs hundreds of episodes at once without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { manager } = manage({ sampler: { delay: () => 1 }, options: { groupSize: 8 } });
    await collect(manager.collectGroups(tasks(64, 2)));
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('limits', () => {
  it('truncates an episode at the limit on turns', async () => {
    const { manager } = manage({ options: { maxTurns: 2 } });
    const [trajectory] = members(await collect(manager.collectGroups([task('a', 9)])));
    expect([trajectory!.status, trajectory!.steps.length]).toEqual(['truncated', 2]);
  });

  it('truncates an episode whose last response was cut', async () => {
    const { manager } = manage({
      sampler: { speak: () => '12345' },
      options: { sampling: { maxTokens: 3 } },
    });
    const [trajectory] = members(await collect(manager.collectGroups([task('a')])));
    expect([trajectory!.status, trajectory!.response]).toEqual(['truncated', '123']);
  });

  it('shrinks the budget to the context that is left, and truncates when none is', async () => {
    const { manager, sampler } = manage({
      sampler: { speak: () => '12' },
      options: { contextLength: 10, groupSize: 1 },
    });
    const [trajectory] = members(await collect(manager.collectGroups([task('a', 9)])));
    // 'a?' + '12¶' + '|' … : what does not continue the sampled tokens is a prompt of its own.
    expect(sampler.requests.map(({ prompt, maxTokens }) => prompt.length + maxTokens)).toEqual([10, 10, 10]);
    expect(trajectory!.status).toBe('truncated');
  });

  it('fails a task whose prompt does not fit, with its numbers and a remedy', async () => {
    const { manager, sampler } = manage({ options: { contextLength: 4 } });
    const [group] = await collect(manager.collectGroups([{ ...task('long'), prompt: '12345' }]));
    expect(group!.trajectories.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
    expect(group!.trajectories[0]!.failure).toEqual({
      boundary: 'environment',
      message:
        'the prompt of task "long" has 5 tokens, which leaves no room for an answer in a context of 4: ' +
        'shorten it or raise contextLength',
    });
    expect(sampler.requests).toEqual([]);
  });

  it('names every bad option at once', () => {
    expect(() =>
      manage({ options: { groupSize: 0, sampling: { topP: 2 }, concurency: 1 } as never }),
    ).toThrow(/RolloutManager: invalid options[\s\S]*groupSize[\s\S]*sampling\.topP[\s\S]*"concurency"/);
  });
});

describe('tokens across turns', () => {
  /** A dialogue whose template keeps history as it is. */
  const dialogue: Environment<State, number> = {
    reset: ({ prompt }) => ({
      prompt: [{ role: 'user', content: String(prompt) }],
      response: '',
      stepCount: 0,
    }),
    buildPrompt: ({ prompt }) => prompt,
    updateState: ({ prompt, stepCount }, response) => ({
      prompt: [
        ...(prompt as []),
        { role: 'assistant', content: response },
        { role: 'user', content: `turn ${stepCount + 1}` },
      ],
      response,
      stepCount: stepCount + 1,
    }),
    isTerminal: ({ stepCount }) => stepCount >= 3,
  };
  const dependencies = (environment: Environment<State, number>) => ({
    environment,
    sampler: mockPolicy({ speak: babble }).sampler,
    tokenizer: characters,
    chat,
  });

  it('extends the very tokens sampled where the conversation only grows', async () => {
    const manager = new RolloutManager(dependencies(dialogue), { groupSize: 4 });
    const groups = await collect(manager.collectGroups([task('a')]));
    for (const { steps } of members(groups)) {
      expect(steps).toHaveLength(3);
      for (const [index, { promptTokens }] of steps.slice(1).entries()) {
        const before = [...steps[index]!.promptTokens, ...steps[index]!.tokens];
        expect(promptTokens.slice(0, before.length)).toEqual(before);
        expect(characters.decode(promptTokens.slice(before.length), { specialTokens: 'keep' })).toBe(
          `user:turn ${index + 1}¶assistant:`,
        );
      }
    }
    expect(manager.getStatistics().splits).toBe(0);
  });

  it('closes a turn that was cut, as the template would', async () => {
    const manager = new RolloutManager(
      { ...dependencies(dialogue), sampler: mockPolicy({ speak: () => '12345' }).sampler },
      { groupSize: 1, sampling: { maxTokens: 2 } },
    );
    const [trajectory] = members(await collect(manager.collectGroups([task('a')])));
    expect(characters.decode(trajectory!.steps[1]!.promptTokens, { specialTokens: 'keep' })).toBe(
      'user:a?¶assistant:12¶user:turn 1¶assistant:',
    );
    expect(manager.getStatistics().splits).toBe(0);
  });

  it('keeps an unusual tokenisation of what was sampled', async () => {
    // 'ab' has a token of its own; the policy said it in two.
    const AB = 0x1fff;
    const merging = {
      ...characters,
      encode: (text: string) =>
        text.split('ab').flatMap((part, index) => [...(index > 0 ? [AB] : []), ...characters.encode(part)]),
      decode: (tokens: readonly number[], options?: { specialTokens?: 'skip' | 'keep' }) =>
        characters.decode(
          tokens.flatMap((token) => (token === AB ? [97, 98] : [token])),
          options,
        ),
    };
    const rendering = {
      render: (messages: Parameters<typeof chat.render>[0]) =>
        merging.encode(characters.decode(chat.render(messages), { specialTokens: 'keep' })),
    };
    const manager = new RolloutManager(
      {
        ...dependencies(dialogue),
        tokenizer: merging,
        chat: rendering,
        sampler: mockPolicy({ speak: () => 'ab' }).sampler,
      },
      { groupSize: 1 },
    );
    const [trajectory] = members(await collect(manager.collectGroups([task('x')])));
    const { steps } = trajectory!;
    expect(steps[0]!.tokens).toEqual([97, 98, 0]);
    expect(steps[1]!.promptTokens).not.toContain(AB);
    expect(manager.getStatistics().splits).toBe(0);
  });

  it('starts a prompt of its own where history is rewritten, and counts it', async () => {
    const forgetful = {
      ...dialogue,
      buildPrompt: ({ prompt }: State) => [(prompt as readonly { role: 'user'; content: string }[]).at(-1)!],
    };
    const manager = new RolloutManager(dependencies(forgetful), { groupSize: 1 });
    const [trajectory] = members(await collect(manager.collectGroups([task('a')])));
    expect(characters.decode(trajectory!.steps[2]!.promptTokens, { specialTokens: 'keep' })).toBe(
      'user:turn 2¶assistant:',
    );
    expect(manager.getStatistics().splits).toBe(2);
  });

  it('asks for a chat renderer where prompts are messages', async () => {
    const { chat: _, ...withoutChat } = dependencies(dialogue);
    const manager = new RolloutManager(withoutChat, { groupSize: 1 });
    const [trajectory] = members(await collect(manager.collectGroups([task('a')])));
    expect(trajectory!.failure!.message).toContain('need a chat renderer: pass `chat: model.chat`');
  });
});
