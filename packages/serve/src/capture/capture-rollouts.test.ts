import { inspect } from 'node:util';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type RolloutEvent, rolloutEventSchema, type Trajectory, tokenSequences } from '@rlp/core';
import type { ScriptedBackendOptions } from '@rlp/inference';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AgentConnection, type CaptureOptions, captureRollouts } from '../capture.ts';
import { byteChatTokenizer, scriptedPolicy } from '../served.fixture.ts';
import { all, ask, clientOf, collect, task } from './captured.fixture.ts';

type Script = ScriptedBackendOptions['completions'];

/** Sampled text of each training row. */
const rows = ({ steps }: Trajectory) =>
  tokenSequences(steps).map(({ tokens, mask }) => ({
    text: byteChatTokenizer.decode(tokens, { specialTokens: 'keep' }),
    chosen: byteChatTokenizer.decode(
      tokens.filter((_, t) => mask[t] === 1),
      { specialTokens: 'keep' },
    ),
  }));

describe('clients', () => {
  const call = '<tool_call>{"name":  "weather", "arguments": {"city":"Rome"}}</tool_call>';
  const script: Script = ({ text }) => (text.includes('|tool|>') ? 'It is sunny.' : `Let me look.${call}`);
  const tools = {
    weather: tool({
      description: 'Weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `sunny in ${city}`,
    }),
  };

  it.each(['http', 'fetch'] as const)('records a loop of the AI SDK as one row (%s)', async (transport) => {
    const { trajectories } = await collect(
      script,
      async ({ prompt }, { baseURL, apiKey, fetch, model }) => {
        const given = { name: 'rlp', baseURL, apiKey, ...(transport === 'fetch' && { fetch }) };
        const provider = createOpenAICompatible(given);
        const result = await generateText({
          ...{ model: provider(model), prompt: prompt as string, tools, stopWhen: stepCountIs(4) },
        });
        return { said: result.text };
      },
      { transport },
    );
    const [trajectory] = trajectories;
    expect(trajectory).toMatchObject({
      ...{ id: '3/a/b/0', status: 'completed', outcome: { said: 'It is sunny.' }, response: 'It is sunny.' },
      metrics: { 'capture/requests': 2, 'capture/conversations': 1, 'capture/splits': 0 },
    });
    expect(trajectory!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(trajectory!.steps[0]!.toolCalls).toMatchObject([{ function: { name: 'weather' } }]);
    expect(trajectory!.steps[1]!.observation).toMatchObject([{ role: 'tool' }]);
    const all = rows(trajectory!);
    expect(all).toHaveLength(1);
    // The very tokens that were sampled, two spaces in the call included.
    expect(all[0]!.chosen).toBe(`Let me look.${call}<|end|>It is sunny.<|end|>`);
    expect(all[0]!.text).toContain('sunny in Rome');
  });

  it('records streams', async () => {
    const { trajectories } = await collect(script, async ({ prompt }, { baseURL, apiKey, fetch }) => {
      const provider = createOpenAICompatible({ name: 'rlp', baseURL, apiKey, fetch });
      const given = { model: provider('x'), prompt: prompt as string, tools, stopWhen: stepCountIs(4) };
      return await streamText(given).text;
    });
    expect(trajectories[0]).toMatchObject({ status: 'completed', outcome: 'It is sunny.' });
    expect(rows(trajectories[0]!)).toHaveLength(1);
  });
});

describe('events and statistics', () => {
  const call = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>';
  const script: Script = ({ text }) => (text.includes('|tool|>') ? 'It is sunny.' : call);
  const weather = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  });
  const run: CaptureOptions['run'] = async ({ prompt }, { baseURL, apiKey, fetch, group }) => {
    if (group.member === 1) throw new Error('lost');
    const provider = createOpenAICompatible({ name: 'rlp', baseURL, apiKey, fetch });
    const given = { model: provider('x'), prompt: prompt as string, tools: { weather } };
    return (await generateText({ ...given, stopWhen: stepCountIs(4) })).text;
  };

  it('tells what happens, in order, and counts it', async () => {
    const events: RolloutEvent[] = [];
    let now = 0;
    const onEvent = [
      (event: RolloutEvent) => events.push(rolloutEventSchema.parse(JSON.parse(JSON.stringify(event)))),
      () => {
        throw new Error('full disk');
      },
    ];
    const { rollouts, trajectories } = await collect(script, run, {
      groupSize: 2,
      onEvent,
      clock: () => now++,
    });
    const own = events.filter(({ episode }) => episode === '3/a/b/0');
    expect(own).toMatchObject([
      { type: 'episode-started', task: 'a/b', steps: 0 },
      { type: 'turn-sampled', index: 0, step: { text: call, observation: [{ role: 'user' }] } },
      { type: 'tool-called', index: 0, call: { function: { name: 'weather' } }, result: 'sunny in Rome' },
      { type: 'state-updated', index: 0, messages: [{ role: 'tool' }] },
      { type: 'turn-sampled', index: 1, step: { text: 'It is sunny.', observation: [{ role: 'tool' }] } },
      { type: 'episode-ended', trajectory: { status: 'completed', response: 'It is sunny.' } },
    ]);
    expect(own.at(-1)).toHaveProperty('trajectory', trajectories[0]);
    expect(own.map(({ atMs }) => atMs)).toEqual(own.map(({ atMs }) => atMs).sort((a, b) => a! - b!));
    const sampled = trajectories[0]!.steps.flatMap(({ tokens }) => tokens).length;
    expect(rollouts.getStatistics()).toMatchObject({
      ...{ groups: 1, trajectories: 2, steps: 2, splits: 0, carried: 0 },
      byStatus: { completed: 1, truncated: 0, aborted: 0, failed: 1 },
      ...{ failures: { environment: 1, sampler: 0 }, tokens: { sampled }, averageTokens: sampled / 2 },
      lastFailure: 'the agent threw: lost',
    });
    expect(rollouts.takeNotes()).toEqual([expect.stringContaining('full disk')]);
    const reward = { type: 'reward-given', episode: 'e', task: 't', trajectory: trajectories[0]! } as const;
    expect(rollouts.isWatched).toBe(true);
    rollouts.tell({ ...reward, reward: 1, components: {} });
    expect(events.at(-1)).toMatchObject({ type: 'reward-given', reward: 1 });
  });

  it('tells once what the world answered, however often the agent asks', async () => {
    const kinds: string[] = [];
    const onEvent = ({ type }: RolloutEvent) => void kinds.push(type);
    const again: CaptureOptions['run'] = async (_, connection) => {
      const first = { role: 'user', content: 'go' } as const;
      const { content } = await ask(connection, [first]);
      const then = [{ role: 'assistant', content } as const, { role: 'user', content: 'and?' } as const];
      await ask(connection, [first, ...then]);
      await ask(connection, [first, ...then]);
    };
    await collect(['yes'], again, { onEvent });
    expect(kinds).toEqual([
      ...['episode-started', 'turn-sampled', 'state-updated', 'turn-sampled', 'turn-sampled'],
      'episode-ended',
    ]);
  });

  it('does not count episodes that an earlier collection ended', async () => {
    const { trajectories } = await collect(script, run, { groupSize: 2 });
    const { rollouts } = await collect(script, run, { groupSize: 2 });
    const before = rollouts.getStatistics();
    const again = await all(rollouts.collectGroups([task], { iteration: 3, unfinished: trajectories }));
    expect(again[0]!.trajectories).toEqual(trajectories);
    expect(rollouts.getStatistics()).toEqual({ ...before, groups: 2, carried: 2 });
  });
});

