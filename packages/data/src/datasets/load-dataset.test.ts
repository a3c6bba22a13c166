import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as zlib from 'node:zlib';
import { ArgumentError, RlpError } from '@rlp/core';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, it } from 'vitest';
import { gathered } from './gathered.fixture.ts';
import { loadDataset } from './load-dataset.ts';

const { gzipSync } = zlib;
const directory = mkdtempSync(join(tmpdir(), 'rlp-datasets-'));
afterAll(() => rmSync(directory, { recursive: true }));

function saved(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ question: `what is ${at + from} ☃?`, answer: `${at + from}` }));
const lines = (count: number, from = 0) =>
  rows(count, from)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('');
const parquet = (count: number, from = 0) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: ['question', 'answer'].map((name) => ({
        name,
        data: rows(count, from).map((row) => row[name as 'answer']),
      })),
      rowGroupSize: 7,
    }),
  );
const csv = (count: number) =>
  `question,answer\r\n${rows(count)
    .map(({ question, answer }) => `"${question}",${answer}\r\n`)
    .join('')}`;

const files: readonly [string, string | Uint8Array][] = [
  ['lines.jsonl', `\ufeff\n${lines(20)}\n`],
  ['lines.json', lines(20).trimEnd()],
  ['list.json', JSON.stringify(rows(20), undefined, 2)],
  ['list.jsonl', ` ${JSON.stringify(rows(20))} \n`],
  ['table.csv', csv(20)],
  ['table.tsv', csv(20).replaceAll(',', '\t')],
  ['rows.parquet', parquet(20)],
  ['parquet-without-ending', parquet(20)],
  ['lines.jsonl.gz', gzipSync(lines(20))],
  ['table.csv.gz', gzipSync(csv(20))],
  ['list.json.gz', gzipSync(JSON.stringify(rows(20)))],
];

