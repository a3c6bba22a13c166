import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CsvReader, parseCsv } from './parse-csv.ts';

const records = (text: string) => Array.from(parseCsv(text, { source: 'log.csv' }));

it.each([
  ['a,b\n1,2\n', [{ number: 2, record: { a: '1', b: '2' } }]],
  [
    '\ufeffa,b\r\n1,2\r\n\r\n3,\r\n',
    [{ record: { a: '1', b: '2' } }, { number: 4, record: { a: '3', b: '' } }],
  ],
  ['a,b\r1,2', [{ number: 2, record: { a: '1', b: '2' } }]],
  ['a,b\n"1,\r\n""x""",2\n3,4', [{ number: 2, record: { a: '1,\r\n"x"', b: '2' } }, { number: 4 }]],
  ['a;b,c\n1;2\n', [{ record: { 'a;b': '1;2', c: undefined } }]],
  ['"a,b";c;d\n1;2;3\n', [{ record: { 'a,b': '1', c: '2', d: '3' } }]],
  ['a\tb\n1,5\t2\n', [{ record: { a: '1,5', b: '2' } }]],
  ['a, b \n__proto__, say "x" ', [{ record: { a: '__proto__', b: ' say "x" ' } }]],
  ['a\n"\n"\n', [{ number: 2, record: { a: '\n' } }]],
  [',b\n1,2\n', [{ record: { '': '1', b: '2' } }]],
  ['a,b\n,2\n', [{ record: { a: '', b: '2' } }]],
  ['a,b\n1,', [{ record: { a: '1', b: '' } }]],
  ['"a,b,c";d\n1;2\n', [{ record: { 'a,b,c': '1', d: '2' } }]],
  ['a,b\n', []],
  ['', []],
])('reads %j', (text, expected) => {
  if (text.startsWith('a;b,c')) expect(() => records(text)).toThrow('line 2: expected 2 fields');
  else expect(records(text)).toMatchObject(expected);
});

it.each([
  ['a,b\n1,2\n1,2,3\n', 'log.csv, line 3: expected 2 fields as in the header, got 3'],
  ['a,b\n\n1\n', 'log.csv, line 3: expected 2 fields as in the header, got 1'],
  ['a,b\n"1"x,2\n', 'log.csv, line 2: expected a quoted field to end with a quote'],
  ['a,b\n"1\n\n,2\n', 'log.csv, line 2: expected a quoted field to end'],
  ['a,b,a\n', 'log.csv: expected different column names, got "a" twice'],
])('refuses %j', (text, message) => {
  expect(() => records(text)).toThrow(message);
});

it('leaves a byte order mark out at the beginning only, wherever a piece begins', () => {
  const namesOf = (...pieces: string[]) => {
    const reader = new CsvReader('log.csv');
    const rows = pieces.flatMap((piece) => [...reader.read(piece, 'more')]);
    return Object.keys([...rows, ...reader.read('', 'last')][0]!.record);
  };
  expect(namesOf('', '\ufeffa,b\n1,2\n')).toEqual(['a', 'b']);
  expect(namesOf('a,x', '\ufeffb\n1,2\n')).toEqual(['a', 'x\ufeffb']);
});

it('reads a field of some megabytes', () => {
  const long = 'x "" y\n'.repeat(100_000);
  expect(records(`a,b\n"${long}",1`)[0]!.record.a!.length).toBe(600_000);
});

it('refuses a record without an end before the text of its pieces exceeds the limit twice', () => {
  const reader = new CsvReader('log.csv', 1000);
  let pieces = 0;
  const read = () => {
    for (; pieces < 40; pieces++)
      Array.from(reader.read(pieces === 0 ? 'a,b\n1,"' : 'x'.repeat(100), 'more'));
  };
  expect(read).toThrow('log.csv, line 2: expected a record of at most 1000 characters; close the quote');
  expect(pieces).toBe(10);
});

it('reads any table that is quoted as RFC 4180 says, in any pieces', () => {
  const field = fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '\t', '\n', '\r', 'é', ' '),
    maxLength: 5,
  });
  const shape = fc.record({
    columns: fc.integer({ min: 2, max: 3 }),
    separator: fc.constantFrom(',', ';', '\t'),
  });
  const ends = fc.constantFrom('\n', '\r\n', '\r');
  const table = shape.chain(({ columns, separator }) =>
    fc.record({
      separator: fc.constant(separator),
      rows: fc.array(fc.array(field, { minLength: columns, maxLength: columns }), { maxLength: 5 }),
    }),
  );
  fc.assert(
    fc.property(table, ends, fc.integer({ min: 1, max: 7 }), ({ rows, separator }, end, size) => {
      const names = ['x', 'y', 'z'].slice(0, rows[0]?.length ?? 2);
      const quoted = (value: string) => (/^[aé ]*$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`);
      const written = [names, ...rows].map((row) => row.map(quoted).join(separator) + end).join('');
      const expected = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
      expect(Array.from(parseCsv(written), ({ record }) => record)).toEqual(expected);
      const reader = new CsvReader('log.csv');
      const found = [];
      for (let at = 0; at < written.length; at += size)
        found.push(...reader.read(written.slice(at, at + size), 'more'));
      found.push(...reader.read('', 'last'));
      expect(found).toEqual([...parseCsv(written)]);
    }),
    { numRuns: 200 },
  );
});

it.each([
  ['a;b,c;d', ';'],
  ['a,b;c,d', ','],
  ['a,b;c', ','],
  ['a;b\tc', ';'],
  ['a\tb\tc,d', '\t'],
  ['one', ','],
])('separates a text whose header is %j by %j, without a line behind it too', (header, separator) => {
  const names = header.split(separator);
  const row = names.map((_, at) => `${at}`).join(separator);
  expect(records(`${header}\n${row}`)).toEqual([
    { number: 2, record: Object.fromEntries(names.map((name, at) => [name, `${at}`])) },
  ]);
  expect(records(header)).toEqual([]);
});

it('names the text CSV by default, and what to do', () => {
  expect(() => [...parseCsv('a,b\n1')]).toThrow(
    'CSV, line 2: expected 2 fields as in the header, got 1; quote fields that hold separators or line breaks',
  );
  expect(() => [...parseCsv('a,b\n"1')]).toThrow(
    'CSV, line 2: expected a quoted field to end with a quote and a separator or line break; write quotes inside of it twice',
  );
});

it('takes a record of exactly the limit', () => {
  const read = (length: number) => {
    const reader = new CsvReader('log.csv', 20);
    return [
      ...reader.read('a\n', 'more'),
      ...reader.read('x'.repeat(length), 'more'),
      ...reader.read('\n', 'last'),
    ];
  };
  expect(read(20)).toEqual([{ number: 2, record: { a: 'x'.repeat(20) } }]);
  expect(() => read(21)).toThrow('expected a record of at most 20 characters; close the quote that is open');
});
