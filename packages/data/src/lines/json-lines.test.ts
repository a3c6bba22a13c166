import { FormatError, OptionsError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type JsonLinesStreamOptions, parseJsonLines, readJsonLines, toJsonLine } from '../index.ts';

const valuesOf = (text: string, options = {}) => [...parseJsonLines(text, options)].map(({ value }) => value);

/** The same text, in chunks of `size` bytes. */
function chunksOf(text: string, size: number): Uint8Array[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, k) =>
    bytes.subarray(k * size, (k + 1) * size),
  );
}

async function streamed(chunks: Iterable<string | Uint8Array>, options: JsonLinesStreamOptions = {}) {
  const lines = [];
  for await (const line of readJsonLines(chunks, options)) lines.push(line);
  return lines;
}

const texts: readonly (readonly [name: string, text: string, values: readonly unknown[]])[] = [
  ['an empty text', '', []],
  ['lines with and without a last line break', '1\n2', [1, 2]],
  ['line breaks of Windows', '{"a":1}\r\n{"a":2}\r\n', [{ a: 1 }, { a: 2 }]],
  ['blank lines', '\n \n1\n\n\r\n2\n\n', [1, 2]],
  ['a byte order mark', '\uFEFF{"a":1}\n2', [{ a: 1 }, 2]],
  ['byte order marks of files put together', '\uFEFF1\n\uFEFF2\n', [1, 2]],
  ['separators of Unicode inside text', '"a\u2028b\u2029c\u0085d"\n"é😀"', ['a\u2028b\u2029c\u0085d', 'é😀']],
];

