import { FormatError, type Task } from '@rlp/core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { datasetOf, datasetOfText } from './dataset-of.ts';
import { demonstrationsFrom } from './demonstrations-from.ts';
import { gathered } from './gathered.fixture.ts';
import { preferencesFrom, ratingsFrom } from './preferences-from.ts';
import { tasksFrom } from './tasks-from.ts';

type Row = Readonly<Record<string, unknown>>;
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

it('asks for datasets, and datasetOf for rows', async () => {
  const rows = [{ prompt: 'a' }] as never;
  const sentence = 'expected a dataset, got a list; datasetOf(rows) makes one of a list';
  await expect(tasksFrom(rows)).rejects.toThrow(`tasksFrom: ${sentence}`);
  await expect(gathered(demonstrationsFrom(rows))).rejects.toThrow(`demonstrationsFrom: ${sentence}`);
  await expect(gathered(preferencesFrom(rows))).rejects.toThrow(`preferencesFrom: ${sentence}`);
  await expect(gathered(ratingsFrom(rows))).rejects.toThrow(`ratingsFrom: ${sentence}`);
  expect(() => datasetOf('rows.jsonl' as never)).toThrow(
    'datasetOf: expected a list of rows or an AsyncIterable of them, got string; loadDataset reads files',
  );
});

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

  it('finds columns that the first row lacks', async () => {
    const tasks = await tasksFrom(datasetOf([{ prompt: 'a' }, { prompt: 'b', answer: '2' }]));
    expect(tasks.map(({ metadata }) => metadata)).toEqual([{}, { answer: '2' }]);
  });
});

describe('demonstrationsFrom', () => {
  const read = (row: Row, options = {}, fields = {}) =>
    gathered(demonstrationsFrom(datasetOf([row], { name: 'rows', fields }), options));

  it.each<[Row, object, object?]>([
    [
      { question: 'a', answer: 4 },
      { prompt: 'a', completion: '4' },
    ],
    [
      { prompt: 'a', completion: 'b', messages: [user('x'), assistant('y')] },
      { messages: [user('x'), assistant('y')] },
    ],
    [
      { instruction: 'a', input: 'b', output: 'c' },
      { prompt: 'a\n\nb', completion: 'c' },
    ],
    [{ text: 'Once' }, { prompt: '', completion: 'Once' }],
    [
      { text: 'a', label: 'b' },
      { prompt: 'a', completion: 'b' },
    ],
    [{ prompt: [user('a')], completion: [assistant('b')] }, { messages: [user('a'), assistant('b')] }],
    [{ question: 'a', answer: 'b' }, { messages: [user('a'), assistant('b')] }, { form: 'messages' }],
    [
      { messages: [{ ...assistant(''), content: null, tool_calls: null }, assistant('b')] },
      { messages: [assistant(''), assistant('b')] },
    ],
  ])('reads %j', async (row, demonstration, options) => {
    expect(await read(row, options)).toEqual([demonstration]);
  });

  it('prefers the columns that were named', async () => {
    const row = { a: 'x', b: 'y', messages: [user('x'), assistant('z')] };
    expect(await read(row, {}, { prompt: 'a', answer: 'b' })).toEqual([{ prompt: 'x', completion: 'y' }]);
  });

  it.each<[Row, RegExp]>([
    [
      { prompt: 'a' },
      /^rows, row 1: expected messages, or a prompt and an answer .*, got the prompt in prompt and no answer/,
    ],
    [{ x: 'a' }, /got no prompt; the row has x; name them/],
    [{ prompt: 'a', answer: '' }, /expected text to imitate in the column answer, got empty text/],
    [{ prompt: 'a', answer: true }, /in the column answer, got the boolean true/],
  ])('refuses %j', async (row, message) => {
    await expect(read(row)).rejects.toThrow(message);
  });

  it('refuses options that do not exist', async () => {
    await expect(read({ prompt: 'a', answer: 'b' }, { from: 'messages' })).rejects.toThrow(
      'did you mean form?',
    );
  });
});