describe('conversations', () => {
  it('makes rows of sub-agents, with the main conversation last', async () => {
    const { trajectories } = await collect(
      ({ text }) => (text.includes('helper') ? 'helped' : text.includes('well?') ? 'done' : 'start'),
      async (_, connection) => {
        const first = { role: 'user', content: 'go' } as const;
        const { content } = await ask(connection, [first]);
        await ask(connection, [{ role: 'system', content: 'a helper' }, first]);
        const then = [{ role: 'assistant', content } as const, { role: 'user', content: 'well?' } as const];
        await ask(connection, [first, ...then]);
      },
    );
    const [{ steps, messages, response }] = trajectories as [Trajectory];
    expect(steps.map(({ text, branch }) => [text, branch])).toEqual([
      ['helped', 1],
      ['start', undefined],
      ['done', undefined],
    ]);
    expect(messages.map(({ content }) => content)).toEqual(['go', 'start', 'well?', 'done']);
    expect(response).toBe('done');
    expect(rows(trajectories[0]!).map(({ chosen }) => chosen)).toEqual([
      'helped<|end|>',
      'start<|end|>done<|end|>',
    ]);
  });

  it('branches where an agent asks the same again, and where it changes history', async () => {
    let count = 0;
    const { trajectories, rollouts } = await collect(
      () => `answer ${count++}`,
      async (_, connection) => {
        const messages = [{ role: 'user', content: 'go' }] as OpenAI.ChatCompletionMessageParam[];
        await ask(connection, messages);
        const second = await ask(connection, messages);
        const next = { role: 'user', content: 'next' } as const;
        await ask(connection, [...messages, { role: 'assistant', content: second.content }, next]);
        await ask(connection, [...messages, { role: 'assistant', content: 'something else' }, next]);
      },
    );
    expect(rows(trajectories[0]!).map(({ chosen }) => chosen)).toEqual([
      'answer 0<|end|>',
      'answer 1<|end|>answer 2<|end|>',
      'answer 3<|end|>',
    ]);
    expect(rollouts.takeNotes()).toEqual([]);
  });

  it('takes parallel requests and several answers', async () => {
    const { trajectories } = await collect(
      ({ member, text }) => `${/\|user\|>(\w+)/.exec(text)![1]} ${member}`,
      async (_, connection) => {
        const messages = (content: string) => [{ role: 'user', content } as const];
        await Promise.all(['x', 'y', 'z'].map((name) => ask(connection, messages(name))));
        await clientOf(connection).chat.completions.create({ model: 'm', messages: messages('w'), n: 2 });
      },
    );
    const texts = trajectories[0]!.steps.map(({ text }) => text);
    expect(texts.toSorted()).toEqual(['w 0', 'w 1', 'x 0', 'y 0', 'z 0']);
    expect(rows(trajectories[0]!)).toHaveLength(5);
  });
});

