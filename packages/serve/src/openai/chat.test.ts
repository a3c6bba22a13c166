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

describe('what the model would not see', () => {
  const turns = [...messages, { role: 'assistant', content: null }];
  const called = { name: 'weather', arguments: '{}' };
  it.each([
    [{ functions: [weather.function] }, 'functions: is not read here; send tools'],
    [{ function_call: 'auto' }, 'function_call: is not read here; send tool_choice'],
    [
      { messages: [...messages, { role: 'assistant', content: null, function_call: called }] },
      'messages.1.function_call: is not read here; send tool_calls, and answer them with role "tool"',
    ],
    [
      { messages: [...messages, { role: 'assistant', audio: { id: 'a' } }] },
      'messages.1.audio: is not read here; send its text as content',
    ],
    [{ documents: [{ text: 'a' }] }, 'documents: is not read here'],
    [
      { continue_final_message: true },
      'continue_final_message: is not read here; an answer is always a new turn',
    ],
    [{ add_generation_prompt: false }, 'add_generation_prompt: is not read here'],
    [
      { chat_template_kwargs: { messages: [] } },
      'chat_template_kwargs: must not hold messages, tools, add_generation_prompt; send them as fields',
    ],
  ])('is refused with what to do: %j', async (body, problem) => {
    const openai = await client(['a']);
    const asked = openai.chat.completions.create({ model: 'tiny', messages, ...body } as never);
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining(problem) });
  });

  it('is not refused if it is empty or changes nothing', async () => {
    const usual = {
      functions: [],
      function_call: null,
      continue_final_message: false,
      add_generation_prompt: true,
    };
    const body = {
      model: 'tiny',
      ...usual,
      messages: [...turns, ...messages],
      chat_template_kwargs: { thinking: false },
    };
    const openai = await client(['a']);
    const { choices } = await openai.chat.completions.create(body as never);
    expect(choices[0]!.message.content).toBe('a');
  });

  it('holds no refusal: the model reads it', async () => {
    const openai = await client(({ text }) =>
      text.includes('<|assistant|>I cannot.<|end|>') ? 'seen' : 'lost',
    );
    const refused = { role: 'assistant', content: null, refusal: 'I cannot.' } as const;
    const asked = { model: 'tiny', messages: [...messages, refused, ...messages] };
    const { choices } = await openai.chat.completions.create(asked);
    expect(choices[0]!.message.content).toBe('seen');
  });
});