describe('preferencesFrom', () => {
  const read = (row: Row, fields = {}) =>
    gathered(preferencesFrom(datasetOf([row], { name: 'rows', fields })));

  it.each<[Row, object]>([
    [
      { prompt: 'a', chosen: 'b', rejected: 'c' },
      { prompt: 'a', chosen: 'b', rejected: 'c' },
    ],
    [
      { prompt: 'a', chosen: [user('a'), assistant('b')], rejected: [user('a'), assistant('c')] },
      { prompt: [user('a')], chosen: [assistant('b')], rejected: [assistant('c')] },
    ],
    [
      { prompt: [user('a')], chosen: [assistant('b')], rejected: [assistant('c')] },
      { prompt: [user('a')], chosen: [assistant('b')], rejected: [assistant('c')] },
    ],
    [
      {
        chosen: '\n\nHuman: hi\n\nAssistant: I can help',
        rejected: '\n\nHuman: hi\n\nAssistant: I cannot',
      },
      { prompt: '\n\nHuman: hi\n\nAssistant:', chosen: ' I can help', rejected: ' I cannot' },
    ],
    [
      { chosen: 'the sky is blue', rejected: 'the sky is black' },
      { prompt: 'the sky is ', chosen: 'blue', rejected: 'black' },
    ],
    [
      { question: 'a', chosen: 'same x', rejected: 'same y' },
      { prompt: 'a', chosen: 'same x', rejected: 'same y' },
    ],
  ])('reads %j', async (row, pair) => {
    expect(await read(row)).toEqual([pair]);
  });

  it.each<[Row, RegExp]>([
    [
      { prompt: 'a', chosen: 'b' },
      /^rows, row 1: expected the columns chosen and rejected; the row has prompt, chosen/,
    ],
    [{ prompt: 'a', chosen: 'b', rejected: [assistant('c')] }, /in one form, got text and a list/],
    [
      { chosen: 'b', rejected: 'c' },
      /expected a prompt, or answers that begin with it, got answers that begin differently/,
    ],
    [{ chosen: 'same ', rejected: 'same ' }, /got an answer that is empty/],
  ])('refuses %j', async (row, message) => {
    await expect(read(row)).rejects.toThrow(message);
  });
});

describe('tools of a row', () => {
  const schema = { name: 'light', description: 'Switches it.', parameters: { type: 'object' } };
  const tools = [{ type: 'function', function: schema }];
  // As TRL writes it: no content, no id, arguments as an object.
  const calling = {
    role: 'assistant',
    tool_calls: [{ type: 'function', function: { name: 'light', arguments: { on: true } } }],
  };
  const call = { id: 'call_0', type: 'function', function: { name: 'light', arguments: '{"on":true}' } };
  const said = { role: 'assistant', content: '', tool_calls: [call] };
  const first = async <Value>(values: AsyncIterable<Value>) => (await gathered(values))[0];

  it.each([
    ['a list', tools],
    ['JSON', JSON.stringify(tools)],
    ['functions alone', [schema]],
    ["Anthropic's form", [{ name: 'light', description: 'Switches it.', input_schema: { type: 'object' } }]],
  ])('are shown with the demonstration: %s', async (_, given) => {
    const dataset = datasetOf([{ messages: [user('On!'), calling], tools: given }]);
    expect(await first(demonstrationsFrom(dataset))).toEqual({ messages: [user('On!'), said], tools });
    expect(await tasksFrom(dataset)).toEqual([
      { id: '1', prompt: [user('On!')], metadata: { answer: '', toolCalls: [call], tools } },
    ]);
  });

  it('keep the arguments of a call that are text already', async () => {
    const written = { role: 'assistant', tool_calls: [call] };
    const dataset = datasetOf([{ messages: [user('On!'), written], tools }]);
    expect(await first(demonstrationsFrom(dataset))).toEqual({ messages: [user('On!'), said], tools });
  });

  it('make a conversation of a prompt and an answer, and belong to preferences', async () => {
    const pair = datasetOf([{ prompt: 'a', completion: 'b', tools }]);
    expect(await first(demonstrationsFrom(pair))).toEqual({ messages: [user('a'), assistant('b')], tools });
    const preferred = datasetOf([{ prompt: 'a', chosen: 'b', rejected: 'c', tools }]);
    expect(await first(preferencesFrom(preferred))).toEqual({
      prompt: 'a',
      chosen: 'b',
      rejected: 'c',
      tools,
    });
  });

  it('are none in a column of something else, unless it was named', async () => {
    const rows = [{ prompt: 'a', completion: 'b', tools: 'hammer, nails' }];
    expect(await first(demonstrationsFrom(datasetOf(rows)))).toEqual({ prompt: 'a', completion: 'b' });
    const named = datasetOf(rows, { fields: { tools: 'tools' } });
    await expect(first(demonstrationsFrom(named))).rejects.toThrow('in the column tools');
    const broken = datasetOf([{ prompt: 'a', completion: 'b', tools: [{ type: 'function', function: {} }] }]);
    await expect(first(demonstrationsFrom(broken))).rejects.toThrow('tools.0.function.name');
  });
});

describe('ratingsFrom', () => {
  const read = (row: Row) => gathered(ratingsFrom(datasetOf([row], { name: 'rows' })));

  it.each<[Row, object]>([
    [
      { prompt: 'a', completion: 'b', label: false },
      { prompt: 'a', completion: 'b', rating: false },
    ],
    [
      { prompt: 'a', completion: 'b', label: 'True' },
      { prompt: 'a', completion: 'b', rating: true },
    ],
    [
      { prompt: 'a', response: 'b', score: '0.5' },
      { prompt: 'a', completion: 'b', rating: 0.5 },
    ],
  ])('reads %j', async (row, rated) => {
    expect(await read(row)).toEqual([rated]);
  });

  it.each<Row>([
    { prompt: 'a', completion: 'b' },
    { prompt: 'a', label: true },
    { prompt: 'a', output: 'b', score: 'good' },
  ])('refuses %j', async (row) => {
    await expect(read(row)).rejects.toThrow(/^rows, row 1: expected a prompt, an answer and a label/);
  });
});
