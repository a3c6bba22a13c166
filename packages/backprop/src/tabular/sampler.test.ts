import { RandomStream } from '@rlp/core';
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
    const { backend, sampler } = create();
    const publication = await create().backend.publish({ as: 'shared' });
    await expect(sampler.updateWeights(publication)).rejects.toThrow('expected version 0 of store');
    const own = { ...(await backend.publish({ as: 'shared' })), version: 9 };
    await expect(sampler.updateWeights(own)).rejects.toThrow(
      `updateWeights: expected version 1 of store "${backend.store}", got version 9 of store "${backend.store}"`,
    );
    const elsewhere = { kind: 'shared', version: 1, engine: {}, store: 'x' } as const;
    await expect(sampler.updateWeights(elsewhere)).rejects.toThrow('got version 1 of store "x"');
    const files = { kind: 'checkpoint', version: 1, path: '/weights/1', engine: backend } as const;
    await expect(sampler.updateWeights(files)).rejects.toThrow('got version 1 of /weights/1');
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
    const one = { ...request, count: 1, maxTokens: 40, seed: 'text 38' };
    const [free] = await sampler.sample(one);
    const needle = free!.text.slice(3, 5);
    expect(needle).toBe('ca');
    const stops = { stopStrings: ['never there', needle] };
    const [stopped] = await sampler.sample({ ...one, ...stops });
    const at = free!.text.indexOf(needle);
    expect(stopped).toMatchObject({ text: free!.text.slice(0, at), stopReason: 'stop' });
    expect(stopped!.tokens).toEqual(free!.tokens.slice(0, at + 2));
  });

  it('cuts its text before the stop string that comes first, also at its beginning', async () => {
    const tokenizer = characterTokenizer('abcd', { end: '.' });
    const backend = new TabularBackend({ vocabularySize: 5, initialScale: 1 });
    const sampler = new TabularSampler({ backend, tokenizer });
    // Says "dbca".
    const one = { ...request, count: 1, maxTokens: 40, seed: 'text 36' };
    const { text } = (await sampler.sample(one))[0]!;
    const sampled = async (stopStrings: readonly string[]) =>
      (await sampler.sample({ ...one, stopStrings }))[0]!;
    // Both end with the same token.
    const [long, short] = [text.slice(1, 4), text.slice(2, 4)];
    expect(text.indexOf(short)).toBe(2);
    for (const stops of [
      [long, short],
      [short, long],
    ]) {
      expect(await sampled(stops)).toMatchObject({ text: text.slice(0, 1), tokens: { length: 4 } });
    }
    expect(await sampled([text.slice(0, 2)])).toMatchObject({
      text: '',
      stopReason: 'stop',
      tokens: { length: 2 },
    });
    expect(await sampled(['never there'])).toMatchObject({ text });
  });

  it('draws the first token whose sum of probabilities is above its number', async () => {
    const { backend, sampler } = create();
    const seeds = Array.from({ length: 40 }, (_, at) => `seed ${at}`);
    for (const seed of seeds) {
      const [completion] = await sampler.sample({ ...request, count: 1, maxTokens: 2, seed });
      const { tokens } = completion!;
      for (const [t, token] of tokens.entries()) {
        const { logprobs } = backend.table.distribution(backend.table.rowOf([[1, ...tokens][t]!], 1), 1);
        const uniform = RandomStream.named(seed, 0).at(t);
        const below = logprobs.slice(0, token).reduce((sum, logprob) => sum + Math.exp(logprob), 0);
        expect(below).toBeLessThanOrEqual(uniform + 1e-12);
        expect(below + Math.exp(logprobs[token]!)).toBeGreaterThan(uniform - 1e-12);
      }
    }
  });

  it('refuses what nothing can be sampled or scored from, and what was aborted', async () => {
    const { backend, sampler } = create();
    await expect(sampler.sample({ ...request, prompt: [] })).rejects.toThrow(
      'sample: the prompt must hold a token, got none',
    );
    await expect(sampler.sample({ ...request, prompt: [5] })).rejects.toThrow(
      'sample: prompt: token 5 at position 0 is outside the vocabulary of 5; expected a tokenizer of at most',
    );
    await expect(sampler.scoreTokens([{ prompt: [], completion: [1] }])).rejects.toThrow(
      'scoreTokens: the prompt must hold a token, got none',
    );
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(sampler.sample({ ...request, signal })).rejects.toThrow('enough');
    await expect(sampler.scoreTokens([], { signal })).rejects.toThrow('enough');
    const publication = await backend.publish({ as: 'shared' });
    await expect(sampler.updateWeights(publication, signal)).rejects.toThrow('enough');
    expect(sampler.policyVersion).toBe(0);
  });

  it('scores at a temperature, the first token of the completion first', async () => {
    const { backend, sampler } = create();
    const [scores] = await sampler.scoreTokens([{ prompt: [1, 2], completion: [3, 0] }], { temperature: 2 });
    const [expected] = await backend.logprobs([[1, 2, 3, 0]], { temperature: 2 });
    expect(scores).toEqual({
      logprobs: expected!.logprobs.slice(2),
      entropies: expected!.entropies.slice(2),
    });
    const [plain] = await sampler.scoreTokens([{ prompt: [1, 2], completion: [3, 0] }]);
    expect(plain!.logprobs).toEqual((await backend.logprobs([[1, 2, 3, 0]]))[0]!.logprobs.slice(2));
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
