import Anthropic from '@anthropic-ai/sdk';
import { Agent, Runner, tool } from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import { tokenSequences } from '@rlp/core';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { type AgentConnection, captureRollouts } from './capture.ts';
import { calling, scriptedPolicy, served, weather } from './served.fixture.ts';

/** Hands over if it can, asks for the weather if it can, then says what it was told. */
const script = ({ text }: { readonly text: string }) => {
  const offered = /<\/tool_call>:([^<\n]*)/.exec(text)?.[1] ?? '';
  const told = [...text.matchAll(/<\|tool\|>(.*?)<\|end\|>/gs)].map((match) => match[1]!);
  const handover = /transfer_to_\w+/.exec(offered)?.[0];
  if (handover !== undefined && told.length === 0)
    return `<tool_call>{"name": "${handover}", "arguments": {}}</tool_call>`;
  if (!offered.includes('weather') || told.some((result) => result.includes('rain')))
    return told.length === 0 ? 'Hello.' : `It is ${told.join(', ')}.`;
  return text.includes('two cities')
    ? `${calling('Bern', 'Both.')}${calling('Chur')}`
    : calling('Bern', 'Wait.');
};

type Address = Pick<AgentConnection, 'baseURL' | 'apiKey'> & { readonly fetch?: typeof globalThis.fetch };

async function address(): Promise<Address> {
  const { url, token } = await served(scriptedPolicy(script));
  return { baseURL: `${url}/v1`, apiKey: token };
}

/** Runs an agent against a capture. */
async function captured(run: (question: string, at: Address) => Promise<unknown>) {
  const rollouts = captureRollouts({
    policy: scriptedPolicy(script),
    run: ({ prompt }, { baseURL, apiKey, fetch }) => run(String(prompt), { baseURL, apiKey, fetch }),
    ...{ groupSize: 1, transport: 'fetch' },
  });
  onTestFinished(() => rollouts.close());
  const task = { id: 'a', prompt: 'one city', metadata: undefined };
  for await (const { trajectories } of rollouts.collectGroups([task])) {
    const [trajectory] = trajectories;
    return { ...trajectory!, rows: tokenSequences(trajectory!.steps), notes: rollouts.takeNotes() };
  }
  throw new Error('no group');
}

describe("Anthropic's client", () => {
  const tools: Anthropic.Tool[] = [
    { name: 'weather', input_schema: weather.function.parameters as unknown as Anthropic.Tool.InputSchema },
  ];
  const clientOf = ({ baseURL, ...at }: Address) =>
    new Anthropic({ ...at, baseURL: baseURL.replace(/\/v1$/, ''), maxRetries: 0 });
  const run = ({ city }: { city: string }) => `rain in ${city}`;
  const runnable = {
    ...tools[0]!,
    description: 'Weather',
    parse: (given: unknown) => given as { city: string },
    run,
  };
  const asked = { model: 'tiny', max_tokens: 300 };

  it('answers several calls at once, with results in blocks', async () => {
    const client = clientOf(await address());
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: [{ type: 'text', text: 'two cities', cache_control: { type: 'ephemeral' } }] },
    ];
    const system = [
      { type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } },
    ];
    const first = await client.messages.create({ ...asked, system, tools, messages });
    const calls = first.content.filter((block) => block.type === 'tool_use');
    expect(calls).toMatchObject([{ input: { city: 'Bern' } }, { input: { city: 'Chur' } }]);
    const results = calls.map(({ id, input }) => ({
      ...{ type: 'tool_result' as const, tool_use_id: id },
      content: [{ type: 'text' as const, text: run(input as { city: string }) }],
    }));
    const next = [...messages, first, { role: 'user' as const, content: results }];
    const last = await client.messages.create({ ...asked, system, tools, messages: next });
    expect(last.content).toMatchObject([{ type: 'text', text: 'It is rain in Bern, rain in Chur.' }]);
    expect(last.stop_reason).toBe('end_turn');
  });

  it('streams to the same message', async () => {
    const client = clientOf(await address());
    const texts: string[] = [];
    const stream = client.messages.stream({
      ...asked,
      tools,
      messages: [{ role: 'user', content: 'one city' }],
    });
    stream.on('text', (text) => texts.push(text));
    expect((await stream.finalMessage()).content).toMatchObject([
      { type: 'text', text: 'Wait.' },
      { type: 'tool_use', name: 'weather', input: { city: 'Bern' } },
    ]);
    expect(texts.join('')).toBe('Wait.');
  });

  it('runs its tools, though no thread is stored here', async () => {
    const client = clientOf(await address());
    const messages = [{ role: 'user' as const, content: 'one city' }];
    const last = await client.beta.messages.toolRunner({ ...asked, messages, tools: [runnable] });
    expect(last.content).toMatchObject([{ text: 'It is rain in Bern.' }]);
  });

  it('is told what is not done here', async () => {
    const client = clientOf(await address());
    const user = { role: 'user' as const, content: 'Hi' };
    const asking = (more: object) => client.messages.create({ ...asked, messages: [user], ...more });
    const format = { type: 'json_schema', schema: { type: 'object' } };
    await expect(asking({ output_config: { format } })).rejects.toThrow('output_config.format: ');
    await expect(asking({ messages: [user, { role: 'assistant', content: '{' }] })).rejects.toThrow(
      'end with a message of the user',
    );
  });

  it('is recorded as one row', async () => {
    const { outcome, messages, rows } = await captured(async (content, at) => {
      const asking = { ...asked, messages: [{ role: 'user' as const, content }], tools: [runnable] };
      return (await clientOf(at).beta.messages.toolRunner(asking)).content;
    });
    expect(outcome).toMatchObject([{ text: 'It is rain in Bern.' }]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(rows).toHaveLength(1);
  });
});

