import { ArgumentError, type Task } from '@rlp/core';
import { describeTaskSource } from '@rlp/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arithmeticTasks, guessNumberTasks, splitTasks, taskSource } from './index.ts';

const numbered = (count: number): Task<number>[] =>
  Array.from({ length: count }, (_, index) => ({ id: `t${index}`, prompt: `${index}`, metadata: index }));

describeTaskSource('taskSource, shuffled', { create: () => taskSource(numbered(7)) });
describeTaskSource('taskSource, in order', { create: () => taskSource(numbered(7), { shuffle: 'none' }) });
describeTaskSource('taskSource of one task', { create: () => taskSource(numbered(1)) });

describe('taskSource', () => {
  it('gives every task once per epoch, in another order each time', () => {
    const source = taskSource(numbered(20), { seed: 's' });
    const epochs = [1, 2, 3].map(() => source.take(20).map(({ metadata }) => metadata));
    for (const epoch of epochs)
      expect(epoch.toSorted((a, b) => a - b)).toEqual(numbered(20).map((t) => t.metadata));
    expect(new Set(epochs.map(String)).size).toBe(3);
  });

  it('has another order for another seed', () => {
    const [a, b] = ['a', 'b'].map((seed) => taskSource(numbered(20), { seed }).take(20));
    expect(a).not.toEqual(b);
  });

  it('seeks far without counting there', () => {
    const source = taskSource(numbered(3));
    source.seek(3_000_000_000_001);
    expect(source.take(2)).toHaveLength(2);
  });

  it('gives the same sequence for any cuts and seeks', () => {
    const expected = taskSource(numbered(5)).take(60);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(20)), { maxLength: 8 }), (moves) => {
        const source = taskSource(numbered(5));
        for (const [cursor, count] of moves) {
          source.seek(cursor);
          expect(source.take(count)).toEqual(expected.slice(cursor, cursor + count));
        }
      }),
    );
  });

  it('refuses no tasks, and two tasks of one name', () => {
    expect(() => taskSource([])).toThrow(
      new ArgumentError('taskSource: expected at least one task, got none'),
    );
    expect(() => taskSource([...numbered(2), ...numbered(1)])).toThrow('"t0" occurs twice');
  });
});

it.each<[unknown, string]>([
  [null, 'expected a list of tasks, got null'],
  [{ id: 'a' }, 'expected a list of tasks, got object'],
  [Promise.resolve([]), 'expected a list of tasks, got a promise; await it'],
  ['a.jsonl', 'got "a.jsonl"; tasksFrom(await loadDataset(path)) of @rlp/data reads tasks from a file'],
  [['a'], 'task 0: expected an object { id, prompt, metadata }'],
  [[...numbered(1), { id: 7, prompt: 'a' }], 'task 1: expected text as id, got number'],
  [[{ id: 'a', question: 'q', answer: 1 }], 'got undefined; the task has question, answer'],
  [
    [{ id: 'a', prompt: 3 }],
    'expected text or a list of messages as prompt, got number; the task has nothing else',
  ],
])('taskSource of %o says what was expected', (tasks, message) => {
  expect(() => taskSource(tasks as never)).toThrow(ArgumentError);
  expect(() => taskSource(tasks as never)).toThrow(message);
});

it('taskSource takes conversations as prompts', () => {
  const task = { id: 'a', prompt: [{ role: 'user', content: 'Hi' }] as const, metadata: undefined };
  expect(taskSource([task]).take(1)).toEqual([task]);
});

it('taskSource refuses to take or seek what is no number of tasks', () => {
  const source = taskSource(numbered(3));
  for (const wrong of [-1, 1.5, Number.NaN]) {
    expect(() => source.take(wrong)).toThrow('take: count must be an integer of at least 0');
    expect(() => source.seek(wrong)).toThrow('seek: cursor must be an integer of at least 0');
  }
});

describe('splitTasks', () => {
  it('parts the tasks exactly, whatever their order', () => {
    const tasks = numbered(50);
    const { train, heldOut } = splitTasks(tasks, { fraction: 0.3, seed: 's' });
    expect([train.length, heldOut.length]).toEqual([35, 15]);
    expect([...train, ...heldOut].toSorted((a, b) => a.metadata - b.metadata)).toEqual(tasks);
    const again = splitTasks(tasks.toReversed(), { fraction: 0.3, seed: 's' });
    expect(new Set(again.heldOut)).toEqual(new Set(heldOut));
  });

  it.each([0.1, 0.9])('refuses to leave a part empty: %d of two tasks', (fraction) => {
    expect(() => splitTasks(numbered(2), { fraction })).toThrow(
      new ArgumentError(
        `splitTasks: fraction ${fraction} of 2 tasks leaves one part empty: give more tasks or another fraction`,
      ),
    );
  });
});

