import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError, OptionsError } from '@rlp/core';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { AppendFile, readJsonLinesFile, readRotated } from '../files.ts';
import { toJsonLine } from '../index.ts';

const directory = mkdtempSync(join(tmpdir(), 'data-'));
afterAll(() => rmSync(directory, { recursive: true }));

let files = 0;
let path: string;
beforeEach(() => {
  path = join(directory, String(++files), 'lines.jsonl');
});
const content = (suffix = '') => readFileSync(`${path}${suffix}`, 'utf8');

function appendTo(text: string, options = {}): void {
  const file = new AppendFile({ path, ...options });
  file.append(text);
  file.close();
}

describe('AppendFile', () => {
  it('creates a file with its first append, and goes on where it ended', () => {
    const file = new AppendFile({ path });
    file.close();
    expect(existsSync(path)).toBe(false);
    file.append('1\n');
    expect(content()).toBe('1\n');
    file.close();
    file.append(Buffer.from('2\n'));
    file.close();
    appendTo('3\n');
    expect(content()).toBe('1\n2\n3\n');
  });

  it.each([
    ['removes a line that was cut short', '1\n{"a":"é', '1\n'],
    ['removes a long one', `1\n{"a":"${'x'.repeat(200_000)}`, '1\n'],
    ['removes one of exactly the length that is read at once', `1\n${'['.padEnd(65_536, 'x')}`, '1\n'],
    ['removes the only line', '[1,', ''],
    ['removes the only line behind a byte order mark', '\ufeff[1,', ''],
    ['removes what a file system filled with NUL', '1\n\0\0\0', '1\n'],
    ['ends a whole line', '{"a":1}', '{"a":1}\n'],
    ['ends a whole line behind others', '1\n{"a":1}', '1\n{"a":1}\n'],
    ['keeps an empty line in front of a torn one', '\n{"a', '\n'],
    ['ends text with a bracket in it', 'notes [of mine', 'notes [of mine\n'],
    ['ends text behind NUL', '1\n\0x', '1\n\0x\n'],
    ['ends text that is not JSON', 'notes of mine', 'notes of mine\n'],
    ['leaves an ended line, even if it is malformed', '{"a\n', '{"a\n'],
  ])('%s', (_, before, after) => {
    appendTo('');
    writeFileSync(path, before);
    appendTo('2\n');
    expect(content()).toBe(`${after}2\n`);
  });

  it('repairs a last line that begins in an earlier piece of the file, wherever the pieces meet', () => {
    appendTo('');
    for (const length of [65_534, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073]) {
      writeFileSync(path, `1\n[${'x'.repeat(length - 1)}`);
      appendTo('2\n');
      expect(content(), `${length}`).toBe('1\n2\n');
      writeFileSync(path, `[${'x'.repeat(length - 1)}`);
      appendTo('2\n');
      expect(content(), `${length}`).toBe('2\n');
    }
  });

  it('does not touch a file of bytes', () => {
    appendTo('{"', { content: 'bytes' });
    appendTo('!', { content: 'bytes' });
    expect(content()).toBe('{"!');
  });

  it('removes what a full disk cut short, at the next append or when it is closed', () => {
    let room = 8;
    const write = (descriptor: number, bytes: Uint8Array, offset: number) => {
      if (room === 0) throw new Error('ENOSPC');
      const written = writeSync(descriptor, bytes, offset, Math.min(room, bytes.length - offset));
      room -= written;
      return written;
    };
    const file = new AppendFile({ path, write });
    file.append('first\n');
    expect(() => file.append('second\n')).toThrow('ENOSPC');
    expect(() => file.append('third\n')).toThrow('ENOSPC');
    room = 9;
    file.append('fourth\n');
    expect(() => file.append('fifth\n')).toThrow('ENOSPC');
    file.close();
    expect(content()).toBe('first\nfourth\n');
  });

  it('moves a full file out of the way and keeps the last ones', async () => {
    expect(await readRotated(path)).toBe('');
    const file = new AppendFile({ path, maxBytes: 1024, keep: 2 });
    const line = (name: string) => `${name.repeat(600)}\n`;
    for (const name of ['a', 'b', 'c', 'd']) file.append(line(name));
    file.close();
    expect(await readRotated(path)).toBe([line('b'), line('c'), line('d')].join('\n'));
    expect([content(), content('.1'), content('.2'), existsSync(`${path}.3`)]).toEqual([
      line('d'),
      line('c'),
      line('b'),
      false,
    ]);
    const single = new AppendFile({ path, maxBytes: 1024, keep: 0 });
    single.append(line('e'));
    single.close();
    expect([content(), content('.1')]).toEqual([line('e'), line('c')]);
  });

  it('fails, and loses nothing, if an older file cannot be moved', () => {
    appendTo(`${'a'.repeat(1000)}\n`);
    mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true });
    const file = new AppendFile({ path, maxBytes: 1024, keep: 1 });
    expect(() => file.append('more than fits into the limit\n')).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
    expect(content()).toBe(`${'a'.repeat(1000)}\n`);
  });

  it.skipIf(!existsSync('/dev/null'))('appends to a device, which cannot be flushed', () => {
    const file = new AppendFile({ path: '/dev/null' });
    file.append('gone\n');
    expect(() => file.close()).not.toThrow();
    let calls = 0;
    const write = () => {
      if (++calls === 2) throw new Error('no reader');
      return 1;
    };
    const failing = new AppendFile({ path: '/dev/null', write });
    expect(() => failing.append('ab')).toThrow('no reader');
    expect(() => failing.append('c')).not.toThrow();
    failing.close();
  });

  it('writes a line that is larger than the limit into a file of its own', () => {
    const file = new AppendFile({ path, maxBytes: 1024 });
    file.append(`${'x'.repeat(5000)}\n`);
    expect(existsSync(`${path}.1`)).toBe(false);
    file.append('y\n');
    file.append(`${'z'.repeat(1021)}\n`);
    file.close();
    expect([content().length, content('.1').length]).toEqual([1024, 5001]);
  });

  it('refuses bad options and what is not a file', () => {
    expect(() => new AppendFile({ path, maximumBytes: 1 } as never)).toThrow(OptionsError);
    expect(() => new AppendFile({ path: directory }).open()).toThrow('EISDIR');
  });
});

describe('readJsonLinesFile', () => {
  it('reads what was appended, and names file and line of what it cannot read', async () => {
    for (const value of ['a\u2028b', { n: 1 }]) appendTo(toJsonLine(value));
    const read = async () => {
      const values = [];
      for await (const { value } of readJsonLinesFile(path)) values.push(value);
      return values;
    };
    expect(await read()).toEqual(['a\u2028b', { n: 1 }]);
    appendFileSync(path, 'x\n');
    await expect(read()).rejects.toThrow(FormatError);
    await expect(read()).rejects.toThrow(`${path}, line 3: expected one JSON value per line`);
    rmSync(path);
    await expect(read()).rejects.toThrow('ENOENT');
  });
});