describe.each([
  ['responses', true],
  ['chat', false],
] as const)("OpenAI's agents by %s", (_, useResponses) => {
  const lookUp = tool({
    ...{ name: 'weather', description: 'Weather', parameters: z.object({ city: z.string() }) },
    execute: async ({ city }) => `rain in ${city}`,
  });
  const runnerOf = (at: Address) =>
    new Runner({
      modelProvider: new OpenAIProvider({
        openAIClient: new OpenAI({ ...at, maxRetries: 0 }) as never,
        useResponses,
      }),
      tracingDisabled: true,
    });
  const guide = new Agent({
    ...{ name: 'Guide', instructions: 'Be brief.', model: 'tiny', tools: [lookUp] },
    modelSettings: { temperature: 0.5, maxTokens: 300, parallelToolCalls: true },
  });

  it('calls tools, several at once', async () => {
    const { finalOutput } = await runnerOf(await address()).run(guide, 'two cities');
    expect(finalOutput).toBe('It is rain in Bern, rain in Chur.');
  });

  it('streams', async () => {
    const result = await runnerOf(await address()).run(guide, 'one city', { stream: true });
    const texts: string[] = [];
    for await (const text of result.toTextStream()) texts.push(text);
    await result.completed;
    expect(texts.join('')).toBe('Wait.It is rain in Bern.');
    expect(result.finalOutput).toBe('It is rain in Bern.');
  });

  it('hands over to another agent, and both are recorded', async () => {
    const desk = new Agent({
      name: 'Desk',
      instructions: 'Ask the guide.',
      model: 'tiny',
      handoffs: [guide],
    });
    const { outcome, steps, status } = await captured(async (question, at) => {
      const { finalOutput, lastAgent } = await runnerOf(at).run(desk, question);
      return [finalOutput, lastAgent?.name];
    });
    expect(status).toBe('completed');
    expect(outcome).toEqual(['It is {"assistant":"Guide"}, rain in Bern.', 'Guide']);
    expect(steps).toHaveLength(3);
  });

  it('asks for JSON in vain, and a capture says so and goes on', async () => {
    const asking = new Agent({
      ...{ name: 'Clerk', instructions: 'Be brief.', model: 'tiny' },
      outputType: z.object({ city: z.string() }),
    });
    await expect(runnerOf(await address()).run(asking, 'Hi')).rejects.toThrow('decoding is not constrained');
    const { status, steps, notes } = await captured((question, at) =>
      runnerOf(at)
        .run(asking, question)
        .catch(() => 'not JSON'),
    );
    expect(status).toBe('completed');
    expect(steps).toHaveLength(1);
    expect(notes).toEqual([
      expect.stringMatching(/^an agent asked for (text\.format|response_format), which/),
    ]);
  });
});
