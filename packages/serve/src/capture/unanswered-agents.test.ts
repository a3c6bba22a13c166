import OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { captureRollouts } from '../capture.ts';
import { scriptedPolicy } from '../served.fixture.ts';

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
