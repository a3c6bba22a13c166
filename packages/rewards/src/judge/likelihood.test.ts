import { ArgumentError, OptionsError, type ScoreRequest, type TokenScorer } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { type LikelihoodJudgeOptions, likelihoodJudge } from '../judge.ts';
import { answering } from '../trajectories.fixture.ts';

const { signal } = new AbortController();
const characters = { encode: (text: string) => Array.from(text, (character) => character.codePointAt(0)!) };
const renderer = {
  render: (messages: readonly { readonly content: string }[]) =>
    messages.flatMap(({ content }) => characters.encode(`${content}\n`)),
};
const textOf = (tokens: readonly number[]) => String.fromCodePoint(...tokens);

/** A model that gives the scores these probabilities; what it was asked. */
function modelGiving(probabilities: readonly number[]) {
  const asked: ScoreRequest[] = [];
  const scorer: TokenScorer = {
    scoreTokens: async (requests) => {
      asked.push(...requests);
      return requests.map((_, k) => {
        const logprobs = Float32Array.of(Math.log(probabilities[k]!));
        return { logprobs, entropies: new Float32Array(1) };
      });
    },
  };
  return { asked, scorer };
}

const judgeBy = (scorer: TokenScorer, options: Partial<LikelihoodJudgeOptions<unknown>> = {}) =>
  likelihoodJudge({ scorer, tokenizer: characters, renderer, rubric: 'kindness', ...options });

const task = { id: 'a', prompt: 'Greet me.', metadata: {} };
const hello = answering('Hello!', {}, { task });

describe('likelihoodJudge', () => {
  it.each([
    [[0.1, 0.2, 0.3, 0.2, 0.1], 0.5],
    // (3 · 0.1 + 4 · 0.2 + 5 · 0.2) / 0.5 = 4.2, and (4.2 − 1) / 4 = 0.8
    [[0, 0, 0.1, 0.2, 0.2], 0.8],
    [[0, 0, 0, 0, 1], 1],
    [[0.2, 0, 0, 0, 0], 0],
  ])('gives the expected score of the probabilities %j', async (probabilities, reward) => {
    const judge = judgeBy(modelGiving(probabilities).scorer);
    expect(await judge.reward(hello, { signal })).toBeCloseTo(reward, 6);
    expect(judge.getStatistics()).toMatchObject({ asked: 1, calls: 1, failures: { unparsable: 0 } });
  });

  it('asks for each score after the question and what all answers have in common', async () => {
    const { asked, scorer } = modelGiving([0.5, 0.5, 0]);
    await judgeBy(scorer, { scale: [0, 2], lead: 'Mark:' }).reward(hello, { signal });
    expect(asked.map(({ completion }) => textOf(completion))).toEqual(['0', '1', '2']);
    const prompts = asked.map(({ prompt }) => textOf(prompt));
    expect(new Set(prompts).size).toBe(1);
    expect(prompts[0]).toMatch(/\[BEGIN response ([0-9a-f]{16})\]\nHello!\n\[END response \1\]/);
    expect(prompts[0]).toMatch(/kindness[\s\S]*from 0 \(worst\) to 2[\s\S]*\nMark: $/);
  });

  it.each([
    ['gives the scores next to nothing', modelGiving([0.01, 0.02, 0.03, 0.01, 0]).scorer, 'unparsable'],
    ['gives what is no probability', modelGiving([Number.NaN, 1, 0, 0, 0]).scorer, 'unparsable'],
    ['gives more than everything', modelGiving([1, 1, 1, 1, 1]).scorer, 'unparsable'],
    [
      'throws, as for a prompt that is too long',
      { scoreTokens: () => Promise.reject(new ArgumentError('too long')) },
      'threw',
    ],
    ['gives too few', { scoreTokens: async () => [] }, 'threw'],
    ['hangs', { scoreTokens: () => new Promise<never>(() => undefined) }, 'timed-out'],
  ])('rejects where the model %s', async (_, scorer, cause) => {
    const judge = judgeBy(scorer, { timeoutMs: 20 });
    await expect(judge.reward(hello, { signal })).rejects.toThrow(/^likelihoodJudge: /);
    expect(judge.getStatistics().failures).toMatchObject({ [cause]: 1 });
  });

  it('ends with the signal, and tells the model', async () => {
    const controller = new AbortController();
    let told = 0;
    const judge = judgeBy({
      scoreTokens: (_, options) =>
        new Promise(() => {
          options?.signal?.addEventListener('abort', () => told++);
          controller.abort(new Error('enough'));
        }),
    });
    await expect(judge.reward(hello, { signal: controller.signal })).rejects.toThrow('enough');
    expect(told).toBe(1);
  });

  it('refuses what cannot work, before anything is judged', () => {
    const { scorer } = modelGiving([]);
    expect(() => judgeBy(scorer, { tokenizer: { encode: () => [0] } })).toThrow('apart');
    expect(() => judgeBy(scorer, { scale: [5, 1] })).toThrow('worst to best');
    expect(() => judgeBy(scorer, { scale: [1, 10], minimumMass: 2 })).toThrow(OptionsError);
  });
});
