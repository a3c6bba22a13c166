import { FormatError, type Task } from '@rlp/core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { datasetOf, datasetOfText } from './dataset-of.ts';
import { type TaskColumns, tasksFrom } from './tasks-from.ts';

type Row = Readonly<Record<string, unknown>>;
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe('tasksFrom', () => {
  it.each<[string, Row, Row | undefined, object]>([
    [
      'question and answer',
      { question: 'a', answer: 'b' },
      undefined,
      { id: '1', prompt: 'a', metadata: { answer: 'b' } },
    ],
    [
      'own records',
      { id: 'x', prompt: 'a', metadata: { n: 1 } },
      undefined,
      { id: 'x', prompt: 'a', metadata: { n: 1 } },
    ],
    [
      'a record of numbers',
      { id: 7, prompt: 'a', metadata: 3 },
      undefined,
      { id: '7', prompt: 'a', metadata: 3 },
    ],
    ['no answer', { prompt: 'a' }, undefined, { id: '1', prompt: 'a', metadata: {} }],
    [
      'another answer column, which stays',
      { prompt: 'a', target: ['b'], level: 3 },
      undefined,
      { id: '1', prompt: 'a', metadata: { target: ['b'], level: 3, answer: ['b'] } },
    ],
    [
      'Alpaca',
      { instruction: 'Add.', input: '2, 3', output: '5' },
      undefined,
      { id: '1', prompt: 'Add.\n\n2, 3', metadata: { output: '5', answer: '5' } },
    ],
    [
      'Alpaca without input',
      { instruction: 'Sing.', input: '', output: 'La' },
      undefined,
      { id: '1', prompt: 'Sing.', metadata: { output: 'La', answer: 'La' } },
    ],
    [
      'a conversation',
      { messages: [user('a'), assistant('b')] },
      undefined,
      { id: '1', prompt: [user('a')], metadata: { answer: 'b' } },
    ],
    [
      'ShareGPT',
      {
        conversations: [
          { from: 'human', value: 'a' },
          { from: 'gpt', value: 'b' },
        ],
      },
      undefined,
      { id: '1', prompt: [user('a')], metadata: { answer: 'b' } },
    ],
    [
      'a prompt of messages',
      { prompt: [user('a')], completion: [assistant('b')] },
      undefined,
      { id: '1', prompt: [user('a')], metadata: { completion: [assistant('b')], answer: [assistant('b')] } },
    ],
    [
      'a label',
      { text: 'a', label: 1 },
      undefined,
      { id: '1', prompt: 'a', metadata: { label: 1, answer: 1 } },
    ],
    [
      'columns that the user names, also within others',
      { query: 'a', key: 'k', prompt: 'no', gold: { text: ['b', 'c'] } },
      { prompt: 'query', id: 'key', answer: 'gold.text.1' },
      { id: 'k', prompt: 'a', metadata: { prompt: 'no', gold: { text: ['b', 'c'] }, answer: 'c' } },
    ],
    [
      'a pair, by the names of its roles',
      { q: 'a', good: 'b', bad: { text: 'c' } },
      { prompt: 'q', chosen: 'good', rejected: 'bad.text' },
      { id: '1', prompt: 'a', metadata: { good: 'b', bad: { text: 'c' }, chosen: 'b', rejected: 'c' } },
    ],
    [
      'columns of null, as Parquet has them',
      { prompt: null, question: 'a', answer: 'b', id: null },
      undefined,
      { id: '1', prompt: 'a', metadata: { prompt: null, answer: 'b' } },
    ],
    [
      'a pattern',
      { prompt: 'a', terminationPattern: '\\d' },
      undefined,
      { id: '1', prompt: 'a', metadata: {}, terminationPattern: '\\d' },
    ],
  ])('reads %s', async (_, row, fields, task) => {
    expect(await tasksFrom(datasetOf([row], fields === undefined ? {} : { fields }))).toEqual([task]);
  });

  it('numbers rows by their place in the dataset, and types metadata by a schema', async () => {
    const dataset = datasetOfText('{"question":"a","answer":"1"}\n\n{"question":"b","answer":"2"}').slice(1);
    const tasks = await tasksFrom(dataset, { metadata: z.object({ answer: z.coerce.number() }) });
    expectTypeOf(tasks).toEqualTypeOf<Task<{ answer: number }>[]>();
    expect(tasks).toEqual([{ id: '2', prompt: 'b', metadata: { answer: 2 } }]);
  });

  it.each<[string, readonly Row[], RegExp, object?]>([
    [
      'no prompt',
      [{ a: 1, b: 2 }],
      /^rows, row 1: expected a column with the prompt .*; the row has a, b; name it, as in fields: \{ prompt: 'query' \}/,
    ],
    [
      'a row without the field',
      [{ question: 'a' }, { text: 'b' }],
      /^rows, row 2: expected text or a list of messages in the column question, got nothing; the row has text; /,
    ],
    [
      'another type',
      [{ question: 'a' }, { question: { b: 1 } }],
      /^rows, row 2: .* in the column question, got an object/,
    ],
    ['null', [{ question: 'a' }, { question: null }], /^rows, row 2: .* got null/],
    [
      'an empty prompt',
      [{ question: '' }],
      /^rows, row 1: expected a prompt in the column question, got empty text; .*`filter`/,
    ],
    [
      'messages of another shape',
      [{ messages: [{ who: 'me', text: 'a' }] }],
      /^rows, row 1: expected messages \{ role, content \} in the column messages\.0\.role/,
    ],
    [
      'an unknown role',
      [{ messages: [{ role: 'king', content: 'a' }] }],
      /messages\.0\.role: .*"system"\|"user"/,
    ],
    ['no messages', [{ messages: [] }], /in the column messages: /],
    [
      'an id twice',
      [{ id: 'x', prompt: 'a' }, { prompt: 'b' }, { id: 'x', prompt: 'c' }],
      /^rows, row 3: expected an id of its own, got "x" as in rows, row 1; rename one/,
    ],
    ['an id of another type', [{ id: {}, prompt: 'a' }], /as id in the column id, got an object/],
    [
      'metadata that do not fit',
      [{ prompt: 'a', answer: 1 }],
      /^rows, row 1: metadata: answer: /,
      { metadata: z.object({ answer: z.string() }) },
    ],
    [
      'a pattern that is none',
      [{ prompt: 'a', terminationPattern: '(' }],
      /terminationPattern: .*regular expression/,
    ],
    ['no rows', [], /^rows: expected rows, got none; look at the file, the split and the slice/],
  ])('refuses %s', async (_, rows, message, options = {}) => {
    const reading = tasksFrom(datasetOf(rows, { name: 'rows' }), options);
    await expect(reading).rejects.toThrow(FormatError);
    await expect(reading).rejects.toThrow(message);
  });

  it.each<[string, Row, object]>([
    [
      'a record of metadata after all other columns',
      { prompt: 'a', answer: 'b', level: 1, metadata: { answer: 'c', n: 2 } },
      { answer: 'c', level: 1, n: 2 },
    ],
    [
      'other metadata beside other columns',
      { prompt: 'a', answer: 'b', metadata: 'x' },
      { answer: 'b', metadata: 'x' },
    ],
    ['metadata of null alone', { prompt: 'a', metadata: null }, null as never],
    [
      'the messages of a row that has a prompt',
      { prompt: 'a', messages: [user('x')] },
      { messages: [user('x')] },
    ],
    ['the input of other prompts', { question: 'a', input: 'b' }, { input: 'b' }],
    [
      'an answer of its own beside a conversation',
      { messages: [user('a'), assistant('b')], answer: 'c' },
      { answer: 'c' },
    ],
    [
      'no answer of a conversation that a user ends',
      { messages: [user('a'), assistant('b'), user('c')] },
      {},
    ],
  ])('keeps as metadata %s', async (_, row, metadata) => {
    const [task] = await tasksFrom(datasetOf([row]));
    expect(task!.metadata).toEqual(metadata);
  });

  it('reads ids that are 0 or empty, and numbers rows whose id is null', async () => {
    const tasks = await tasksFrom(datasetOf([0, '', null, undefined].map((id) => ({ id, prompt: 'a' }))));
    expect(tasks.map(({ id }) => id)).toEqual(['0', '', '3', '4']);
  });

  it('passes on errors of a schema that do not come from the row', async () => {
    const metadata = z.unknown().transform(async () => 1);
    const problem = new TypeError(
      'dataset, row 1: metadata: option schemas must be synchronous, and their checks must not throw',
    );
    await expect(tasksFrom(datasetOf([{ prompt: 'a' }]), { metadata })).rejects.toThrow(problem);
  });

  it('finds columns that the first row lacks', async () => {
    const tasks = await tasksFrom(datasetOf([{ prompt: 'a' }, { prompt: 'b', answer: '2' }]));
    expect(tasks.map(({ metadata }) => metadata)).toEqual([{}, { answer: '2' }]);
    expectTypeOf(tasks).toEqualTypeOf<Task<TaskColumns>[]>();
    expect(tasks[1]!.metadata.answer).toBe('2');
  });
});
