import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, it } from 'vitest';
import { readSavedResponses, type SavedFields, streamSavedResponses } from '../files.ts';

const directory = mkdtempSync(join(tmpdir(), 'saved-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function read(name: string, content: string | Uint8Array, fields?: SavedFields) {
  writeFileSync(join(directory, name), content);
  return readSavedResponses(join(directory, name), fields);
}

const line = '{"response":"a","reward":1}';
const first = { response: 'a', rewards: { reward: 1 } };

it.each<[string, string, string, SavedFields | undefined, object[]]>([
  ['a last line that was cut short', 'a.jsonl', `${line}\n{"response":"b`, undefined, [first]],
  [
    'lines as Windows ends them, behind a byte order mark',
    'a.jsonl',
    `\ufeff${line}\r\n\r\n{"response":"b"}\r\n`,
    undefined,
    [
      { ...first, place: 'line 1' },
      { response: 'b', rewards: {}, place: 'line 3' },
    ],
  ],
  ['a JSON list', 'a.json', ` [${line},\n${line}]\n`, undefined, [first, { ...first, place: 'element 2' }]],
  ['an empty file', 'a.jsonl', '', undefined, []],
  ['a header without rows', 'a.csv', 'response,reward\n', undefined, []],
  [
    'columns with a dot in their names',
    'a.csv',
    'response.text,scores.style\na,1\n',
    { response: 'response.text', rewards: ['scores.style'] },
    [{ response: 'a', rewards: { style: 1 } }],
  ],
  [
    'rewards of other types',
    'a.jsonl',
    '{"response":"a","rewards":{"a":"1","b":true,"c":null,"d":"n/a","e":{"x":1}}}',
    undefined,
    [{ response: 'a', rewards: { a: 1, b: 1, c: null, d: Number.NaN, e: Number.NaN } }],
  ],
  [
    'responses of other types',
    'a.jsonl',
    '{"response":null}\n{"response":7}\n{"response":[{"role":"assistant","content":"a"}],"prompt":[{"content":"b"}]}\n{"response":[{"role":"user","content":"q"},{"role":"assistant","content":null},{"role":"assistant","content":[{"type":"text","text":"c"}]}]}',
    undefined,
    [{ response: '' }, { response: '7' }, { response: 'a', prompt: 'b' }, { response: '\nc' }],
  ],
  [
    'conversations, the last answer of which counts',
    'a.jsonl',
    '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"reward":1}\n{"conversation":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"},{"role":"assistant","content":"b"}],"prompt":"p"}',
    undefined,
    [
      { ...first, prompt: 'q' },
      { response: 'b', prompt: 'p' },
    ],
  ],
  [
    'conversations in the words of ShareGPT, and one that ends with the user',
    'a.jsonl',
    '{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}],"reward":1}\n{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"b"},{"role":"user","content":"bye"}]}',
    undefined,
    [
      { ...first, prompt: 'q' },
      { response: 'b', prompt: 'q' },
    ],
  ],
  [
    'semicolons and a column of each reward',
    'a.CSV',
    'text;score;judge;question\r\n"a;\r\nb";1;0.5;c\r\nd;;;e\r\n',
    { response: 'text', rewards: ['score', 'judge'], prompt: 'question' },
    [
      { response: 'a;\r\nb', rewards: { score: 1, judge: 0.5 }, prompt: 'c', place: 'line 2' },
      { response: 'd', rewards: { score: null, judge: null }, place: 'line 4' },
    ],
  ],
  [
    'several responses of a record, and records without a reward',
    'a.jsonl',
    '{"c":[{"t":"a","s":1},{"t":"b","s":0}],"p":"q"}\n{"c":[{"t":"c"}]}',
    { response: 'c.*.t', rewards: ['c.*.s'], prompt: 'p' },
    [
      { response: 'a', rewards: { s: 1 }, prompt: 'q' },
      { response: 'b', rewards: { s: 0 }, prompt: 'q' },
      { response: 'c', rewards: {} },
    ],
  ],
  [
    'rewards of fields that end alike',
    'a.jsonl',
    '{"response":"a","x":{"score":1},"y":{"score":2},"z":{"judge":3}}',
    { rewards: ['x.score', 'y.score', 'z.judge'] },
    [{ response: 'a', rewards: { 'x.score': 1, 'y.score': 2, judge: 3 } }],
  ],
])('reads %s', async (_, name, content, fields, expected) => {
  expect(await read(name, content, fields)).toMatchObject(expected);
});

it('reads a compressed file', async () => {
  expect(await read('a.jsonl.gz', gzipSync(`${line}\n`))).toEqual([{ ...first, place: 'line 1' }]);
});

it('reads Parquet with nested columns', async () => {
  const columnData = [
    { name: 'answer', data: [{ text: 'a' }, { text: 'b' }], type: 'JSON' as const },
    { name: 'score', data: [1n, null], type: 'INT64' as const },
  ];
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData }));
  expect(await read('log.data', bytes, { response: 'answer.text', rewards: ['score'] })).toEqual([
    { response: 'a', rewards: { score: 1 }, place: 'row 1' },
    { response: 'b', rewards: { score: null }, place: 'row 2' },
  ]);
});

