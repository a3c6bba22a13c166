import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { calling, scriptedPolicy, served, weather } from './served.fixture.ts';

/** Calls the tool once, then says what it was told. */
const agent = ({ text }: { readonly text: string }) => {
  const told = /<\|tool\|>(.*?)<\|end\|>/s.exec(text)?.[1];
  return told === undefined ? calling('Bern', 'Let me see. ') : `It is ${told}.`;
};

/** Clients of other people, each made for a server. */
const models: Readonly<Record<string, (at: { url: string; token: string }) => LanguageModel>> = {
  '@ai-sdk/openai-compatible': ({ url, token }) =>
    createOpenAICompatible({ name: 'rlp', baseURL: `${url}/v1`, apiKey: token })('tiny'),
  '@ai-sdk/anthropic': ({ url, token }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: token })('tiny'),
};

describe.each(Object.keys(models))('the AI SDK with %s', (name) => {
  const tools = {
    weather: tool({
      description: 'Weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `rain in ${city}`,
    }),
  };
  const asked = { prompt: 'Weather?', tools, stopWhen: stepCountIs(3), maxRetries: 0, maxOutputTokens: 200 };

  it('runs an agent with a tool', async () => {
    const model = models[name]!(await served(scriptedPolicy(agent)));
    const { text, steps } = await generateText({ ...asked, model });
    expect(text).toBe('It is rain in Bern.');
    expect(steps[0]!.text).toBe('Let me see.');
    expect(steps[0]!.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Bern' } }]);
    expect(steps[1]!.usage.outputTokens).toBe(20);
  });

  it('streams an agent with a tool', async () => {
    const model = models[name]!(await served(scriptedPolicy(agent)));
    const result = streamText({ ...asked, model });
    const texts: string[] = [];
    for await (const text of result.textStream) texts.push(text);
    expect(texts.join('')).toBe('Let me see.It is rain in Bern.');
    expect(texts.length).toBeGreaterThan(5);
    expect(await result.finishReason).toBe('stop');
  });

  it('sees an error in its own words', async () => {
    const { url } = await served(scriptedPolicy(['a']));
    const model = models[name]!({ url, token: 'a wrong token, long enough' });
    await expect(generateText({ ...asked, model })).rejects.toThrow(/expected the token/);
  });
});

describe("OpenAI's client", () => {
  const responseTool = { type: 'function', ...weather.function, strict: false } as const;

  async function openaiFor(...completions: Parameters<typeof scriptedPolicy>) {
    const { url, token } = await served(scriptedPolicy(...completions));
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
  }

  it('runs an agent with a tool by /v1/responses', async () => {
    const openai = await openaiFor(agent);
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Weather?' }];
    const first = await openai.responses.create({ model: 'tiny', input, tools: [responseTool] });
    expect(first.output_text).toBe('Let me see.');
    const call = first.output.find((item) => item.type === 'function_call')!;
    expect(call).toMatchObject({ name: 'weather', arguments: '{"city":"Bern"}' });
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'sun' } as const;
    const next = [...input, ...first.output, output] as OpenAI.Responses.ResponseInput;
    const second = await openai.responses.create({ model: 'tiny', input: next, tools: [responseTool] });
    expect(second).toMatchObject({ output_text: 'It is sun.', status: 'completed' });
    expect(second.usage).toMatchObject({ output_tokens: 11 });
  });

  it('streams /v1/responses to the same response', async () => {
    const openai = await openaiFor(agent);
    const input = [{ role: 'user' as const, content: 'Weather?' }];
    const stream = openai.responses.stream({ model: 'tiny', input, tools: [responseTool] });
    const types: string[] = [];
    for await (const { type } of stream) if (types.at(-1) !== type) types.push(type);
    expect(types).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added'],
      ...['response.content_part.added', 'response.output_text.delta', 'response.output_text.done'],
      ...['response.content_part.done', 'response.output_item.done', 'response.output_item.added'],
      ...['response.function_call_arguments.delta', 'response.function_call_arguments.done'],
      ...['response.output_item.done', 'response.completed'],
    ]);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('Let me see.');
    expect(final.output.at(-1)).toMatchObject({ type: 'function_call', arguments: '{"city":"Bern"}' });
  });

  it('forces a call by the format of the chat template', async () => {
    const openai = await openaiFor(['", "arguments": {"city": "Chur"}}\n</tool_call>']);
    const { choices } = await openai.chat.completions.create({
      model: 'tiny',
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    expect(choices[0]!.message.tool_calls).toMatchObject([
      { function: { name: 'weather', arguments: '{"city":"Chur"}' } },
    ]);
  });

  it('lists the model', async () => {
    const openai = await openaiFor(['a']);
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['tiny']);
    await expect(openai.models.retrieve('other')).rejects.toThrow(/does not exist/);
  });

  it.each([
    [{ model: 'other' }, 404, /"other" does not exist; this server has "tiny"/],
    [{ messages: [] }, 400, /at least one message/],
    [{ temperature: -1 }, 400, /temperature/],
    [{ frequency_penalty: 1 }, 400, /not supported/],
    [{ response_format: { type: 'json_object' as const } }, 400, /decoding is not constrained/],
    [{ tool_choice: 'required' as const }, 400, /expected a tool in tools/],
    [{ messages: [{ role: 'user' as const, content: 'x'.repeat(5000) }] }, 400, /shorten the prompt/],
    [
      {
        messages: [
          { role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url: 'x' } }] },
        ],
      },
      400,
      /expected text/,
    ],
  ])('is told what is wrong with %j', async (change, status, message) => {
    const openai = await openaiFor(['a']);
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const asking = openai.chat.completions.create({ model: 'tiny', messages, ...change });
    await expect(asking).rejects.toThrow(message);
    await expect(asking).rejects.toMatchObject({ status });
  });
});

describe('curl', () => {
  it('completes a prompt and reads a stream', async () => {
    const { url, token } = await served(scriptedPolicy(['Yes.']));
    const curl = async (...args: string[]) => {
      const head = ['-s', '-H', `authorization: Bearer ${token}`, '-H', 'content-type: application/json'];
      return (await promisify(execFile)('curl', [...head, ...args])).stdout;
    };
    const asked = (more: object) => JSON.stringify({ model: 'tiny', prompt: 'Well?', ...more });
    const answer = await curl(`${url}/v1/completions`, '-d', asked({ logprobs: 0, return_token_ids: true }));
    expect(JSON.parse(answer).choices[0]).toMatchObject({
      ...{ text: 'Yes.', finish_reason: 'stop' },
    });
    const stream = await curl('-N', `${url}/v1/completions`, '-d', asked({ stream: true }));
    expect(stream).toMatch(/^data: \{"id".*"text":"Y"/);
    expect(stream).toMatch(/data: \[DONE\]\n\n$/);
    expect(await curl(`${url}/health`, '-w', '%{http_code}')).toBe('200');
    expect(await curl(`${url}/v1/nothing`)).toContain('there is no GET /v1/nothing here');
  });
});