describe('sampling', () => {
  it('names draws by group, member and prompt, whatever the agent asks for', async () => {
    const seeds: string[] = [];
    const run: CaptureOptions['run'] = async (_, connection) => {
      const client = clientOf(connection);
      const messages = [{ role: 'user', content: 'go' } as const];
      const given = { model: 'm', messages, seed: 1, temperature: 0.1, max_tokens: 1000 };
      await client.chat.completions.create(given);
      await client.chat.completions.create(given);
    };
    const script: Script = ({ seed }) => {
      seeds.push(seed);
      return 'a'.repeat(50);
    };
    const sampling = { maxTokens: 10 };
    const { trajectories } = await collect(script, run, { groupSize: 2, sampling });
    const first = seeds.splice(0).toSorted();
    await collect(script, run, { groupSize: 2, sampling });
    expect(new Set(first).size).toBe(4);
    expect(seeds.toSorted()).toEqual(first);
    expect(trajectories[0]!.steps[0]!.tokens).toHaveLength(10);
    expect(trajectories[0]).toMatchObject({ status: 'truncated', termination: { reason: 'tokens' } });
  });
});

describe('agents that misbehave', () => {
  const go = [{ role: 'user', content: 'go' } as const];

  it('records one that crashes, without its key', async () => {
    const { trajectories, rollouts } = await collect(['hi'], async (_, connection) => {
      await ask(connection, go);
      throw new Error(`cannot go on with ${connection.apiKey}`, { cause: new Error(connection.apiKey) });
    });
    expect(trajectories[0]).toMatchObject({
      ...{ status: 'failed', steps: [{ text: 'hi' }] },
      failure: { boundary: 'environment', message: 'the agent threw: cannot go on with [key]' },
    });
    expect(String(rollouts.lastError)).toContain('cannot go on');
    expect(inspect(rollouts.lastError, { depth: 9 })).not.toContain('rlp-');
  });

  it('stops one that does not end', async () => {
    const { trajectories } = await collect(
      ['hi'],
      async (_, connection) => {
        await ask(connection, go);
        await new Promise(() => undefined);
      },
      { agentTimeoutMs: 50 },
    );
    expect(trajectories[0]).toMatchObject({
      ...{ status: 'truncated', termination: { reason: 'budget', detail: expect.stringContaining('50 ms') } },
    });
  });

  it('stops one that asks for ever', async () => {
    let isStopped = false;
    const { trajectories } = await collect(
      ['hi'],
      async (_, connection) => {
        connection.signal.addEventListener('abort', () => (isStopped = true));
        for (let times = 0; times < 20; times++) await ask(connection, go).catch(() => undefined);
      },
      { maxTurns: 3 },
    );
    expect(trajectories[0]).toMatchObject({ status: 'truncated', termination: { reason: 'turns' } });
    expect(trajectories[0]!.steps).toHaveLength(3);
    expect(isStopped).toBe(true);
  });

  it('says that one asked nobody', async () => {
    const { trajectories } = await collect(['hi'], () => 'done');
    expect(trajectories[0]!.failure!.message).toContain('asked the policy nothing');
  });

  it('ends one whose conversation is too long', async () => {
    const { trajectories } = await collect(['hi'], async (_, connection) => {
      await ask(connection, go);
      await ask(connection, [{ role: 'user', content: 'x'.repeat(5000) }]);
    });
    expect(trajectories[0]).toMatchObject({ status: 'truncated', termination: { reason: 'tokens' } });
  });

  it('limits requests in bytes, not in characters', async () => {
    const content = '€'.repeat(300);
    const run: CaptureOptions['run'] = async (_, connection) => {
      await expect(ask(connection, [{ role: 'user', content }])).rejects.toMatchObject({ status: 413 });
      await ask(connection, [{ role: 'user', content: content.slice(0, 100) }]);
    };
    const { trajectories } = await collect(['hi'], run, { maxBodyBytes: 800 });
    expect(trajectories[0]).toMatchObject({ status: 'completed', response: 'hi' });
  });

  it('blames the sampler for what the sampler did', async () => {
    const { trajectories } = await collect(
      () => {
        throw new Error('out of memory');
      },
      async (_, connection) => void (await ask(connection, go)),
    );
    expect(trajectories[0]).toMatchObject({ status: 'failed' });
  });

  it('refuses keys of others and requests that come late', async () => {
    const doors: AgentConnection[] = [];
    const statuses: number[] = [];
    const { trajectories } = await collect(
      ['hi'],
      async (_, connection) => {
        doors.push(connection);
        await ask(connection, go);
        const others = { ...connection, apiKey: doors[0]!.apiKey };
        if (doors.length > 1) await ask(others, go).catch(({ status }) => statuses.push(status));
      },
      { groupSize: 2, concurrentEpisodes: 1 },
    );
    await ask(doors[0]!, go).catch(({ status }) => statuses.push(status));
    expect(statuses).toEqual([401, 410]);
    expect(trajectories.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});

it('keeps routes that change weights from agents', async () => {
  const statuses: number[] = [];
  await collect(['hi'], async (_, { baseURL, apiKey, fetch }) => {
    for (const path of ['/load_lora_adapter', '/../pause', '/../../../0/v1/models']) {
      const headers = { authorization: `Bearer ${apiKey}` };
      statuses.push((await fetch(baseURL + path, { method: 'POST', headers, body: '{}' })).status);
    }
  });
  expect(statuses).toEqual([404, 404, 410]);
});

describe('a collection that is stopped', () => {
  it('keeps what ended and goes on from it', async () => {
    const stop = new AbortController();
    let runs = 0;
    const policy = scriptedPolicy(['hi']);
    const rollouts = captureRollouts({
      ...{ policy, transport: 'fetch', groupSize: 2, concurrentEpisodes: 1 },
      run: async (_, connection) => {
        await ask(connection, [{ role: 'user', content: 'go' }]);
        runs += 1;
        if (runs === 2) {
          stop.abort(new Error('enough'));
          await new Promise(() => undefined);
        }
      },
    });
    const tasks = [task, { ...task, id: 'c' }];
    const [group] = await all(rollouts.collectGroups(tasks, { iteration: 0, signal: stop.signal }));
    expect(group!.trajectories.map(({ status }) => status)).toEqual(['completed', 'aborted']);
    const unfinished = group!.trajectories;
    const again = await all(rollouts.collectGroups([task], { iteration: 0, unfinished }));
    expect(again[0]!.trajectories[0]).toBe(unfinished[0]);
    expect(again[0]!.trajectories[1]!.status).toBe('completed');
    expect(runs).toBe(3);
  });
});

it('answers clients of Anthropic', async () => {
  const { trajectories } = await collect(['hello'], async (_, { baseURL, apiKey, fetch, model }) => {
    const provider = createAnthropic({ baseURL, apiKey, fetch });
    return (await generateText({ model: provider(model), prompt: 'go', maxRetries: 0 })).text;
  });
  expect(trajectories[0]).toMatchObject({ status: 'completed', outcome: 'hello' });
});

it('names every problem of its options', () => {
  const broken = { policy: {}, run: 'agent', groups: 2 } as unknown as CaptureOptions;
  expect(() => captureRollouts(broken)).toThrow(/captureRollouts[\s\S]*policy[\s\S]*run[\s\S]*groups/);
});