describe('loadDataset', () => {
  it('finds the ends of elements behind quotes and brackets in text', async () => {
    const rows = [{ question: 'a " ], [ \\' }, { question: '\\" }, {' }];
    expect(await (await loadDataset(saved('quoted.json', JSON.stringify(rows)))).toArray()).toEqual(rows);
  });

  it.each(files)('reads %s, counts it, and continues at any cursor', async (name, content) => {
    const dataset = await loadDataset(saved(name, content));
    expect(await dataset.toArray()).toEqual(rows(20));
    expect(await dataset.count()).toBe(20);
    for (const cursor of [1, 7, 13, 20]) {
      const rest = dataset.read({ cursor });
      const entries = await gathered(rest);
      expect(entries.map(({ row }) => row)).toEqual(rows(20).slice(cursor));
      expect(entries.every(({ number }, at) => number === cursor + at + 1)).toBe(true);
      expect(rest.cursor).toBe(20);
    }
    await expect(gathered(dataset.read({ cursor: 21 }))).rejects.toThrow(
      'expected at least 21 rows because the cursor says that as many were read, got 20',
    );
  });

  it('leaves out unreadable rows if their errors are wanted, at any cursor', async () => {
    const path = saved('broken.jsonl', '{"a":1}\n{"a"\n\n7\n{"a":2}\n');
    const errors: string[] = [];
    const onMalformed = ({ message }: Error) => void errors.push(message);
    const dataset = await loadDataset(path, { onMalformed });
    expect(await dataset.toArray()).toEqual([{ a: 1 }, { a: 2 }]);
    expect(errors).toEqual([
      expect.stringContaining('broken.jsonl, line 2: expected one JSON object per line'),
      expect.stringContaining('broken.jsonl, line 4: '),
    ]);
    expect(await dataset.count()).toBe(2);
    expect(await dataset.slice(1).toArray()).toEqual([{ a: 2 }]);
    for (const cursor of [0, 1, 2]) {
      const rest = dataset.read({ cursor });
      const rows = (await gathered(rest)) as readonly unknown[];
      expect([rows.length, rest.cursor]).toEqual([2 - cursor, 2]);
    }
    await expect((await loadDataset(path)).toArray()).rejects.toThrow('line 2');
  });

  it.each([
    ['cut short', '{"a":1'],
    ['over several lines', '{\n  "data": [{ "a": 1 }]\n}\n'],
  ])('tells an object %s in a .json file from a broken line', async (_, content) => {
    await expect((await loadDataset(saved('object.json', content))).toArray()).rejects.toThrow(
      /object\.json: expected a JSON list of rows, or one JSON object per line, got an object .* cut short, else write the list/,
    );
    const later = saved('later.json', `{"a":1}\n${content}`);
    await expect((await loadDataset(later)).toArray()).rejects.toThrow(
      'later.json, line 2: expected one JSON',
    );
  });

  it.each([
    ['a value behind the object', '{"a":1} x'],
    ['another byte than UTF-8', Buffer.from('{"a":"\xe4"}', 'latin1')],
    ['a word without quotes', '{"a": bad}'],
  ])('names line 1 of JSON Lines in a .json file with %s', async (_, content) => {
    const path = saved('lines.json', Buffer.concat([Buffer.from(content), Buffer.from('\n{"a":2}\n')]));
    await expect((await loadDataset(path)).toArray()).rejects.toThrow(
      'lines.json, line 1: expected one JSON',
    );
  });

  it('leaves out broken first lines of JSON Lines in a .json file, and names a later one after a cursor', async () => {
    const problems: string[] = [];
    const onMalformed = ({ message }: Error) => problems.push(message);
    const left = await loadDataset(saved('first.json', '{"a":\n{"a":1}\n'), { onMalformed });
    expect(await left.toArray()).toEqual([{ a: 1 }]);
    expect(problems).toEqual([expect.stringContaining('first.json, line 1')]);
    const later = await loadDataset(saved('third.json', '{"a":1}\n{"a":2}\n{"a":'));
    await expect(gathered(later.read({ cursor: 2 }))).rejects.toThrow('third.json, line 3: expected');
  });

  it('leaves a last line that is cut short out of rows, counts and cursors alike', async () => {
    const torn = '{"a":1}\n{"a":2}\n{"a"';
    const parts = [saved('torn-1.jsonl', torn), saved('torn-2.jsonl', '{"a":3}\n{"a":4}')];
    const dataset = await loadDataset(parts, { tornLine: 'skip' });
    const all = [1, 2, 3, 4].map((a) => ({ a }));
    expect([await dataset.toArray(), await dataset.count()]).toEqual([all, 4]);
    for (const cursor of [1, 2, 3, 4])
      expect((await gathered(dataset.read({ cursor }))).map(({ row }) => row)).toEqual(all.slice(cursor));
    expect(await (await loadDataset(`${parts[0]}[-1:]`, { tornLine: 'skip' })).toArray()).toEqual([{ a: 2 }]);
    await expect((await loadDataset(parts)).toArray()).rejects.toThrow('torn-1.jsonl, line 3');
  });

  it.each([
    ['places.jsonl', '\n{"a":1}\n{"a":2}\n', 'line 3'],
    ['places.json', '[{"a":1},\n{"a":2}]', 'element 2'],
    ['places.csv', 'a\n1\n2\n', 'line 3'],
    ['places.txt', 'one\n\ntwo\n', 'line 3'],
    ['places.parquet', parquet(2), 'row 2'],
  ])('says where a row is in %s', async (name, content, place) => {
    const dataset = await loadDataset(saved(name, content));
    expect(dataset.name).toBe(join(directory, name));
    const [entry] = await gathered(dataset.read({ cursor: 1 }));
    expect(entry).toMatchObject({ number: 2, place: `${join(directory, name)}, ${place}` });
  });

  it('does not parse the rows before a cursor, nor those that it counts', async () => {
    const broken = [saved('early.jsonl', '{"a"\n{"a":2}\n'), saved('early.json', '[{"a"},{"a":2}]')];
    for (const path of broken) {
      const dataset = await loadDataset(path);
      expect((await gathered(dataset.read({ cursor: 1 }))).map(({ row }) => row)).toEqual([{ a: 2 }]);
      expect(await dataset.count()).toBe(2);
      await expect(dataset.toArray()).rejects.toThrow(/line 1|element 1/);
    }
  });

  it.each(['', '\ufeff\n \n'])('reads no rows from %j', async (content) => {
    expect(await (await loadDataset(saved('empty.jsonl', content))).toArray()).toEqual([]);
  });

  it('looks at the first character alone to tell a list from lines', async () => {
    const list = saved('spaced.jsonl', `\ufeff${' \n'.repeat(200_000)}[{"a":1}]`);
    expect(await (await loadDataset(list)).toArray()).toEqual([{ a: 1 }]);
    const lines = saved('lists.jsonl', '{"a":[1]}\n{"a":[2]}');
    expect(await (await loadDataset(lines)).count()).toBe(2);
  });

  it('takes the ending of a name in capitals, and a slice as the split of a file', async () => {
    expect(await (await loadDataset(saved('TABLE.CSV', 'a\n1\n'))).toArray()).toEqual([{ a: '1' }]);
    expect(await (await loadDataset(saved('WORDS.TXT', 'a'))).toArray()).toEqual([{ text: 'a' }]);
    expect(await (await loadDataset(saved('PACKED.CSV.GZ', gzipSync('a\n1\n')))).toArray()).toEqual([
      { a: '1' },
    ]);
    const path = saved('split.jsonl', lines(5));
    expect(await (await loadDataset(path, { split: '[1:3]' })).toArray()).toEqual(rows(2, 1));
    expect(await (await loadDataset(`${path}[2:4]`, { split: '[0:1]' })).toArray()).toEqual(rows(2, 2));
  });

  it('reads Zstandard, or says which Node does', async () => {
    const text = 'a\n1\n';
    // A frame of one block that is not compressed.
    const header = [0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length, (text.length << 3) | 1, 0, 0];
    const path = saved('rows.csv.zst', Buffer.concat([Buffer.from(header), Buffer.from(text)]));
    const reading = (await loadDataset(path)).toArray();
    if ('createZstdDecompress' in zlib) return expect(await reading).toEqual([{ a: '1' }]);
    const problem = `${path}: Zstandard needs Node 22.15; use a newer Node, or compress the file by gzip`;
    return expect(reading).rejects.toThrow(new RlpError(problem));
  });

  it('reads lines of text', async () => {
    const dataset = await loadDataset(saved('stories.txt', 'One.\r\n\nTwo.'));
    expect(await dataset.toArray()).toEqual([{ text: 'One.' }, { text: 'Two.' }]);
  });

  it.each([
    ['[0:500]', rows(20)],
    ['[3:5]', rows(2, 3)],
    ['@[3:5]', rows(2, 3)],
    ['[:2]', rows(2)],
    ['[18:]', rows(2, 18)],
    ['[-2:]', rows(2, 18)],
    ['[-30:-19]', rows(1)],
    ['[:10%]', rows(2)],
    ['[90%:]', rows(2, 18)],
    ['[5:5]', []],
    ['[30:40]', []],
  ])('slices %s', async (slice, expected) => {
    for (const [name, content] of [files[0]!, files[6]!]) {
      const dataset = await loadDataset(`${saved(name, content)}${slice}`);
      expect(await dataset.toArray()).toEqual(expected);
      expect(await dataset.count()).toBe(expected.length);
    }
  });

  it('reads a file whose name looks like a slice', async () => {
    expect(await (await loadDataset(saved('odd[0:1]', lines(3)))).count()).toBe(3);
  });

  it('reads several files in their order, and says which one is wrong', async () => {
    const parts = [
      saved('part-1.jsonl', lines(5)),
      saved('part-2.parquet', parquet(9, 5)),
      saved('part-3.csv', csv(3)),
    ];
    const dataset = await loadDataset(parts);
    const all = [...rows(14), ...rows(3)];
    expect(await dataset.toArray()).toEqual(all);
    for (const cursor of [4, 5, 6, 14, 16]) {
      const rest = await gathered(dataset.read({ cursor }));
      expect(rest.map(({ row }) => row)).toEqual(all.slice(cursor));
      expect(rest[0]?.number).toBe(cursor + 1);
    }
    const [{ place } = { place: '' }] = await gathered(dataset.read({ cursor: 6 }));
    expect(place).toBe(`${parts[1]}, row 2`);
    expect(dataset.name).toBe(`${parts[0]} and 2 more`);
  });
});

