import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-data-'));
afterAll(() => rmSync(directory, { recursive: true }));

const file = join(directory, 'rows.jsonl');
const rows = [
  { question: 'a'.repeat(300), answer: '1', level: 1 },
  { question: 'b', answer: '', level: 'two' },
  { question: 'b', answer: '', level: 'two' },
  { question: 'c', messages: [{ role: 'user', content: 'abc' }] },
];
writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

async function rlp(...args: string[]) {
  const said: string[] = [];
  const complaints: string[] = [];
  const code = await runCli(args, {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line),
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n') };
}

describe('rlp data preview', () => {
  it('shows rows and how their columns are read', async () => {
    const { code, said } = await rlp('data', 'preview', file, '--rows', '2');
    expect(code).toBe(0);
    expect(said).toContain(`${file}: prompt from question, answer from answer`);
    expect(said).toContain(`${file}, line 2\n  question: b\n  answer: \n  level: two`);
    expect(said).toContain('… (300 characters)');
    const json = JSON.parse(
      (await rlp('data', 'preview', `${file}[3:]`, '--fields', 'prompt=level', '--json')).said,
    );
    expect(json).toMatchObject({
      columns: { prompt: 'level', messages: 'messages' },
      rows: [{ place: `${file}, line 4`, row: rows[3] }],
    });
  });

  it('says which column is in none of the rows', async () => {
    const { code, complaints } = await rlp('data', 'preview', file, '--fields', 'prompt=query');
    expect([code, complaints]).toEqual([
      0,
      expect.stringMatching(/^No row that is shown has the column query\. The first has question, answer/),
    ]);
  });

  it.each([
    [['--rows', '0'], 2, /--rows must be a whole number/],
    [['--fields', 'query'], 2, /--fields must be like prompt=query,answer=reply, got "query"/],
    [['--fields', 'promt=a'], 1, /did you mean fields\.prompt\?/],
    [['--split', 'test'], 1, /is a file and has no splits/],
    [['--colums', 'a'], 2, /unknown flag --colums/],
  ])('refuses %j', async (flags, code, message) => {
    expect(await rlp('data', 'preview', file, ...flags)).toMatchObject({
      code,
      complaints: expect.stringMatching(message),
    });
  });

  it('says what does not exist or is empty', async () => {
    expect(await rlp('data', 'preview', join(directory, 'none.jsonl'))).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/none\.jsonl does not exist/),
    });
    expect((await rlp('data', 'preview', `${file}[9:]`)).complaints).toContain('contains no rows');
    expect((await rlp('data', 'preview')).code).toBe(2);
    expect((await rlp('data')).said).toContain('stats');
  });
});

