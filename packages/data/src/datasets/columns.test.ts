import { describe, expect, it } from 'vitest';
import { cellOf, cellsOf, columnsOf, described, KnownColumns, rowError } from './columns.ts';
import { DatasetEntry } from './dataset-entry.ts';
import type { DatasetFields } from './dataset-fields.ts';

const row = { 'a.b': 1, a: { b: 2, c: [{ d: 3 }, { e: 4 }, null, { d: 5 }] }, 'x.y': { z: 6 }, none: null };

it.each<[string, unknown[]]>([
  ['a.b', [1]],
  ['a.c.1.e', [4]],
  ['a.c.*.d', [3, 5]],
  ['*.b', [2]],
  ['x.y', [{ z: 6 }]],
  ['x.y.z', []],
  ['none', [null]],
  ['none.more', []],
  ['constructor', []],
  ['.b', []],
])('finds %s', (column, found) => {
  expect(cellsOf(row, column)).toEqual(found);
  expect(cellOf(row, column)).toEqual(found[0]);
});

it('finds a column whose name begins with a dot, and nothing in what is no row', () => {
  expect(cellsOf({ '': { b: 1 } }, '.b')).toEqual([1]);
  for (const no of [null, undefined, 'text', 7]) expect(cellsOf(no, '*')).toEqual([]);
});

describe('columnsOf', () => {
  it.each<[object, DatasetFields | undefined, object]>([
    [{ question: 'a', answer: 'b' }, undefined, { prompt: 'question', answer: 'answer' }],
    [{ text: 'a', instruction: 'b', prompt: 'c' }, undefined, { prompt: 'prompt' }],
    [{ prompt: null, question: 'a' }, undefined, { prompt: 'question' }],
    [{ question: null, prompt: null }, undefined, { prompt: 'prompt' }],
    [{ question: 0, label: false }, undefined, { prompt: 'question', answer: 'label', label: 'label' }],
    [
      { uuid: 1, conversation: [], chosen: '', score: 0 },
      undefined,
      { id: 'uuid', messages: 'conversation', chosen: 'chosen', score: 'score' },
    ],
    [{ prompt: 'a', q: 'b' }, { prompt: 'q' }, { prompt: 'q' }],
    [{ prompt: 'a' }, { prompt: 'absent' }, { prompt: 'absent' }],
    [{ answer: 'a' }, { prompt: 'answer' }, { prompt: 'answer' }],
    [{ answer: 'a' }, { prompt: 'answer', answer: 'answer' }, { prompt: 'answer', answer: 'answer' }],
    [{ other: 1 }, undefined, {}],
    [{}, undefined, {}],
  ])('of %j with %j', (given, fields, columns) => {
    expect(columnsOf(given as never, fields)).toEqual(columns);
  });
});

describe('KnownColumns', () => {
  const origin = { name: 'rows', unit: 'row' } as const;
  const entry = (given: object, from: object = origin) =>
    new DatasetEntry(given, { number: 1, at: 1, origin: from as never });

  it('keep what an earlier row decided, and add what a wider row has', () => {
    const known = new KnownColumns();
    const first = known.of(entry({ question: 'a' }));
    expect(first).toEqual({ prompt: 'question' });
    expect(known.of(entry({ prompt: 'b' }))).toBe(first);
    expect(known.of(entry({ prompt: 'b', answer: 'c' }))).toEqual({ prompt: 'question', answer: 'answer' });
    expect(known.of(entry({ question: 'd' }))).toEqual({ prompt: 'question', answer: 'answer' });
  });

  it('are those of each origin, with its names', () => {
    const known = new KnownColumns();
    known.of(entry({ question: 'a' }));
    expect(known.of(entry({ prompt: 'b' }, { ...origin }))).toEqual({ prompt: 'prompt' });
    expect(known.of(entry({ q: 'b' }, { ...origin, fields: { prompt: 'q' } }))).toEqual({ prompt: 'q' });
  });

  it('are named by the error of a row, with its place', () => {
    const { message } = rowError(entry({ a: 1, b: 2 }), 'a prompt', 'name it');
    expect(message).toBe('rows, row 1: expected a prompt; the row has a, b; name it');
    expect(rowError(entry({}), 'a prompt', 'name it').message).toContain('; the row has no columns; ');
  });
});

it.each([
  [undefined, 'nothing'],
  [null, 'null'],
  [[], 'a list'],
  [{}, 'an object'],
  ['', 'text'],
  [0, 'the number 0'],
  [false, 'the boolean false'],
  [7n, 'the bigint 7'],
])('describes %o', (value, text) => {
  expect(described(value)).toBe(text);
});
