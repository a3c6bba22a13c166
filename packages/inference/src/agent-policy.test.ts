import { ArgumentError, SamplerError } from '@rlp/core';
import type { Fetch } from '@rlp/http/client';
import { describe, expect, it, vi } from 'vitest';
import { scriptedAgentPolicy } from './index.ts';
import { chatAgentPolicy } from './openai.ts';

describe('scriptedAgentPolicy', () => {
  it('decides in order, and rejects once the script is over', async () => {
    const policy = scriptedAgentPolicy(['hello', { type: 'terminate' }]);
    expect(await policy.getAction('?')).toEqual({
      action: { type: 'text', content: 'hello' },
      rawOutput: 'hello',
    });
    expect(await policy.getAction('?')).toEqual({ action: { type: 'terminate' } });
    await expect(policy.getAction('?')).rejects.toThrow(
      'expected at most 2 decisions, was asked for another',
    );
  });

  it('makes no decision once aborted', async () => {
    const policy = scriptedAgentPolicy(['hello']);
    const aborted = policy.getAction('?', [], { signal: AbortSignal.abort('enough') });
    await expect(aborted).rejects.toBe('enough');
    expect((await policy.getAction('?')).rawOutput).toBe('hello');
  });
});

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

/** A server that answers every request with `answer`, and the requests it got. */
function server(answer: unknown, status = 200) {
  const sent: Sent[] = [];
  const fetch: Fetch = async (url, { headers, body = '' }) => {
    sent.push({ url, headers: { ...headers }, body: JSON.parse(body) as Record<string, unknown> });
    const text = async () => (typeof answer === 'string' ? answer : JSON.stringify(answer));
    return { status, headers: { get: () => null }, text };
  };
  return { fetch, sent };
}

const saying = (message: unknown) => ({ choices: [{ message }] });
const calling = (name: string) =>
  saying({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: '{"q":1}' } }],
  });
const at = { url: 'http://localhost:8000/v1/', model: 'small' };

