import { expect, it } from 'vitest';
import { tokenFluency } from './fluency-scorer.ts';

it('is the exponential of the mean negative logprob of the response', async () => {
  const asked: unknown[] = [];
  const fluency = tokenFluency({
    tokenizer: { encode: (text) => Array.from(text, (char) => char.charCodeAt(0)) },
    scorer: {
      async scoreTokens(requests) {
        asked.push(...requests);
        return requests.map(({ completion }) => ({
          logprobs: Float32Array.from(completion, (_, t) => (t % 2 === 0 ? -1 : -3)),
          entropies: new Float32Array(completion.length),
        }));
      },
    },
  });
  const perplexities = await fluency.perplexities([
    { prompt: 'p', response: 'ab' },
    { prompt: 'p', response: '' },
    { prompt: '', response: 'c' },
  ]);
  expect(perplexities).toEqual([expect.closeTo(Math.exp(2), 5), null, expect.closeTo(Math.E, 5)]);
  expect(asked).toEqual([
    { prompt: [112], completion: [97, 98] },
    { prompt: [], completion: [99] },
  ]);
});