describe('arithmeticTasks', () => {
  it('gives different problems with their sums', () => {
    const tasks = arithmeticTasks({ digits: 2, count: 500, seed: 's' });
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(500);
    for (const { prompt, metadata } of tasks) {
      expect(prompt).toMatch(/^[1-9]\d\+[1-9]\d=$/);
      expect(metadata.answer).toBe(String(metadata.addends[0] + metadata.addends[1]));
    }
  });

  it('can give every problem there is, and says when there are no more', () => {
    expect(arithmeticTasks({ digits: 1, count: 100 })).toHaveLength(100);
    // Of the 100 pairs of digits, 45 sum to more than 9.
    expect(arithmeticTasks({ digits: 1, count: 45, carry: 'needed' })).toHaveLength(45);
    expect(() => arithmeticTasks({ digits: 1, count: 46, carry: 'needed' })).toThrow(
      'only 45 different problems',
    );
  });

  it('asks for a carry in any column', () => {
    // Without one are 55 of 100 pairs of units, and 36 of 81 pairs of tens.
    expect(arithmeticTasks({ digits: 2, count: 8100 - 55 * 36, carry: 'needed' })).toHaveLength(6120);
    expect(() => arithmeticTasks({ digits: 2, count: 6121, carry: 'needed' })).toThrow('only 6120');
  });

  it('gives only carries when asked', () => {
    for (const { metadata } of arithmeticTasks({ digits: 2, count: 300, carry: 'needed' })) {
      const [a, b] = metadata.addends;
      const digitSum = (n: number) => [...String(n)].reduce((sum, digit) => sum + Number(digit), 0);
      // A sum of digits falls by 9 for every carry.
      expect(digitSum(a) + digitSum(b)).toBeGreaterThan(digitSum(a + b));
    }
  });
});

// Drawn by a Python program that shares no code with ours: what a seed gives must not change from version to version.
describe('draws of the default seeds', () => {
  it('makes these additions, few of many and nearly all', () => {
    const few = arithmeticTasks({ digits: 2, count: 3 });
    expect(few.map(({ id }) => id)).toEqual(['87+69', '50+70', '89+40']);
    expect(few[0]).toEqual({
      id: '87+69',
      prompt: '87+69=',
      metadata: { addends: [87, 69], answer: '156' },
    });
    const crowded = arithmeticTasks({ digits: 1, count: 6 });
    expect(crowded.map(({ id }) => id)).toEqual(['8+0', '1+6', '3+8', '3+1', '8+4', '9+4']);
  });

  it('thinks of these numbers', () => {
    const tasks = guessNumberTasks({ count: 4 });
    expect(tasks.map(({ metadata }) => metadata.secret)).toEqual([9, 9, 3, 9]);
    expect(tasks[2]).toEqual({ id: 'guess-2', prompt: '1-9? ', metadata: { secret: 3, low: 1, high: 9 } });
  });

  it('shuffles epochs and holds tasks out in this way', () => {
    const order = taskSource(numbered(5))
      .take(10)
      .map(({ metadata }) => metadata);
    expect(order).toEqual([1, 2, 3, 4, 0, 1, 2, 4, 3, 0]);
    const { heldOut } = splitTasks(numbered(6), { fraction: 0.34 });
    expect(heldOut.map(({ metadata }) => metadata)).toEqual([2, 4]);
  });

  it('holds a single task out of two', () => {
    expect(splitTasks(numbered(2), { fraction: 0.5 }).heldOut).toHaveLength(1);
  });
});

describe('arithmeticTasks', () => {
  it('gives all problems of one digit once, and no more', () => {
    const tasks = arithmeticTasks({ digits: 1, count: 100 });
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(100);
    expect(() => arithmeticTasks({ digits: 1, count: 101 })).toThrow(
      'arithmeticTasks: there are only 100 different problems of 1 digit, asked for 101: ask for fewer or for more digits',
    );
  });

  it('draws no problem twice', () => {
    const tasks = arithmeticTasks({ digits: 2, count: 400 });
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(400);
  });

  it('asks for a carry in some column', () => {
    const tasks = arithmeticTasks({ digits: 2, count: 300, carry: 'needed' });
    const carries = tasks.map(({ metadata: { addends } }) => {
      const [a, b] = addends;
      return (a % 10) + (b % 10) > 9 || Math.floor(a / 10) + Math.floor(b / 10) > 9;
    });
    expect(carries).toEqual(tasks.map(() => true));
    const single = arithmeticTasks({ digits: 1, count: 45, carry: 'needed' });
    expect(single.every(({ metadata }) => Number(metadata.answer) > 9)).toBe(true);
    expect(() => arithmeticTasks({ digits: 1, count: 46, carry: 'needed' })).toThrow(ArgumentError);
  });
});

it.each([
  ['arithmeticTasks', () => arithmeticTasks({ count: 0 })],
  ['guessNumberTasks', () => guessNumberTasks({ count: 0 })],
  ['splitTasks', () => splitTasks(numbered(2), { fraction: 2 })],
  ['taskSource', () => taskSource(numbered(2), { seed: 1 as never })],
])('%s names itself in the errors of its options', (name, call) => {
  expect(call).toThrow(name);
});

it('guessNumberTasks refuses a range of one number', () => {
  expect(() => guessNumberTasks({ low: 3, high: 3, count: 1 })).toThrow('high: must be above low');
});