describe('parseJsonLines and readJsonLines', () => {
  it.each(texts)('read %s', async (_, text, values) => {
    expect(valuesOf(text)).toEqual(values);
    for (const size of [1, 2, 3, 1000]) {
      expect((await streamed(chunksOf(text, size))).map(({ value }) => value)).toEqual(values);
    }
    expect((await streamed([...text])).map(({ value }) => value)).toEqual(values);
  });

  it('agree on any values and any chunks', async () => {
    // fast-check's own unit for this takes a second to begin.
    const unit = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point));
    const value = fc.oneof(fc.string({ unit }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        async (values, size) => {
          const text = values.map(toJsonLine).join('');
          const lines = [...parseJsonLines(text)];
          expect(lines.map((line) => JSON.stringify(line.value))).toEqual(
            values.map((v) => JSON.stringify(v)),
          );
          expect(await streamed(chunksOf(text, size))).toEqual(lines);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('name source, line and field of a malformed line', async () => {
    const options = { source: 'run.jsonl', expected: '{"a": number}', schema: z.object({ a: z.number() }) };
    const text = '{"a":1}\n\n{"a":"x"}\n';
    expect(() => valuesOf(text, options)).toThrow(FormatError);
    expect(() => valuesOf(text, options)).toThrow(/^run\.jsonl, line 3: expected \{"a": number\}: a: /);
    await expect(streamed(chunksOf(text, 5), options)).rejects.toThrow(/^run\.jsonl, line 3: .*a: /);
    expect(() => valuesOf('{')).toThrow(
      /^JSON Lines, line 1: expected one JSON value per line: .*JSON.*; correct or remove the line$/,
    );
  });

  it('leave out a torn last line on request, and no other', async () => {
    const options = { tornLine: 'skip' } as const;
    expect(valuesOf('1\n{"a', options)).toEqual([1]);
    expect(await streamed(['1\n{"a'], options)).toHaveLength(1);
    expect(() => valuesOf('1\n{"a\n', options)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('line 2'), cause: expect.any(SyntaxError) }),
    );
    expect(() => valuesOf('{"a\n1', options)).toThrow('line 1');
    expect(() => valuesOf('{"a":1}', { ...options, schema: z.number() })).toThrow('line 1');
    // Cut in the middle of a character.
    expect(await streamed([Buffer.from('1\n"é').subarray(0, -1)], options)).toHaveLength(1);
  });

  it('pass on errors that do not come from a line', () => {
    const schema = z.unknown().transform(async () => 1);
    const onMalformed = () => expect.unreachable();
    expect(() => valuesOf('1', { schema, onMalformed })).toThrow(TypeError);
  });

  it('report malformed lines and go on, on request', async () => {
    const problems: string[] = [];
    const options = { onMalformed: ({ message }: FormatError) => void problems.push(message) };
    expect(valuesOf('1\nx\n2\n', options)).toEqual([1, 2]);
    expect(
      await streamed([Buffer.from('1\n"'), Buffer.of(0xff), Buffer.from('"\n2\n')], options),
    ).toHaveLength(2);
    expect(problems).toEqual([
      expect.stringContaining('line 2'),
      'JSON Lines, line 2: expected one JSON value per line: it is not UTF-8; save the file as UTF-8',
    ]);
  });

  it('refuse a line that is too long, and options that they do not know', async () => {
    await expect(streamed(['1\n', '"aa', 'aa', 'aa'], { maxLineBytes: 5 })).rejects.toThrow(
      'line 2: expected one JSON value per line: it has more than 5 bytes',
    );
    const last = streamed([`1\n${'2'.repeat(9)}`], { maxLineBytes: 5 });
    await expect(last).rejects.toThrow('line 2: expected one JSON value per line: it has more than 5 bytes');
    const rest = streamed([`1\n${'2'.repeat(9)}`, '\n'], { maxLineBytes: 5 });
    await expect(rest).rejects.toBeInstanceOf(FormatError);
    expect(() => valuesOf('', { torn: 'skip' })).toThrow(OptionsError);
    await expect(streamed([], { maxLineBytes: 0 })).rejects.toThrow(OptionsError);
    expect(() => readJsonLines([], 7 as never)).toThrow('readJsonLines: options must be an object, got 7');
  });

  it('end with the signal, even if the source hangs', async () => {
    const controller = new AbortController();
    const hanging = (async function* () {
      yield '1\n';
      await new Promise(() => undefined);
    })();
    const lines = readJsonLines(hanging, { signal: controller.signal });
    expect(await lines.next()).toMatchObject({ value: { value: 1 } });
    const next = lines.next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect(streamed(['1\n'], { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('keep what a source writes over in its buffer', async () => {
    const source = (async function* () {
      const buffer = new Uint8Array(3);
      for (const piece of ['"ab', 'cde', 'f"\n']) {
        buffer.set(Buffer.from(piece));
        yield buffer;
      }
    })();
    expect((await readJsonLines(source).next()).value).toMatchObject({ value: 'abcdef' });
  });

  it('answer calls that wait together in order', async () => {
    const source = (async function* () {
      for (const line of ['1\n', '2\n', '3\n']) yield line;
    })();
    const lines = readJsonLines(source);
    const answers = await Promise.all(Array.from({ length: 5 }, () => lines.next()));
    expect(answers.map(({ value }) => value?.value)).toEqual([1, 2, 3, undefined, undefined]);
  });

  it('do not wait for a source that hangs when they are left', async () => {
    const source = (async function* () {
      yield '1\n';
      await new Promise(() => undefined);
    })();
    const lines = readJsonLines(source);
    await lines.next();
    void lines.next();
    expect(await lines.return!()).toEqual({ done: true, value: undefined });
  });

  it('close a source that is left early', async () => {
    let isClosed = false;
    const source = (async function* () {
      try {
        for (;;) yield '1\n';
      } finally {
        isClosed = true;
      }
    })();
    for await (const { number } of readJsonLines(source)) if (number === 3) break;
    expect(isClosed).toBe(true);
  });
});

it('toJsonLine refuses what JSON cannot hold', () => {
  expect(toJsonLine({ a: 'b\nc' })).toBe('{"a":"b\\nc"}\n');
  expect(() => toJsonLine(undefined)).toThrow('expected a value that JSON can hold, got undefined');
});
