import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';

import { scriptedBackend } from './scripted-backend.ts';

const tokenizer = characterTokenizer('abcdefghijklmnopqrstuvwxyz .', { begin: '<s>', end: '</s>' });
const prompt = tokenizer.encode('once');
const request = { prompt, count: 1, maxTokens: 40, seed: 's' };

const create = () => scriptedBackend({ tokenizer, completions: ['upon a time'], contextLength: 64 });

describeSampler('scriptedBackend', {
  create,
  prompt,
  tooLongPrompt: Array.from({ length: 64 }, () => prompt[1]!),
  randomness: 'scripted',
});

describeTokenScorer('scriptedBackend', {
  create,
  vocabularySize: tokenizer.vocabularySize,
  requests: [
    { prompt, completion: tokenizer.encode('upon', { specialTokens: 'none' }) },
    { prompt: prompt.slice(0, 2), completion: tokenizer.encode('a time', { specialTokens: 'none' }) },
  ],
});

describeInferenceEngine('scriptedBackend', {
  create,
  prompt,
  publication: (version) => ({ kind: 'shared', version, engine: {}, store: 'policy' }),
});

describe('scriptedBackend', () => {
  it('replays completions in order, forever', async () => {
    const backend = scriptedBackend({ tokenizer, completions: ['one', 'two'] });
    const completions = await backend.sample({ ...request, count: 3 });
    expect(completions.map(({ text }) => text)).toEqual(['one', 'two', 'one']);
    expect(completions[0]).toMatchObject({ stopReason: 'stop', tokens: { length: 4 } });
  });

  it('ends a text with the first end token of several', async () => {
    const several = { ...tokenizer, eosIds: [tokenizer.eosIds[0]!, 5] };
    const backend = scriptedBackend({ tokenizer: several, completions: ['one'] });
    const [completion] = await backend.sample({ ...request, stopTokens: [] });
    expect(completion!.tokens).toEqual(tokenizer.encode('one</s>', { specialTokens: 'none' }));
  });

  it('answers as a function of the prompt', async () => {
    const backend = scriptedBackend({
      tokenizer,
      completions: ({ text, member }) => `${text.slice(-2)}${'x'.repeat(member)}`,
    });
    const completions = await backend.sample({ ...request, count: 2 });
    expect(completions.map(({ text }) => text)).toEqual(['ce', 'cex']);
  });

  it('replays exact tokens and logprobs', async () => {
    const scripted = { tokens: [5, 6], behaviorLogprobs: [-0.5, -1.25] };
    const [completion] = await scriptedBackend({ tokenizer, completions: [scripted] }).sample(request);
    expect(completion).toMatchObject({ ...scripted, stopReason: 'stop', policyVersion: 0 });
  });

  it('cuts at the budget and before stop strings', async () => {
    const backend = scriptedBackend({ tokenizer, completions: ['upon a time'] });
    const [short] = await backend.sample({ ...request, maxTokens: 4 });
    expect(short).toMatchObject({ text: 'upon', stopReason: 'length' });
    const [stopped] = await backend.sample({ ...request, stopStrings: [' a '] });
    expect(stopped).toMatchObject({ text: 'upon', stopReason: 'stop', tokens: { length: 7 } });
    const narrow = scriptedBackend({ tokenizer, completions: ['upon a time'], contextLength: 8 });
    const [full] = await narrow.sample(request);
    expect(full).toMatchObject({ text: 'upo', stopReason: 'length' });
  });

  it('says which prompts and pairs do not fit', async () => {
    const backend = create();
    const [bos] = [tokenizer.bosId];
    await expect(backend.sample({ ...request, prompt: [] })).rejects.toThrow(
      `begin it with the bos token ${bos}`,
    );
    const plain = characterTokenizer('abc', { end: '</s>' });
    const without = scriptedBackend({ tokenizer: plain, completions: ['a'] });
    await expect(without.sample({ ...request, prompt: [] })).rejects.toThrow(
      'begin it with at least one token',
    );
    const pair = (length: number) => ({ prompt: [5, 6], completion: new Array<number>(length).fill(7) });
    expect(await backend.scoreTokens([pair(62)])).toHaveLength(1);
    await expect(backend.scoreTokens([pair(63)])).rejects.toThrow(
      'have 65 tokens together, but the context holds 64',
    );
  });

  it('names every problem of its options at once', () => {
    expect(() =>
      scriptedBackend({
        tokenizer,
        completions: [{ tokens: [1], behaviorLogprobs: [1, -1] }],
        contextLength: 1,
      }),
    ).toThrow(/completions\.0[\s\S]*contextLength/);
    for (const other of ['a tokenizer', null]) {
      expect(() => scriptedBackend({ tokenizer: other as never, completions: ['x'] })).toThrow(
        /scriptedBackend: invalid options\s+- tokenizer: must be a tokenizer/,
      );
    }
    for (const completions of ['x', undefined]) {
      expect(() => scriptedBackend({ tokenizer, completions: completions as never })).toThrow(
        'completions: must be a list of completions or a function of the prompt',
      );
    }
  });

  it('says what a function of the prompt gave that is no completion', async () => {
    const backend = scriptedBackend({ tokenizer, completions: () => ({ tokens: [-1] }) });
    await expect(backend.sample(request)).rejects.toThrow(/scriptedBackend: completion: .*tokens/s);
    const uneven = { tokens: [5, 6], behaviorLogprobs: [-1] };
    const short = scriptedBackend({ tokenizer, completions: () => uneven });
    await expect(short.sample(request)).rejects.toThrow('behaviorLogprobs: must hold one logprob per token');
  });

  it('passes the prompt to a function, and reports each token', async () => {
    const known: unknown[] = [];
    const told: unknown[] = [];
    const backend = scriptedBackend({
      tokenizer,
      completions: (given) => {
        known.push(given);
        return { tokens: [5, 6], behaviorLogprobs: [-0.5, -0.25] };
      },
    });
    await backend.sample({ ...request, count: 2, onToken: (event) => told.push(event) });
    const text = '<s>once';
    expect(known).toEqual([0, 1].map((member) => ({ prompt, text, member, seed: 's' })));
    expect(told).toEqual(
      [0, 1].flatMap((member) => [
        { member, token: 5, logprob: -0.5 },
        { member, token: 6, logprob: -0.25 },
      ]),
    );
  });

  it('stops at the end tokens of the model and at those of a request', async () => {
    const backend = scriptedBackend({ tokenizer, completions: ['upon', { tokens: [5, 6, 7, 8] }] });
    expect((await backend.sample({ ...request, maxTokens: 4 }))[0]).toMatchObject({ stopReason: 'length' });
    const [stopped] = await backend.sample({ ...request, maxTokens: 3, stopTokens: [7] });
    expect(stopped).toMatchObject({ stopReason: 'stop', tokens: [5, 6, 7] });
    expect(stopped!.behaviorLogprobs).toEqual([1, 2, 3].map(() => -Math.log(tokenizer.vocabularySize)));
  });

  it('says which publication it took last, and samples and scores nothing once aborted', async () => {
    const backend = create();
    expect(await backend.updateWeights({ kind: 'checkpoint', version: 6, path: 'x' })).toBe(6);
    expect((await backend.sample(request))[0]!.policyVersion).toBe(6);
    const signal = AbortSignal.abort(new Error('enough'));
    const pair = { prompt: [5], completion: [6] };
    const publication = { kind: 'checkpoint', version: 7, path: 'x' } as const;
    await expect(backend.updateWeights(publication, signal)).rejects.toThrow('enough');
    await expect(backend.scoreLogits([pair], { signal })).rejects.toThrow('enough');
    expect(backend.policyVersion).toBe(6);
    await backend.close();
    for (const call of [
      () => backend.scoreTokens([pair]),
      () => backend.scoreLogits([pair]),
      () => backend.updateWeights(publication),
    ]) {
      await expect(call()).rejects.toThrow('scriptedBackend: it has been closed; create another one');
    }
  });

  it('rejects after it has been closed', async () => {
    const backend = create();
    await backend.close();
    await expect(backend.sample(request)).rejects.toThrow('has been closed');
  });
});
