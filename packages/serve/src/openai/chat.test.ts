import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { calling, scriptedPolicy, served, weather } from '../served.fixture.ts';

async function client(completions: Parameters<typeof scriptedPolicy>[0]) {
  const { url, token } = await served(scriptedPolicy(completions));
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
}

const messages = [{ role: 'user', content: 'Weather in Bern?' }] as const;

describe("/v1/chat/completions, asked by OpenAI's client", () => {
  it('answers with text, usage and a reason to stop', async () => {
    const openai = await client(['Sunny.']);
    const answer = await openai.chat.completions.create({ model: 'tiny', messages: [...messages] });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'tiny',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Sunny.' } }],
      usage: { completion_tokens: 7 },
    });
  });

  it('streams whole characters', async () => {
    const openai = await client(['Grüezi 🌞!']);
    const stream = await openai.chat.completions.create({
      model: 'tiny',
      messages: [...messages],
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts: string[] = [];
    let usage: unknown;
    for await (const { choices, usage: told } of stream) {
      usage = told ?? usage;
      if (choices[0]?.delta.content) texts.push(choices[0].delta.content);
    }
    expect(texts.join('')).toBe('Grüezi 🌞!');
    expect(texts.join('|')).not.toContain('\uFFFD');
    expect(usage).toMatchObject({ completion_tokens: 14 });
  });

  it('takes calls of tools out of the text, also in a stream, and holds back what may be one', async () => {
    const openai = await client([calling('Bern', 'Let me see. 1 < 2 ')]);
    const request = { model: 'tiny', messages: [...messages], tools: [weather] };
    const whole = await openai.chat.completions.create(request);
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me see. 1 < 2',
        tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
      },
    });
    const stream = openai.chat.completions.stream(request);
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]!.message.content).toBe('Let me see. 1 < 2');
    expect(final.choices[0]!.message.tool_calls?.[0]?.function).toMatchObject({
      name: 'weather',
      arguments: '{"city":"Bern"}',
    });
  });
});
