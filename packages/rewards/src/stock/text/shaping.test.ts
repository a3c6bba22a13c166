import { OptionsError, type RewardFunction, type Trajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import {
  answerExactMatch,
  answerF1,
  answerRougeL,
  cosineLength,
  cosineScaled,
  fuzzyMatch,
  lengthWindow,
  ngramDiversity,
  numericMatch,
  overlongLength,
  repetitionPenalty,
  textLength,
} from '../../stock.ts';

const { signal } = new AbortController();

interface Answered {
  readonly answer: string;
}

const reference = ({ answer }: Answered) => answer;

function answering(
  response: string,
  { answer = '', tokens = [] as readonly number[] } = {},
): Trajectory<Answered> {
  const step = {
    promptTokens: [],
    tokens,
    behaviorLogprobs: tokens.map(() => 0),
    text: '',
    stopReason: 'stop' as const,
  };
  return {
    id: '0/a/0',
    task: { id: 'a', prompt: '', metadata: { answer } },
    steps: [step],
    messages: [],
    response,
    status: 'completed',
    policyVersion: 0,
  };
}

function judge(reward: RewardFunction<Answered>, trajectory: Trajectory<Answered>): unknown {
  return reward(trajectory, { signal });
}

describe('length shaping', () => {
  it('punishes what nears the limit', () => {
    const tokens = new Array<number>(90).fill(1);
    expect(judge(overlongLength({ maximum: 100, buffer: 20 }), answering('', { tokens }))).toBe(-0.5);
  });

  it('scales right and wrong answers by the cosine', () => {
    expect(cosineLength(0, 'right')).toBe(1);
    expect(cosineLength(500, 'right')).toBeCloseTo(0.75, 12);
    expect(cosineLength(2000, 'right')).toBe(0.5);
    expect(cosineLength(0, 'wrong')).toBe(-1);
    expect(cosineLength(1000, 'wrong')).toBe(-0.5);
  });

  it('asks another reward what is right, and keeps its null', async () => {
    const scaled = (verdict: number | null) => cosineScaled({ reward: () => verdict, length: () => 0 });
    expect(await Promise.all([1, 0, null].map((verdict) => judge(scaled(verdict), answering('x'))))).toEqual([
      1,
      -1,
      null,
    ]);
    expect(
      await judge(cosineScaled({ reward: () => 0.7, threshold: 0.7, length: () => 0 }), answering('x')),
    ).toBe(1);
    expect(() => cosineScaled({ reward: () => 1, threshold: Number.NaN })).toThrow('threshold');
  });

  it('does not take a recorded response, which has no tokens, for an empty one', async () => {
    const recorded = answering('again and again and again');
    const message = 'has a response and no tokens, as recorded conversations have none';
    expect(() => judge(overlongLength({ maximum: 100, buffer: 20 }), recorded)).toThrow(message);
    expect(() => judge(repetitionPenalty(), recorded)).toThrow("take unit: 'words'");
    await expect(judge(cosineScaled({ reward: () => 1 }), recorded)).rejects.toThrow('give `length`');
    expect(judge(repetitionPenalty(), answering(''))).toBe(0);
  });

  it('likes lengths in a window', () => {
    const words = (count: number) => answering('w '.repeat(count));
    const lengths = [5, 10, 20, 30];
    const within = (options: Parameters<typeof lengthWindow>[0]) =>
      lengths.map((count) => judge(lengthWindow(options), words(count)));
    expect(within({ minimum: 10, maximum: 20 })).toEqual([0.5, 1, 1, 0]);
    expect(within({ target: 10 })).toEqual([0.5, 1, 0, 0]);
    expect(() => lengthWindow({ minimum: 2, maximum: 1 })).toThrow('must be above minimum');
  });

  it('counts code points, runs of letters and digits, and words', () => {
    expect(
      ['characters', 'alphanumeric', 'words'].map((unit) => textLength('a\u{1f600} b-c', unit as never)),
    ).toEqual([6, 3, 2]);
    expect(textLength('', 'words')).toBe(1);
    expect(textLength('x\u0085y\u001cz\ufeff w', 'words')).toBe(4);
  });
});

describe('repetition', () => {
  it('is the share of repeated n-grams', () => {
    const tokens = [1, 2, 1, 2, 1];
    expect(judge(repetitionPenalty({ size: 2 }), answering('', { tokens }))).toBe(-0.5);
    expect(judge(repetitionPenalty({ size: 1, penalty: -2, unit: 'words' }), answering('A a b c'))).toBe(
      -0.5,
    );
    const copies = answering('nice day niсe day nice\u200b day');
    expect(judge(repetitionPenalty({ size: 2, unit: 'words' }), copies)).toBeCloseTo(-0.6);
    expect(judge(repetitionPenalty({ size: 9 }), answering('', { tokens }))).toBe(0);
  });

  it('is diversity the other way round', () => {
    expect(judge(ngramDiversity(), answering('a b c d'))).toBeCloseTo(1, 12);
    expect(judge(ngramDiversity({ sizes: [1], weights: [1] }), answering('a a a a'))).toBe(0.25);
    expect(judge(ngramDiversity({ sizes: [3] }), answering('a b c a b c'))).toBe(0.75);
    expect(judge(ngramDiversity({ sizes: [1, 2, 3, 4] }), answering('a b c a b c'))).toBe(0.655);
    expect(() => ngramDiversity({ sizes: [1], weights: [] })).toThrow(OptionsError);
  });
});

describe('overlap', () => {
  it('counts the nearest of several references, and no answer as 0', () => {
    const several = { reference: () => ['Bern', 'the city of Bern'] };
    expect(judge(answerF1(several), answering('city of Bern'))).toBe(1);
    expect(judge(answerExactMatch(several), answering('The bern'))).toBe(1);
    expect(judge(answerExactMatch(several), answering('“Bern”'))).toBe(1);
    expect(judge(answerExactMatch(several), answering('Bern <del>Basel</del>'))).toBe(1);
    expect(judge(answerExactMatch(several), answering('Basel <del>Bern</del>'))).toBe(0);
    expect(judge(answerF1({ reference: () => '3.5' }), answering('35'))).toBe(0);
    expect(judge(answerExactMatch({ reference: () => 'C++' }), answering('C'))).toBe(0);
    for (const [given, right] of [
      ['Jean-Paul Sartre', 'Jean Paul Sartre'],
      ['email', 'e-mail'],
    ] as const)
      expect(judge(answerExactMatch({ reference: () => right }), answering(given))).toBe(1);
    expect(judge(answerExactMatch({ reference: () => 'A' }), answering('The'))).toBe(0);
    const number = { reference: () => ['-5', '3.14', '1,914'] };
    const given = ['5', '314', '-5', '3.14', '1914'];
    expect(given.map((text) => judge(answerExactMatch(number), answering(text)))).toEqual([0, 0, 1, 1, 1]);
    expect(judge(answerRougeL({ ...several, measure: 'recall' }), answering('Bern'))).toBe(1);
    for (const denied of ['not in Bern', "It isn't Bern.", 'Bern is wrong', 'Anything but Bern', 'no Bern'])
      expect(judge(answerF1(several), answering(denied))).toBe(0);
    expect(judge(answerF1(several), answering('No, Bern'))).toBeGreaterThan(0);
    expect(judge(answerF1(several), answering('Bern, not Basel'))).toBeGreaterThan(0);
    expect(judge(answerF1({ ...several, extract: () => undefined }), answering('Bern'))).toBe(0);
    expect(() => judge(answerF1({ reference: () => [] }), answering(''))).toThrow('at least one text');
  });
});

describe('overlap of honest answers', () => {
  it.each([
    ['The temperature was -5 degrees', 'The temperature was −5 degrees', 1],
    ['It was 5 degrees below zero', 'It was -5 degrees', 0.8],
    ['x = −5', 'x = -5', 1],
    ['-5', '−5', 1],
    ['−5', '-5', 1],
    ['on 12/05/2020', 'on 12.05.2020', 1],
    ['10.000 Menschen', '10,000 Menschen', 1],
    ['about 10.000 people', 'about 10000 people', 0.57],
    ['at 12.30', 'at 1230', 0.4],
    ['500 euros', '5.00 euros', 0.4],
  ])('gives %j for %j at least %d', (given, right, least) => {
    for (const reward of [answerF1, answerRougeL])
      expect(judge(reward({ reference: () => right }), answering(given))).toBeGreaterThanOrEqual(least);
  });
});

describe('matching', () => {
  it('is fuzzy by edit distance', () => {
    const answered = (response: string) => answering(`<answer>${response}</answer>`, { answer: 'Bern City' });
    expect(judge(fuzzyMatch({ reference }), answered('bern  city'))).toBe(1);
    expect(judge(fuzzyMatch({ reference, threshold: 0.8 }), answered('bern cit'))).toBe(1);
    expect(judge(fuzzyMatch({ reference, threshold: 0.9 }), answered('bern cit'))).toBe(0);
    expect(judge(fuzzyMatch({ reference }), answering('none', { answer: 'x' }))).toBe(0);
  });

  it.each([
    ['42', 1],
    ['$1,042', 0],
    ['84/2', 1],
    ['42.4', 1],
    ['42.5', 0],
    ['4.2e1', 1],
    ['forty', 0],
  ])('is numeric within tolerances: %j gives %d', (given, expected) => {
    const reward = numericMatch({ reference, extract: (text) => text, relative: 0.01 });
    expect(judge(reward, answering(given, { answer: '42' }))).toBe(expected);
  });

  it('takes a reference without a number for an error', () => {
    expect(() => judge(numericMatch({ reference }), answering('', { answer: 'x' }))).toThrow(
      'the reference of task "a" must be a number, got "x"',
    );
  });
});

it('takes linear time on hostile text', () => {
  const short = { reference: () => 'a short reference of eight words or so' };
  const all: RewardFunction<Answered>[] = [
    answerF1(short),
    answerRougeL(short),
    answerExactMatch(short),
    fuzzyMatch({ ...short, extract: (text) => text }),
    numericMatch({ reference: () => '1', extract: (text) => text }),
    repetitionPenalty({ unit: 'words' }),
    ngramDiversity(),
    lengthWindow({ unit: 'alphanumeric' }),
  ];
  const begun = performance.now();
  for (const unit of ['a', ' ', 'a ', 'the ', '!', 'w1 ', '\ud800', '\u00e9 ']) {
    for (const reward of all) judge(reward, answering(unit.repeat(100_000 / unit.length)));
  }
  expect(performance.now() - begun).toBeLessThan(10_000);
});
