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
  });

  it('rejects after it has been closed', async () => {
    const backend = create();
    await backend.close();
    await expect(backend.sample(request)).rejects.toThrow('has been closed');
  });
});