describe('rlp data stats', () => {
  it('counts rows, kinds, lengths, duplicates and empty fields', async () => {
    const { said } = await rlp('data', 'stats', file);
    expect(said.split('\n')).toEqual([
      `${file}: 4 rows, 1 of them duplicates`,
      '  question (prompt): 4 text; 1 equal to an earlier one; characters: 1 to 300, median 1, 90 % at most 300',
      '  answer (answer): 3 text; 3 empty; characters: 0 to 1, median 0, 90 % at most 1',
      '  level: 1 number, 2 text; 1 empty; characters: 3 to 3, median 3, 90 % at most 3',
      '  messages (messages): 1 list; 3 empty; characters: 3 to 3, median 3, 90 % at most 3',
    ]);
  });

  it('counts ids that are there twice, which training refuses', async () => {
    const twice = join(directory, 'twice.jsonl');
    const entries = [1, 2, 1, 1].map((id, at) => ({ id, question: `question ${at}` }));
    writeFileSync(twice, entries.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { said } = await rlp('data', 'stats', twice);
    expect(said).toContain('4 rows, 0 of them duplicates\n  id (id): 4 number; 2 equal to an earlier one');
    expect(JSON.parse((await rlp('data', 'stats', twice, '--json')).said).columns).toMatchObject([
      { name: 'id', repeated: 2 },
      { name: 'question', repeated: 0 },
    ]);
  });

  it('tells a number from a text, and counts by the prompt that each row has', async () => {
    const mixed = join(directory, 'mixed.jsonl');
    const rows = [
      '{"prompt":1}',
      '{"prompt":"1"}',
      '{"prompt":null,"question":"x"}',
      '{"prompt":"1","question":"x"}',
    ];
    writeFileSync(mixed, rows.join('\n'));
    const { said } = await rlp('data', 'stats', mixed, '--json');
    expect(JSON.parse(said)).toMatchObject({
      duplicates: 0,
      columns: [
        { kinds: { number: 1, text: 2, null: 1 }, repeated: 1 },
        { repeated: 0, empty: 2 },
      ],
    });
  });

  it('gives the median and the ninth of ten lengths of many', async () => {
    const many = join(directory, 'many.jsonl');
    const rows = Array.from({ length: 2000 }, (_, at) =>
      JSON.stringify({ text: 'x'.repeat((at * 7) % 101) }),
    );
    writeFileSync(many, rows.join('\n'));
    const lengths = Array.from({ length: 2000 }, (_, at) => (at * 7) % 101).sort((a, b) => a - b);
    const { said } = await rlp('data', 'stats', many, '--json');
    expect(JSON.parse(said).columns[0].lengths).toEqual({
      ...{ unit: 'characters', shortest: 0, longest: 100 },
      ...{ median: lengths[1000], ninetieth: lengths[1800] },
    });
  });

  it('counts in tokens, as JSON', async () => {
    const tokenizer = join(import.meta.dirname, '../../../examples/models/stories260k');
    const { said } = await rlp('data', 'stats', file, '--tokenizer', tokenizer, '--json');
    expect(JSON.parse(said)).toMatchObject({
      rows: 4,
      duplicates: 1,
      columns: [{ name: 'question', roles: ['prompt'], lengths: { unit: 'tokens' } }, {}, {}, {}],
    });
  });

  it('names the line that is broken', async () => {
    const broken = join(directory, 'broken.jsonl');
    writeFileSync(broken, '{"a":1}\n{"a":\n');
    expect(await rlp('data', 'stats', broken)).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/broken\.jsonl, line 2: /),
    });
  });
});

describe('recorded traffic', () => {
  const log = join(directory, 'traffic.jsonl');
  const first = { messages: [{ role: 'user', content: 'Where is my bag?' }] };
  const answer = { role: 'assistant', content: 'In Bern.' };
  const further = {
    messages: [...first.messages, answer, { role: 'user', content: 'Thanks' }],
    model: 'small',
  };
  const exchanges = [
    { request: first, response: { id: 'r1', choices: [{ message: answer }] } },
    {
      request: further,
      response: { id: 'r2', choices: [{ message: { role: 'assistant', content: 'Bye.' } }] },
    },
    { surprise: 1 },
  ];
  writeFileSync(log, exchanges.map((exchange) => `${JSON.stringify(exchange)}\n`).join(''));

  it('is shown by whole conversations, and what cannot be read is said', async () => {
    const { code, said, complaints } = await rlp('data', 'preview', log, '--traffic');
    expect([code, complaints]).toEqual([
      0,
      expect.stringMatching(/^1 record cannot be read.*line 3: .*surprise/),
    ]);
    expect(said).toContain(`${log}: id from id, messages from messages`);
    expect(said).toContain('In Bern.');
    expect(said).toContain('  model: small');
    expect(said.match(/row \d/g)).toEqual(['row 1']);
  });

  it('is counted', async () => {
    const { said } = await rlp('data', 'stats', log, '--traffic', '--json');
    expect(JSON.parse(said)).toMatchObject({ rows: 1, duplicates: 0 });
    expect(JSON.parse(said).columns).toContainEqual(
      expect.objectContaining({ name: 'messages', kinds: { list: 1 } }),
    );
  });

  it.each([
    [[log, '--traffic', '--split', 'test'], 2, /--split has no effect with --traffic/],
    [[join(directory, 'none.jsonl'), '--traffic'], 1, /cannot read .*none\.jsonl/],
  ] as const)('refuses %j', async (args, code, message) => {
    expect(await rlp('data', 'stats', ...args)).toMatchObject({
      code,
      complaints: expect.stringMatching(message),
    });
  });
});
