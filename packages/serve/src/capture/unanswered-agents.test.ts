import { generateText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rlpProvider } from '../ai-sdk.ts';
import { captureRollouts } from '../capture.ts';
import { sampledBy, scriptedPolicy } from '../served.fixture.ts';
import { ask, collect } from './captured.fixture.ts';

const task = { id: 'a', prompt: 'Hi', metadata: undefined };
const messages = [{ role: 'user' as const, content: 'Hi' }];

it.each([
  [
    'with another key',
    { apiKey: 'none' },
    'error: expected the agent to get an answer, but its requests were refused: expected the key of',
  ],
  [
    'for no answers',
    { n: 0 },
    'error: expected the agent to get an answer, but its requests were refused: the request is not valid: n: exp',
  ],
  ['what is too long', { messages: [{ role: 'user' as const, content: 'x'.repeat(5000) }] }, 'tokens: '],
])('says why an agent got no answer that asked %s', async (_, change, ending) => {
  const { apiKey: key, ...asked } = { apiKey: undefined, messages, ...change };
  const rollouts = captureRollouts({
    ...{ policy: scriptedPolicy(['Yes.']), groupSize: 1, transport: 'fetch' },
    run: async (_, { baseURL, apiKey, fetch }) => {
      const client = new OpenAI({ baseURL, apiKey: key ?? apiKey, fetch, maxRetries: 0 });
      await client.chat.completions.create({ model: 'x', ...asked }).catch(() => undefined);
    },
  });
  onTestFinished(() => rollouts.close());
  for await (const { trajectories } of rollouts.collectGroups([task])) {
    const { reason, detail = '' } = trajectories[0]!.termination!;
    expect(`${reason}: ${detail}`).toContain(ending);
  }
  expect.assertions(1);
});

describe('an agent that goes on without an answer', () => {
  const image: OpenAI.ChatCompletionMessageParam = {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'x' } }],
  };
  const long = { role: 'user', content: 'x'.repeat(5000) } as const;

  it('has its refused requests counted, and a note names the last one', async () => {
    const { trajectories, rollouts } = await collect(['hi'], async (_, connection) => {
      await ask(connection, messages);
      for (const message of [image, image, long]) await ask(connection, [message]).catch(() => undefined);
    });
    expect(trajectories[0]).toMatchObject({
      ...{ status: 'completed', metrics: { 'capture/requests': 4, 'capture/unanswered': 3 } },
    });
    expect(rollouts.takeNotes()).toEqual([
      expect.stringMatching(/^an agent went on after a request got an error: the prompt has \d+ tokens/),
    ]);
  });

  it('has them counted if it asks without a server', async () => {
    const { trajectories } = await collect(['hi'], async (_, connection) => {
      const model = rlpProvider(connection)();
      await generateText({ model, prompt: 'Hi' });
      await generateText({ model, prompt: long.content, maxRetries: 0 }).catch(() => undefined);
    });
    expect(trajectories[0]!.metrics).toMatchObject({ 'capture/requests': 2, 'capture/unanswered': 1 });
  });

  it('is told to wait if its request was under way', async () => {
    const { trajectories } = await collect(
      ['hi'],
      async (_, connection) => {
        const late = new Promise((resolve) => setTimeout(resolve, 50));
        await Promise.race([ask(connection, messages).catch(() => undefined), late]);
      },
      { policy: sampledBy(() => new Promise(() => undefined)) },
    );
    expect(trajectories[0]).toMatchObject({
      metrics: { 'capture/requests': 1, 'capture/unanswered': 1 },
      failure: { message: expect.stringMatching(/before its request was answered; let it await/) },
    });
  });
});

describe('a policy that breaks', () => {
  const broken = sampledBy(() => Promise.reject(new TypeError('foo is undefined')));

  it.each(['throws', 'goes on'])('is blamed with its own error if the agent %s', async (kind) => {
    let seen = '';
    const run = async (_: unknown, connection: Parameters<typeof ask>[0]) => {
      await ask(connection, messages).catch((error: Error) => {
        seen = error.message;
        if (kind === 'throws') throw error;
      });
    };
    const { trajectories, rollouts } = await collect(['hi'], run, { policy: broken });
    expect(trajectories[0]!.failure).toMatchObject({
      ...{ boundary: 'sampler', message: expect.stringContaining('foo is undefined, at ') },
    });
    expect((rollouts.lastError as Error).cause).toBeInstanceOf(TypeError);
    expect(seen).toBe('500 the server failed; see its log');
  });

  it('is named in a note if it answered before', async () => {
    let times = 0;
    const policy = scriptedPolicy(['hi']);
    const sampled = sampledBy((request) => (times++ === 0 ? policy : broken).sample(request));
    const run = async (_: unknown, connection: Parameters<typeof ask>[0]) => {
      await ask(connection, messages);
      await ask(connection, messages).catch(() => undefined);
    };
    const { rollouts, trajectories } = await collect(['hi'], run, { policy: sampled });
    expect(trajectories[0]!.status).toBe('completed');
    expect(rollouts.takeNotes()).toEqual([expect.stringContaining('got an error: foo is undefined, at ')]);
  });

  it('is not blamed for a chat format that breaks, which is named', async () => {
    const chat = {
      render: () => {
        throw new RangeError('no such role');
      },
    };
    const run = async (_: unknown, connection: Parameters<typeof ask>[0]) =>
      void (await ask(connection, messages));
    const { trajectories } = await collect(['hi'], run, { chat });
    expect(trajectories[0]!.failure).toMatchObject({
      boundary: 'environment',
      message: expect.stringMatching(
        /the agent threw: 500 the server.*, after a request failed: no such role, at/,
      ),
    });
  });
});
