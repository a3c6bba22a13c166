import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { TabularBackend } from './backend.ts';
import { TabularSampler } from './sampler.ts';

const create = () => {
  const backend = new TabularBackend({ vocabularySize: 5, contextTokens: 1, initialScale: 1 });
  return { backend, sampler: new TabularSampler({ backend }) };
};
const request = { prompt: [1], count: 4, maxTokens: 6, seed: 'test' };

describe('TabularSampler', () => {
  it('reports the logprobs that the backend recomputes', async () => {
    const { backend, sampler } = create();
    for (const { tokens, behaviorLogprobs } of await sampler.sample({ ...request, temperature: 0.8 })) {
      const [scores] = await backend.logprobs([[1, ...tokens]], { temperature: 0.8 });
      expect([...scores!.logprobs.slice(1)]).toEqual([...Float32Array.from(behaviorLogprobs)]);
    }
  });

  it('names what it lacks and what it does not know', () => {
    expect(() => new TabularSampler({ backnd: 1 } as never)).toThrow(
      /backend: must be a TabularBackend[\s\S]*"backnd"; did you mean backend\?/,
    );
  });

  it.each([{ topK: 3 }, { topP: 0.9 }, { minP: 0.1 }, { repetitionPenalty: 2 }])(
    'refuses %o, which a table does not filter by',
    async (filter) => {
      const { sampler } = create();
      await expect(sampler.sample({ ...request, ...filter })).rejects.toThrow(
        'topK, topP, minP and repetitionPenalty are not supported; leave them out',
      );
    },
  );

  it('says what it samples from, and reports tokens as they are drawn', async () => {
    const { backend, sampler } = create();
    expect([sampler.shares, sampler.vocabularySize, sampler.tokenizer]).toEqual([
      backend.shares,
      5,
      undefined,
    ]);
    const reported: unknown[] = [];
    const onToken = (event: unknown) => reported.push(event);
    const [greedy] = await sampler.sample({ ...request, count: 1, temperature: 0, onToken });
    let last = 1;
    for (const [t, token] of greedy!.tokens.entries()) {
      const { logprobs } = backend.table.distribution(backend.table.rowOf([last], 1), 1);
      const most = Math.max(...logprobs);
      expect(token).toBe(logprobs.indexOf(most));
      expect(reported[t]).toEqual({ member: 0, token, logprob: most });
      last = token;
    }
    expect(greedy!.text).toBe('');
  });

  it('draws a member alike whatever the count', async () => {
    const { sampler } = create();
    const [first] = await sampler.sample({ ...request, count: 1 });
    const many = await sampler.sample(request);
    expect(many[0]).toEqual(first);
    expect(new Set(many.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1);
  });

  it('samples at the frequencies of its distribution', async () => {
    const { backend, sampler } = create();
    const count = 5_000;
    const completions = await sampler.sample({ ...request, count, maxTokens: 1 });
    const { logprobs } = backend.table.distribution(backend.table.rowOf([1], 1), 1);
    for (const [token, logprob] of logprobs.entries()) {
      const frequency = completions.filter(({ tokens }) => tokens[0] === token).length / count;
      // Five standard errors. Fails by chance once in a million.
      expect(Math.abs(frequency - Math.exp(logprob))).toBeLessThan(5 * Math.sqrt(0.25 / count));
    }
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %s for a number of completions or tokens', async (wrong) => {
    const { sampler } = create();
    await expect(sampler.sample({ ...request, count: wrong })).rejects.toThrow('count must be a positive');
    await expect(sampler.sample({ ...request, maxTokens: wrong })).rejects.toThrow('maxTokens must be');
  });

  it('keeps its weights until it takes over a publication', async () => {
    const { backend, sampler } = create();
    const before = await sampler.sample(request);
    const tensor = (await backend.getWeights()).get('logits')!;
    await backend.loadWeights(new Map([['logits', { ...tensor, data: tensor.data.map((x) => -3 * x) }]]));
    const publication = await backend.publish({ as: 'shared' });
    expect(await sampler.sample(request)).toEqual(before);
    expect(await sampler.updateWeights(publication)).toBe(1);
    expect(sampler.policyVersion).toBe(1);
    expect(await sampler.sample(request)).not.toEqual(before);
  });

  it('refuses a publication of another store and keeps its weights', async () => {
    const { sampler } = create();
    const publication = await create().backend.publish({ as: 'shared' });
    await expect(sampler.updateWeights(publication)).rejects.toThrow('expected version 0 of store');
    expect(sampler.policyVersion).toBe(0);
  });

  it('takes the most likely token at temperature 0, and ends at stop tokens', async () => {
    const { backend, sampler } = create();
    const [greedy] = await sampler.sample({ ...request, temperature: 0, count: 1, maxTokens: 1 });
    const { logprobs } = backend.table.distribution(backend.table.rowOf([1], 1), 1);
    expect(logprobs[greedy!.tokens[0]!]).toBe(Math.max(...logprobs));
    const stopped = await sampler.sample({ ...request, stopTokens: [0, 1, 2, 3, 4] });
    expect(stopped.map(({ tokens, stopReason }) => [tokens.length, stopReason])).toEqual(
      Array.from({ length: 4 }, () => [1, 'stop']),
    );
  });

  it('ends at the first stop string, which is not part of the text', async () => {
    const tokenizer = characterTokenizer('abcd', { end: '.' });
    const backend = new TabularBackend({ vocabularySize: 5, initialScale: 1 });
    const sampler = new TabularSampler({ backend, tokenizer });
    const [free] = await sampler.sample({ ...request, count: 1, maxTokens: 40 });
    const needle = free!.text.slice(3, 5);
    const stops = { stopStrings: ['never there', needle] };
    const [stopped] = await sampler.sample({ ...request, count: 1, maxTokens: 40, ...stops });
    const at = free!.text.indexOf(needle);
    expect(stopped).toMatchObject({ text: free!.text.slice(0, at), stopReason: 'stop' });
    expect(stopped!.tokens).toEqual(free!.tokens.slice(0, at + 2));
  });

  it('ends at the end token, which is not part of the text', async () => {
    const tokenizer = characterTokenizer('abcd', { end: '.' });
    const backend = new TabularBackend({ vocabularySize: 5 });
    const sampler = new TabularSampler({ backend, tokenizer });
    const completions = await sampler.sample({ ...request, count: 20, maxTokens: 100 });
    for (const { tokens, text, stopReason } of completions) {
      expect(stopReason).toBe('stop');
      expect(tokens.indexOf(tokenizer.eosIds[0]!)).toBe(tokens.length - 1);
      expect(text).toBe(tokenizer.decode(tokens.slice(0, -1)));
    }
  });

  it.each([{ topK: 2 }, { topP: 0.9 }, { minP: 0.1 }, { repetitionPenalty: 1.2 }])(
    'refuses %j, which it cannot do',
    async (filter) => {
      await expect(create().sampler.sample({ ...request, ...filter })).rejects.toThrow('are not supported');
    },
  );

  it('takes filters that filter nothing', async () => {
    const { sampler } = create();
    const filters = { topK: 0, topP: 1, minP: 0, repetitionPenalty: 1 };
    expect(await sampler.sample({ ...request, ...filters })).toEqual(await sampler.sample(request));
  });

  it('needs a token to continue from', async () => {
    const { sampler } = create();
    await expect(sampler.sample({ ...request, prompt: [] })).rejects.toThrow('the prompt must hold a token');
    const scored = sampler.scoreTokens([{ prompt: [], completion: [1] }]);
    await expect(scored).rejects.toThrow('the prompt must hold a token');
  });
});
