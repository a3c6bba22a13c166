import { OptionsError, type RewardFunction } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactAnswer, tagFormat } from '../../stock.ts';
import { answering } from '../../trajectories.fixture.ts';

const signal = new AbortController().signal;

function judge<Metadata>(reward: RewardFunction<Metadata>, response: string, metadata: Metadata): unknown {
  return reward(answering(response, metadata), { signal });
}

describe('exactAnswer', () => {
  const reward = exactAnswer({ reference: ({ answer }: { answer: string }) => answer });

  it.each([
    ['<answer>42</answer>', 1],
    ['<answer> 42\n</answer>', 1],
    ['<answer>042</answer>', 0],
    ['<answer>4 2</answer>', 0],
    ['42', 0],
    ['', 0],
    ['The answer is not <answer>42</answer>.', 0],
  ])('gives %j a %d', async (response, expected) => {
    expect(await judge(reward, response, { answer: '42' })).toBe(expected);
  });

  it('reads the answer as told', () => {
    const bare = exactAnswer({ reference: () => '42', extract: (text) => text });
    expect(judge(bare, ' 42 ', undefined)).toBe(1);
    const composed = exactAnswer({ reference: () => 'Z\u00fcrich', extract: (text) => text });
    expect(judge(composed, 'Zu\u0308rich', undefined)).toBe(1);
  });

  it.each([undefined, '', 42])('takes the reference %j for an error, not for a wrong answer', (answer) => {
    expect(() => judge(reward, '<answer></answer>', { answer } as never)).toThrow(
      'the reference of task "a"',
    );
  });
});

describe('tagFormat', () => {
  const tags = ['reasoning', 'answer'];
  const strict = tagFormat({ tags });
  const graded = tagFormat({ tags, grading: 'share' });
  const cases: [string, number, number][] = [
    ['<reasoning>7+8</reasoning><answer>15</answer>', 1, 5 / 5],
    [' <reasoning>7\n</reasoning>\n\n<answer>15</answer>\n', 1, 5 / 5],
    ['<reasoning>7</reasoning><answer>15</answer> so', 0, 4 / 5],
    ['<reasoning>7</reasoning>so<answer>15</answer>', 0, 4 / 5],
    ['<answer>15</answer><reasoning>7</reasoning>', 0, 4 / 5],
    ['<reasoning>7<answer>15</answer></reasoning>', 0, 4 / 5],
    ['<reasoning> </reasoning><answer>15</answer>', 0, 4 / 5],
    ['<reasoning>reasoning</reasoning><answer>15</answer>', 0, 4 / 5],
    ['<reasoning>7</reasoning><answer>[Your answer here]</answer>', 0, 4 / 5],
    ['<reasoning>7</reasoning><answer>[1, 2]</answer>', 1, 5 / 5],
    ['<reasoning>7</reasoning><answer>15', 0, 3 / 5],
    ['<reasoning>7</reasoning><answer>1</answer><answer>2</answer>', 0, 2 / 5],
    ['<answer>15</answer>', 0, 2 / 5],
    ['</answer><answer>', 0, 1 / 5],
    ['15', 0, 0],
    ['', 0, 0],
  ];

  it.each(cases)('gives %j strictly %d, graded %d', async (response, whole, share) => {
    expect(await judge(strict, response, undefined)).toBe(whole);
    expect(await judge(graded, response, undefined)).toBe(share);
  });

  it('is graded 1 exactly where it is strictly 1, and between 0 and 1 always', async () => {
    const pieces = fc.constantFrom('<reasoning>', '</reasoning>', '<answer>', '</answer>', 'x', ' ', '\n');
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 8 }), async (parts) => {
        const share = (await judge(graded, parts.join(''), undefined)) as number;
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share === 1).toBe((await judge(strict, parts.join(''), undefined)) === 1);
      }),
    );
  });

  it('answers with a promise, the first time and later', () => {
    const rewards = ['15', '<reasoning>7</reasoning><answer>15</answer>'].map((text) =>
      judge(strict, text, 0),
    );
    for (const reward of rewards) expect(reward).toBeInstanceOf(Promise);
  });

  it('refuses no tags and tags named twice', () => {
    expect(() => tagFormat({ tags: [] })).toThrow(OptionsError);
    expect(() => tagFormat({ tags: ['a', 'a'] })).toThrow('must be different tags');
  });
});