it.each<[string, string | Uint8Array, SavedFields | undefined, string]>([
  ['a.jsonl', `${line}\n{"respons":"b"}`, undefined, 'line 2: expected a field response, as in {"response"'],
  ['a.jsonl', `{"respon\n${line}`, undefined, 'line 1: expected'],
  [
    'a.jsonl',
    '{"messages":[{"role":"user","content":"q"}]}',
    undefined,
    'messages with an answer of the assistant',
  ],
  ['a.jsonl', '{"text":"b"}', undefined, 'a scored trajectory, got fields text; name the fields (--response'],
  ['a.jsonl', '7\n', undefined, 'line 1: expected an object with columns, got 7'],
  ['a.json', `[${line},`, undefined, 'expected a JSON list that ends with ]'],
  ['a.csv', 'completion,score\na,1\n', undefined, 'line 2: expected'],
  ['a.csv', 'response,reward\na,1,2\n', undefined, 'line 2: expected 2 fields as in the header, got 3'],
  [
    'a.jsonl',
    line,
    { rewards: ['scor'] },
    'expected records with a field scor, but none has it; the first has fields response, reward',
  ],
  ['a.jsonl', line, { prompt: 'question' }, 'expected records with a field question'],
  ['a.jsonl', line, { response: 'text' }, 'line 1: expected a field text, as in {"response"'],
  ['a.jsonl', Uint8Array.of(31, 139, 8, 0, 255), undefined, 'expected a complete gzip file'],
  ['a.csv', Uint8Array.of(255, 254, 97, 0), undefined, 'expected UTF-8 text, got other bytes'],
  ['a.parquet', line, undefined, 'expected a Parquet file'],
])('refuses %s with %j', async (name, content, fields, message) => {
  await expect(read(name, content, fields)).rejects.toThrow(message);
  await expect(read(name, content, fields)).rejects.toThrow(join(directory, name));
});

it('refuses a directory', async () => {
  await expect(readSavedResponses(directory)).rejects.toThrow(
    `${directory}: expected a file, got a directory`,
  );
});

it('reads a line when it is asked for, and not before', async () => {
  const path = join(directory, 'stream.jsonl');
  writeFileSync(path, `${line}\n${line}\n{"text":"b"}\n`);
  const stream = streamSavedResponses(path);
  expect(await stream.next()).toEqual({ done: false, value: { ...first, place: 'line 1' } });
  expect(await stream.next()).toEqual({ done: false, value: { ...first, place: 'line 2' } });
  await expect(stream.next()).rejects.toThrow(`${path}, line 3: expected`);
});