describe('chatAgentPolicy', () => {
  it('asks the chat endpoint, and says what it answers', async () => {
    const { fetch, sent } = server(saying({ role: 'assistant', content: 'Hi.', tool_calls: null }));
    const policy = chatAgentPolicy({ ...at, fetch, token: 'k', maxTokens: 9, temperature: 0 });
    const tools = [{ type: 'function', function: { name: 'find' } }];
    expect(await policy.getAction('Hello', tools)).toEqual({
      action: { type: 'text', content: 'Hi.' },
      rawOutput: 'Hi.',
    });
    await policy.getAction([{ role: 'system', content: 'Be brief.' }], []);
    expect(sent[0]).toEqual({
      url: 'http://localhost:8000/v1/chat/completions',
      headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
      body: {
        model: 'small',
        messages: [{ role: 'user', content: 'Hello' }],
        tools,
        max_tokens: 9,
        temperature: 0,
      },
    });
    expect(sent[1]?.body).toMatchObject({ messages: [{ role: 'system', content: 'Be brief.' }] });
    expect(sent[1]?.body).not.toHaveProperty('tools');
  });

  it('calls tools, one of which may end the episode', async () => {
    const decide = async (name: string) => {
      const { fetch } = server(calling(name));
      return (await chatAgentPolicy({ ...at, fetch, terminateTool: 'finish' }).getAction('?')).action;
    };
    expect(await decide('find')).toEqual({ type: 'tool_call', name: 'find', arguments: '{"q":1}' });
    expect(await decide('finish')).toEqual({ type: 'terminate' });
  });

  it.each([
    ['an error', { error: 'busy' }, 503, 'got 503 ("busy"); see the log of the server'],
    ['no JSON', 'oops', 200, 'expected JSON, got 4 characters'],
    ['no choice', { choices: [] }, 200, 'expected a chat completion, got another body'],
  ])('rejects with a SamplerError for %s', async (_, answer, status, message) => {
    const { fetch } = server(answer, status);
    const asked = chatAgentPolicy({ ...at, fetch, attempts: 1 }).getAction('?');
    await expect(asked).rejects.toThrow(SamplerError);
    await expect(asked).rejects.toThrow('http://localhost:8000/v1');
    await expect(asked).rejects.toThrow(message);
  });

  const message = { role: 'assistant', content: null };
  const cut = [{ id: 'c', type: 'function', function: { name: 'find', arguments: '{"q":' } }];
  it.each([
    ['a refusal', { message: { ...message, refusal: 'I cannot.' } }, 'the model refused: I cannot.'],
    ['a filtered answer', { message, finish_reason: 'content_filter' }, 'the content filter of the server'],
    [
      'half a tool call',
      { message: { ...message, tool_calls: cut }, finish_reason: 'length' },
      'raise `maxTokens`',
    ],
    ['thoughts without an end', { message, finish_reason: 'length' }, 'raise `maxTokens`'],
    ['a failure with status 200', undefined, 'got a failure ("engine dead"); see the log of the server'],
  ])('takes no action from %s', async (_, choice, problem) => {
    const { fetch } = server(choice ? { choices: [choice] } : { error: { message: 'engine dead' } });
    const asked = chatAgentPolicy({ ...at, fetch }).getAction('?');
    await expect(asked).rejects.toThrow(SamplerError);
    await expect(asked).rejects.toThrow(problem);
  });

  it('takes text that was cut, and a whole tool call before the end', async () => {
    const decide = async (message: object) => {
      const { fetch } = server({ choices: [{ message, finish_reason: 'length' }] });
      return (await chatAgentPolicy({ ...at, fetch }).getAction('?')).action;
    };
    expect(await decide({ content: 'Once upon' })).toEqual({ type: 'text', content: 'Once upon' });
    expect(await decide(calling('find').choices[0]!.message as object)).toMatchObject({ name: 'find' });
  });

  it('gives up at its deadline and once aborted, and tells the request', async () => {
    const signals: AbortSignal[] = [];
    const fetch: Fetch = (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    await expect(chatAgentPolicy({ ...at, fetch, timeoutMs: 5, attempts: 1 }).getAction('?')).rejects.toThrow(
      'no answer within 5 ms',
    );
    const stop = new AbortController();
    const asked = chatAgentPolicy({ ...at, fetch }).getAction('?', [], { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('refuses observations that it cannot show', async () => {
    const { fetch } = server(saying({ content: '' }));
    await expect(chatAgentPolicy({ ...at, fetch }).getAction({ board: 1 })).rejects.toThrow(ArgumentError);
  });

  it('names itself in errors of options, of observations and of a platform without fetch', async () => {
    const { fetch } = server(saying({ content: '' }));
    expect(() => chatAgentPolicy({ ...at, fetch, maxTokens: 0, turns: 3 } as never)).toThrow(
      /^chatAgentPolicy: invalid options[\s\S]*maxTokens[\s\S]*turns/,
    );
    await expect(chatAgentPolicy({ ...at, fetch }).getAction([])).rejects.toThrow(
      'chatAgentPolicy: expected text or messages as the observation',
    );
    vi.stubGlobal('fetch', undefined);
    expect(() => chatAgentPolicy(at)).toThrow('chatAgentPolicy: this platform lacks fetch; pass one');
    vi.unstubAllGlobals();
    const failing = chatAgentPolicy({ ...at, fetch: server({}, 500).fetch, attempts: 1 });
    await expect(failing.getAction('?')).rejects.toThrow(/^chatAgentPolicy: /);
  });

  it('asks again after an error of the server, offers no tools by default, and passes the reason of a signal on', async () => {
    let failures = 1;
    const good = server(saying({ content: null }));
    const fetch: Fetch = (...request) => (failures-- > 0 ? server({}, 503).fetch : good.fetch)(...request);
    const policy = chatAgentPolicy({ ...at, fetch, backoff: { firstMs: 1, longestMs: 1 } });
    expect(await policy.getAction('?')).toEqual({ action: { type: 'text', content: '' }, rawOutput: '' });
    expect(good.sent[0]!.body).toEqual({ model: 'small', messages: [{ role: 'user', content: '?' }] });
    const reason = new Error('enough');
    const stop = new AbortController();
    const waiting = chatAgentPolicy({ ...at, fetch: () => new Promise(() => undefined) });
    const asked = waiting.getAction('?', [], { signal: stop.signal });
    stop.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await expect(waiting.getAction('?', [], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
