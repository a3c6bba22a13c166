import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';
import { expect, it } from 'vitest';
import { ask, collect } from './captured.fixture.ts';

it('gives a reward the text of a result of the AI SDK', async () => {
  const { trajectories, rollouts } = await collect(['42'], ({ prompt }, { baseURL, apiKey, fetch }) => {
    const provider = createOpenAICompatible({ name: 'rlp', baseURL, apiKey, fetch });
    return generateText({ model: provider('x'), prompt: String(prompt) });
  });
  expect(trajectories[0]).toMatchObject({
    status: 'completed',
    outcome: { text: '42', finishReason: 'stop' },
  });
  expect(rollouts.takeNotes()).toEqual([expect.stringContaining('timestamp is a Date and becomes text')]);
});

it('gives a reward the message of an error that an agent returns, without its key', async () => {
  const { trajectories, rollouts } = await collect(['hi'], async (_, connection) => {
    await ask(connection, [{ role: 'user', content: 'go' }]);
    return new Error(`no such tool for ${connection.apiKey}`);
  });
  const outcome = { name: 'Error', message: 'no such tool for [key]' };
  expect(trajectories[0]).toMatchObject({ status: 'completed', outcome });
  expect(rollouts.takeNotes()).toEqual([]);
});
