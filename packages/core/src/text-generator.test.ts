import { expect, it } from 'vitest';
import type { Message } from './message.ts';
import type { SampleRequest, Sampler } from './sampler.ts';
import { samplerGenerator } from './text-generator.ts';
import type { ChatRenderer } from './tokenizer.ts';

it('samples one completion of the rendered conversation, and returns its text', async () => {
  const requests: SampleRequest[] = [];
  const sampler = {
    sample: async (request: SampleRequest) => {
      requests.push(request);
      return [{ text: 'Bern' }];
    },
  } as unknown as Sampler;
  const renderer = {
    render: (messages: readonly Message[]) => messages.map(({ content }) => String(content).length),
  } as unknown as ChatRenderer;
  const generate = samplerGenerator({ sampler, renderer, maxTokens: 7, temperature: 0.5 });
  const { signal } = new AbortController();
  expect(await generate([{ role: 'user', content: 'Where?' }], { seed: 'a', signal })).toBe('Bern');
  expect(requests).toEqual([{ prompt: [6], count: 1, maxTokens: 7, temperature: 0.5, seed: 'a', signal }]);
});
