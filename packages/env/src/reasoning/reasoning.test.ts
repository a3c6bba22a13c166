import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { isReasoningAnswer, type ReasoningMetadata, reasoningFamilies, reasoningTasks } from './index.ts';
import { secondWaysText } from './second-ways-text.fixture.ts';
import { secondWaysWorld } from './second-ways-world.fixture.ts';

const difficulties = [0, 0.3, 0.6, 1];
const count = process.env.RLP_SLOW_TESTS ? 40 : 10;

/** Questions of a family, without the line about the form of the answer. */
function draw(family: string) {
  return difficulties.flatMap((difficulty) =>
    reasoningTasks({ count, families: [family], difficulty }).map(({ prompt, metadata }) => ({
      question: String(prompt).slice(0, String(prompt).lastIndexOf('\n')),
      metadata,
    })),
  );
}

const second = { ...secondWaysText, ...secondWaysWorld };

describe('reasoningTasks', () => {
  it('has a second way to the answer for every family, which are at least 20', () => {
    expect(Object.keys(second).toSorted()).toEqual([...reasoningFamilies]);
    expect(reasoningFamilies.length).toBeGreaterThanOrEqual(20);
  });

  it.each([...reasoningFamilies])(
    '%s: answers are right by a second way, accepted, and others are not',
    (family) => {
      const problems = draw(family);
      for (const { question, metadata } of problems) {
        expect(second[family]!(question, metadata), `${question}\n${metadata.answer}`).toBe(true);
        const { answer } = metadata;
        for (const response of [
          answer,
          `Let me think.\n\n${answer}`,
          `<answer> ${answer.toUpperCase()} </answer> so.`,
          `${answer}.`,
        ])
          expect(isReasoningAnswer(response, metadata), `${question}\n${response}`).toBe(true);
        for (const response of [
          '',
          `${answer}\nI do not know`,
          `${answer}9`,
          'null',
          '{"answer": 1}',
          '🧊',
          '-',
          'NaN',
        ])
          expect(isReasoningAnswer(response, metadata), `${question}\n${response}`).toBe(false);
        expect(structuredClone(metadata)).toEqual(JSON.parse(JSON.stringify(metadata)));
      }
      const answers = new Set(problems.map(({ metadata }) => metadata.answer));
      expect(answers.size).toBeGreaterThan(1);
      const harder = (difficulty: number) =>
        reasoningTasks({ count: 60, families: [family], difficulty }).reduce(
          (sum, { prompt, metadata }) => sum + prompt.length + metadata.answer.length,
          0,
        );
      expect(harder(1)).toBeGreaterThan(harder(0));
    },
  );

  it('weekday: asks about the past too from difficulty 0.5 on', () => {
    const ways = [0, 0.49, 0.5, 1].map((difficulty) => {
      const tasks = reasoningTasks({ count: 20, families: ['weekday'], difficulty });
      return new Set(tasks.map(({ prompt }) => /Which weekday (is it in|was it)/.exec(String(prompt))?.[1]));
    });
    const future = new Set(['is it in']);
    const both = new Set(['is it in', 'was it']);
    expect(ways).toEqual([future, future, both, both]);
  });

  it('accepts no answer of another problem, but for coincidence', () => {
    const tasks = reasoningTasks({ count: 400, difficulty: 1 });
    const crossed = tasks.filter(({ metadata }, index) =>
      isReasoningAnswer(tasks[(index + 1) % tasks.length]!.metadata.answer, metadata),
    );
    expect(crossed.length).toBeLessThan(20);
  });

  it('accepts every right answer where there are several', () => {
    const route: ReasoningMetadata = {
      ...{ family: 'route', difficulty: 0, answer: 'A-B-D' },
      data: { nodes: ['A', 'B', 'C', 'D'], edges: { 'A-B': 1, 'B-D': 2, 'A-C': 2, 'C-D': 1, 'A-D': 4 } },
    };
    expect(['A-B-D', 'a - c - d'].map((way) => isReasoningAnswer(way, route))).toEqual([true, true]);
    expect(['A-D', 'A-X-D', 'A', '', 'B-D', 'A--D'].some((way) => isReasoningAnswer(way, route))).toBe(false);
    const words: ReasoningMetadata = { family: 'unscramble', difficulty: 0, answer: 'heart', data: 'rtaeh' };
    expect(['earth', 'heart', 'hater', 'rtaeh'].map((word) => isReasoningAnswer(word, words))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const number: ReasoningMetadata = { family: 'gcd', difficulty: 0, answer: '1200' };
    expect(
      ['1,200', '1200.0', '+1200', ' 1200.', '12,00', '1200 or 3', '0x4b0', '1e400'].map((text) =>
        isReasoningAnswer(text, number),
      ),
    ).toEqual([true, true, true, true, false, false, false, false]);
  });

  it('draws by weights, equal for equal seeds', () => {
    const tasks = reasoningTasks({
      count: 300,
      families: ['gcd', 'lcm', 'islands'],
      weights: { gcd: 3, islands: 0 },
      seed: 'w',
    });
    const count = (family: string) => tasks.filter(({ metadata }) => metadata.family === family).length;
    expect([count('islands'), count('gcd') + count('lcm')]).toEqual([0, 300]);
    // Of 300 draws with probability 3/4, five standard deviations are 37.
    expect(Math.abs(count('gcd') - 225)).toBeLessThan(37);
    expect(
      reasoningTasks({
        count: 300,
        families: ['gcd', 'lcm', 'islands'],
        weights: { gcd: 3, islands: 0 },
        seed: 'w',
      }),
    ).toEqual(tasks);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(300);
    expect(reasoningTasks({ count: 3, seed: 'a' })).not.toEqual(reasoningTasks({ count: 3, seed: 'b' }));
    expect(new Set(reasoningTasks({ count: 500 }).map(({ metadata }) => metadata.family)).size).toBe(
      reasoningFamilies.length,
    );
  });

  it('names every bad option at once', () => {
    expect(() =>
      reasoningTasks({ count: 1, families: ['gdc'], difficulty: 2, weights: { nope: 1 } }),
    ).toThrow(/families[\s\S]*"gdc" is not a family[\s\S]*difficulty[\s\S]*weights/);
    expect(() => reasoningTasks({ count: 1, families: ['gcd'], weights: { gcd: 0 } })).toThrow(/above 0/);
  });

  it('accepts a unit behind the number of a conversion only', () => {
    const problem = { family: 'unit-conversion', difficulty: 0, answer: '12' };
    for (const right of ['12', '12 km', '12 km. '])
      expect(isReasoningAnswer(right, problem), right).toBe(true);
    for (const wrong of ['1 km 2', 'km 12', '12 km 0'])
      expect(isReasoningAnswer(wrong, problem), wrong).toBe(false);
  });

  it('never throws on a response, however odd', () => {
    const random = RandomStream.named('odd');
    const marks = [...'0123456789-+.,/x#AB{}()[]"\n <>='];
    for (const { metadata } of reasoningTasks({ count: 200, difficulty: 0.2 })) {
      const odd = Array.from({ length: 40 }, () => marks[random.integer(marks.length)]).join('');
      for (const response of [odd, 'x'.repeat(1_000_000), '<answer></answer>', '\ud800', '-'.repeat(3000)])
        expect(typeof isReasoningAnswer(response, metadata)).toBe('boolean');
    }
    expect(isReasoningAnswer('7', { family: 'constructor', difficulty: 0, answer: '7' })).toBe(true);
  });

  it('writes a sign before every term of a polynomial but the first', () => {
    for (const { question } of draw('polynomial'))
      expect(question).toMatch(/for p\(x\) = -?\d+(?:x(?:\^\d)?)?(?: [+-] \d+(?:x(?:\^\d)?)?)+\?$/);
  });
});
