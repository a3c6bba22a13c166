import { describe, expect, it } from 'vitest';
import { datasetOf } from './dataset-of.ts';
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
    [
      { text: '' },
      /expected text to imitate in the column text, got empty text; the row has text; correct or remove/,
    ],
    [
      { x: 'a' },
      /\(answer, completion, output, response or target\), .* as in fields: \{ prompt: 'query', answer: 'reply' \}$/,
    ],
    [{ prompt: 'a', answer: true }, /in the column answer, got the boolean true/],
  ])('refuses %j', async (row, message) => {
    await expect(read(row)).rejects.toThrow(message);
  });

  it.each<[Row, object]>([
    [{ prompt: [user('a')], completion: 'b' }, { messages: [user('a'), assistant('b')] }],
    [{ prompt: 'a', completion: [assistant('b')] }, { messages: [user('a'), assistant('b')] }],
    [{ messages: [user('a'), assistant('b')], tools: [] }, { messages: [user('a'), assistant('b')] }],
  ])('makes a conversation as soon as one part has messages: %j', async (row, demonstration) => {
    expect(await read(row)).toEqual([demonstration]);
  });

  it('takes messages before a prompt and an answer that nobody named', async () => {
    const row = { prompt: 'x', answer: 'y', messages: [user('a'), assistant('b')] };
    expect(await read(row, {}, { answer: 'answer' })).toEqual([{ messages: row.messages }]);
    const { answer: _, ...rest } = row;
    expect(await read(rest, {}, { prompt: 'prompt' })).toEqual([{ messages: row.messages }]);
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
    [
      { chosen: 'Assistant: a b Assistant: c', rejected: 'Assistant: a d Assistant: c' },
      { prompt: 'Assistant:', chosen: ' a b Assistant: c', rejected: ' a d Assistant: c' },
    ],
    [
      { chosen: 'a Assistant: b Assistant: c', rejected: 'a Assistant: b Assistant: d' },
      { prompt: 'a Assistant: b Assistant:', chosen: ' c', rejected: ' d' },
    ],
    [
      { chosen: 'the sky', rejected: 'the sky is blue' },
      { prompt: 'the ', chosen: 'sky', rejected: 'sky is blue' },
    ],
    [
      { chosen: [user('a'), assistant('b')], rejected: [user('a'), assistant('c')] },
      { prompt: [user('a')], chosen: [assistant('b')], rejected: [assistant('c')] },
    ],
    [
      { prompt: 'x', chosen: [user('a'), assistant('b')], rejected: [user('a'), assistant('c')] },
      { prompt: [user('a')], chosen: [assistant('b')], rejected: [assistant('c')] },
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
    [{ chosen: 'same ', rejected: 'same more' }, /got an answer that is empty/],
    [
      { chosen: [user('a'), assistant('b')], rejected: [user('a')] },
      /got an answer that is empty; the row has chosen, rejected; name its column, as in fields: \{ prompt: 'query' \}, or remove the row$/,
    ],
    [
      { prompt: 'a', rejected: 'b' },
      /the columns chosen and rejected; .* name them, as in fields: \{ chosen: 'better', rejected: 'worse' \}$/,
    ],
    [
      { prompt: 'a', chosen: 'b', rejected: [assistant('c')] },
      /expected chosen and rejected in one form, got text and a list; .* write both as text or both as messages$/,
    ],
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
    const shared = datasetOf([{ chosen: 'a b', rejected: 'a c', tools }]);
    expect(await first(preferencesFrom(shared))).toEqual({ prompt: 'a ', chosen: 'b', rejected: 'c', tools });
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
    [
      { prompt: 'a', response: 'b', score: 0 },
      { prompt: 'a', completion: 'b', rating: 0 },
    ],
    [
      { prompt: 'a', response: 'b', label: 1, score: 2 },
      { prompt: 'a', completion: 'b', rating: 2 },
    ],
    [
      { prompt: 'a', response: 'b', label: 'FALSE', score: 2 },
      { prompt: 'a', completion: 'b', rating: false },
    ],
  ])('reads %j', async (row, rated) => {
    expect(await read(row)).toEqual([rated]);
  });

  it.each<Row>([
    { prompt: 'a', completion: 'b' },
    { prompt: 'a', label: true },
    { prompt: 'a', output: 'b', score: 'good' },
    { prompt: 'a', output: 'b', score: ' ' },
    { prompt: 'a', output: 'b', score: 'Infinity' },
    { prompt: 'a', output: 'b', label: null },
    { output: 'b', score: 1 },
  ])('refuses %j', async (row) => {
    await expect(read(row)).rejects.toThrow(
      /^rows, row 1: expected a prompt, an answer and a label \(true or false\) or a score \(a number\); .*; name them, as in fields: \{ prompt: 'query', answer: 'reply', label: 'good' \}$/,
    );
  });
});

it('every conversion ends with its signal', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  const dataset = datasetOf([{ prompt: 'a', chosen: 'b', rejected: 'c', answer: 'd', score: 1 }]);
  await expect(tasksFrom(dataset, { signal })).rejects.toThrow('enough');
  for (const conversion of [demonstrationsFrom, preferencesFrom, ratingsFrom])
    await expect(gathered(conversion(dataset, { signal }) as AsyncIterable<unknown>)).rejects.toThrow(
      'enough',
    );
});