describe('folders', () => {
  const folder = (name: string, contents: Readonly<Record<string, string | Uint8Array>>) => {
    for (const [path, content] of Object.entries(contents)) saved(join(name, path), content);
    return join(directory, name);
  };

  it('reads splits of Parquet parts', async () => {
    const source = folder('hub', {
      'README.md': '# data',
      'dataset_infos.json': '{}',
      '.cache/train.jsonl': lines(9),
      'data/train-00000-of-00002.parquet': parquet(5),
      'data/train-00001-of-00002.parquet': parquet(3, 5),
      'data/test-00000-of-00001.parquet': parquet(2),
      'data/extra-00000-of-00001.parquet': parquet(1),
    });
    expect(await (await loadDataset(source)).toArray()).toEqual(rows(8));
    expect(await (await loadDataset(source, { split: 'test' })).count()).toBe(2);
    expect(await (await loadDataset(source, { split: 'extra' })).count()).toBe(1);
    expect(await (await loadDataset(source, { split: 'train[6:]' })).toArray()).toEqual(rows(2, 6));
    await expect(loadDataset(source, { split: 'dev' })).rejects.toThrow(
      /hub: expected one of the splits extra, test, train, got "dev"; pass split: 'extra'/,
    );
  });

  it.each([
    [{ 'train.jsonl': lines(3), 'valid.jsonl': lines(1) }, { split: 'validation' }, 1],
    [{ 'my_test_set.csv': csv(4), 'my_train_set.csv': csv(2) }, {}, 2],
    [
      { 'dev/a.jsonl': lines(3), 'dev/b.jsonl': lines(1), 'train/a.jsonl': lines(1) },
      { split: 'validation' },
      4,
    ],
    [{ 'anything.jsonl': lines(6) }, {}, 6],
    [{ 'train.jsonl': lines(2), 'model_solutions.jsonl': lines(5) }, {}, 2],
    [{ 'only-test.jsonl': lines(6) }, {}, 6],
    [
      { 'main/train-00000-of-00001.parquet': parquet(3), 'socratic/train.jsonl': lines(1) },
      { config: 'main' },
      3,
    ],
    [{ 'latest/contest.jsonl': lines(2) }, {}, 2],
  ])('finds %j', async (contents, options, count) => {
    const name = `layout-${Object.keys(contents).join('-').replaceAll('/', '_')}`;
    expect(await (await loadDataset(folder(name, contents), options)).count()).toBe(count);
  });

  it('asks for a configuration if there are several', async () => {
    const source = folder('configurations', {
      'main/train.jsonl': lines(1),
      'socratic/train.jsonl': lines(1),
    });
    await expect(loadDataset(source)).rejects.toThrow(
      "expected one of the configurations main, socratic, none was named; pass config: 'main'",
    );
    await expect(loadDataset(source, { config: 'other' })).rejects.toThrow('got "other"');
  });
});

