import type { Message } from '@rlp/core';
import { ConversationEnvironment, SimpleTextEnvironment } from '@rlp/env';
import { characterTokenizer, type LanguageModel } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import type { PreparedRun } from '../prepare.ts';
import { longest, longestAnswers, longestPairs } from './largest-update.ts';

const side = (length: number) => ({
  tokens: new Array<number>(length).fill(length),
  mask: new Uint8Array(length).fill(1),
});

describe('the largest update', () => {
  it('has the longest of what a stage learns from', () => {
    expect(longest([3, 1, 4, 1, 5], 2, (item) => item)).toEqual([5, 4]);
    expect(longest([3], 2, (item) => item)).toEqual([3]);
  });

  it('has both sides of the longest pairs, in one row', () => {
    const pairs = [2, 9, 5].map((length) => ({ chosen: side(length), rejected: side(10 - length) }));
    const { sequences, sequencesPerRow } = longestPairs(pairs, { pairsPerBatch: 2 });
    expect(sequences.map(({ tokens }) => tokens.length)).toEqual([9, 1, 2, 8]);
    expect(sequencesPerRow).toBe(2);
  });

  const prompts = (texts: readonly string[], change: object = {}) =>
    ({
      environment: new SimpleTextEnvironment(),
      rows: { practised: texts.map((prompt, at) => ({ id: `${at}`, prompt, metadata: {} })) },
      given: {},
      ...change,
    }) as unknown as PreparedRun;
  const model = {
    tokenizer: characterTokenizer('abc', { begin: '<s>', end: '.' }),
    chat: undefined,
    config: { contextLength: 12 },
  } as unknown as LanguageModel;
  const masks = ({ sequences }: ReturnType<typeof longestAnswers>) =>
    sequences.map(({ mask }) => Array.from(mask).join(''));
  const asked = { tasks: 2, rollout: { groupSize: 2, sampling: { maxTokens: 3 } } };

  it('has answers to the longest prompts of the rows, which those to a task share', () => {
    const update = longestAnswers(prompts(['a', 'abc', 'ab', 'a']), model, asked);
    expect(masks(update)).toEqual(['0000111', '000111', '0000111', '000111']);
    const parts = update.sequences.map(({ tokens }) => [tokens.slice(0, 3).join(), tokens.slice(-3).join()]);
    expect(new Set(parts.map(([prompt]) => prompt)).size).toBe(2);
    expect(new Set(parts.map(([, answer]) => answer)).size).toBe(4);
    expect(update.sampled).toBe(4);
  });

  it('leaves prompts out that fill the context, or that the tokenizer refuses', () => {
    const texts = ['abcabcabcabc', 'a+b+c', 'abcabcabca'];
    expect(masks(longestAnswers(prompts(texts), model, asked))[0]).toBe('000000000001');
    const sampler = { contextLength: 5 };
    const narrow = prompts([...texts, 'ab'], { given: { sampler } });
    expect(masks(longestAnswers(narrow, model, asked))[0]).toBe('00011');
  });

  it('counts the tokens of few prompts that fill the context', () => {
    let counted = 0;
    const encode = (text: string) => {
      counted++;
      return model.tokenizer.encode(text);
    };
    const counting = { ...model, tokenizer: { encode } } as unknown as LanguageModel;
    const texts = [...new Array<string>(1000).fill('abcabcabcabc'), 'a'];
    expect(masks(longestAnswers(prompts(texts), counting, asked))[0]).toBe('000000000001');
    expect(counted).toBeLessThan(100);
  });

  it('has the answers of one of the minibatches, of all that are sampled', () => {
    const { sequences, sampled } = longestAnswers(prompts(['a']), model, { ...asked, minibatches: 3 });
    expect([sequences.length, sampled]).toEqual([2, 4]);
  });

  it('takes prompts of a chat as its template writes them', () => {
    const chat = { render: (messages: readonly Message[]) => messages.flatMap(() => [0, 0]) } as unknown;
    const environment = new ConversationEnvironment({ systemPrompt: 'b' });
    const update = longestAnswers(
      prompts(['a'], { environment }),
      { ...model, chat } as LanguageModel,
      asked,
    );
    expect(masks(update)[0]).toBe('0000111');
  });

  it('takes prompts that an agent writes to be as long as answers, within the context', () => {
    const agent = prompts(['a'], { agent: {} });
    expect(masks(longestAnswers(agent, model, asked))).toEqual(new Array(4).fill('000111'));
    expect(masks(longestAnswers(agent, model, { ...asked, rollout: { contextLength: 7 } }))[15]).toBe(
      '0000111',
    );
  });
});