describe('bad input', () => {
  const read = async (path: string, options = {}) => (await loadDataset(path, options)).toArray();

  it.each([
    [
      'broken.jsonl',
      `${lines(2)}{"question": \n${lines(1)}`,
      /broken\.jsonl, line 3: expected one JSON object per line: /,
    ],
    [
      'scalar.jsonl',
      `${lines(2)}7\n`,
      /scalar\.jsonl, line 3: expected an object with columns, got 7; write one object per line/,
    ],
    [
      'list-of-lists.json',
      '[[1], [2]]',
      /list-of-lists\.json, element 1: expected an object with columns, got \[1\]/,
    ],
    [
      'latin.jsonl',
      Uint8Array.of(...new TextEncoder().encode(lines(1)), 0x7b, 0xe9, 0x7d, 0x0a),
      /latin\.jsonl, line 2: .*not UTF-8/,
    ],
    [
      'latin.txt',
      Uint8Array.of(0x61, 0x0a, 0xe9, 0x0a),
      /latin\.txt, line 2: expected UTF-8 text; save the file as UTF-8/,
    ],
    [
      'latin.csv',
      Uint8Array.of(0x61, 0x0a, 0xe9, 0x0a),
      /latin\.csv: expected UTF-8 text, got other bytes; save the file as UTF-8/,
    ],
    [
      'cut.json',
      JSON.stringify(rows(5)).slice(0, -40),
      /cut\.json: expected a JSON list that ends with \], got an end after 4 elements/,
    ],
    ['more.json', '[{"a":1}] {"b":2}', /more\.json: expected nothing after the end/],
    ['hole.json', '[{"a":1},,{"a":2}]', /hole\.json, element 2: expected a JSON object/],
    ['short.csv', 'a,b\n1\n', /short\.csv, line 2: expected 2 fields as in the header, got 1/],
    ['open.csv', 'a,b\n1,"2\n3,4\n', /open\.csv, line 2: expected a quoted field to end/],
    [
      'half.parquet',
      parquet(20).slice(0, 300),
      /half\.parquet: expected a Parquet file.*; download or write the file again/,
    ],
    ['empty.parquet', '', /empty\.parquet: expected a Parquet file/],
    [
      'half.jsonl.gz',
      gzipSync(lines(5000)).subarray(0, 9000),
      /half\.jsonl\.gz: expected a complete gzip file: .*; download or compress it again/,
    ],
  ])('says what is wrong in %s', async (name, content, message) => {
    await expect(read(saved(name, content))).rejects.toThrow(message);
  });

  it('says what does not exist or cannot be', async () => {
    await expect(loadDataset(undefined as never)).rejects.toThrow('got nothing; datasetOf takes rows');
    const missing = (name: string, remedy: string) =>
      `loadDataset: expected a file, a folder or a name of the hub such as openai/gsm8k, but ${join(directory, name)} does not exist in ${process.cwd()}; ${remedy}`;
    const [correct, slice] = [
      'correct the path',
      'correct the path, or write the slice as in rows.jsonl[0:500]',
    ];
    for (const [given, name, remedy] of [
      ['none.jsonl', 'none.jsonl', correct],
      ['none.jsonl[0:5]', 'none.jsonl', correct],
      ['none.jsonl[0-5]', 'none.jsonl[0-5]', slice],
      ['none[0-5].jsonl', 'none[0-5].jsonl', correct],
    ] as const)
      await expect(read(join(directory, given))).rejects.toThrow(new ArgumentError(missing(name, remedy)));
    const questions = saved('questions.jsonl', lines(1));
    await expect(read(questions.replace('.jsonl', ''))).rejects.toThrow(
      `; pass ${questions}, which is there`,
    );
    const beneath = join(saved('one.jsonl', lines(1)), 'rows.jsonl');
    await expect(read(beneath)).rejects.toThrow(`${beneath} does not exist`);
    for (const name of ['owner/rows.csv', 'rows', 'a b/c', 'owner/rows.jsonl.gz'])
      await expect(loadDataset(name)).rejects.toThrow(`but ${name} does not exist in`);
    await expect(loadDataset([])).rejects.toThrow('expected at least one file, got none');
    await expect(read(saved('one.jsonl', lines(1)), { split: 'test' })).rejects.toThrow(
      `loadDataset: ${join(directory, 'one.jsonl')} is a file and has no splits; leave out split: 'test', or pass its folder`,
    );
    mkdirSync(join(directory, 'empty'), { recursive: true });
    await expect(read(join(directory, 'empty'))).rejects.toThrow(/empty: expected files of rows .* got none/);
    await expect(read(saved('one.jsonl', lines(1)), { feilds: {} })).rejects.toThrow('did you mean fields?');
    await expect(read(saved('one.jsonl', lines(1)), { fields: { promt: 'q' } })).rejects.toThrow(
      'did you mean fields.prompt?',
    );
  });

  it.skipIf(process.platform === 'win32')('refuses what can be read only once', async () => {
    await expect(loadDataset('/dev/null')).rejects.toThrow('/dev/null is a pipe or a device');
  });

  it('ends at once when its signal fires', async () => {
    const controller = new AbortController();
    const dataset = await loadDataset(saved('long.jsonl', lines(50_000)));
    const reading = dataset.read({ signal: controller.signal });
    await reading.next();
    controller.abort(new Error('stopped'));
    await expect(gathered(reading)).rejects.toThrow('stopped');
  });
});
