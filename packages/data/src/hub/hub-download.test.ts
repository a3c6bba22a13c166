import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, FormatError, TimeoutError } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { downloadBlob, etagOf, type HubFile, persistently } from './hub-download.ts';

/** How often a download is tried that fails like this, and what came of it. */
async function triesOf(error: Error, controller = new AbortController(), onTry = () => {}) {
  let tries = 0;
  const work = () => {
    tries += 1;
    onTry();
    return Promise.reject(error);
  };
  const download = persistently('file', work, { attempts: 2, signal: controller.signal });
  await expect(download).rejects.toBe(error);
  return tries;
}

it('an error that will come again is not tried again', async () => {
  expect(await triesOf(new ArgumentError('no such file'))).toBe(1);
});

it('a download that was stopped is not tried again', async () => {
  const controller = new AbortController();
  const stop = () => controller.abort(new Error('stopped'));
  expect(await triesOf(new TimeoutError('no answer'), controller, stop)).toBe(1);
});

it('names the content of a file by its checksum', () => {
  expect(etagOf({ path: 'a', size: 1, oid: 'ab1', lfs: { oid: 'CD2' } })).toBe('CD2');
  expect(etagOf({ path: 'a', size: 1, oid: 'ab1' })).toBe('ab1');
  for (const oid of [undefined, '', '../x', 'xyz', 'ab/cd'])
    expect(() => etagOf({ path: 'a', size: 1, oid })).toThrow(
      new FormatError(`a: expected the hub to name an object id, got ${oid}; try again later`),
    );
});

describe('downloadBlob', () => {
  const sha = (kind: string, text: string) => createHash(kind).update(text).digest('hex');
  const large = (text: string): HubFile => ({
    path: 'a',
    size: text.length,
    lfs: { oid: sha('sha256', text) },
  });
  const small = (text: string): HubFile => ({
    path: 'a',
    size: text.length,
    oid: sha('sha1', `blob ${text.length}\0${text}`),
  });

  /** Downloads a content of which a part may be there. */
  async function downloaded(file: HubFile, content: string, before?: string) {
    const directory = mkdtempSync(join(tmpdir(), 'rlp-blob-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const blob = join(directory, 'blobs', 'ab');
    if (before !== undefined) {
      await downloadBlob(small(''), blob, { open: () => expect.unreachable(), stallMs: 1000, attempts: 1 });
      rmSync(blob);
      writeFileSync(`${blob}.incomplete`, before);
    }
    const from: number[] = [];
    const signals: AbortSignal[] = [];
    const open = async (start: number, signal: AbortSignal) => {
      from.push(start);
      signals.push(signal);
      return (async function* () {
        for (const letter of content.slice(start)) yield Buffer.from(letter);
      })();
    };
    const download = () => downloadBlob(file, blob, { open, stallMs: 1000, attempts: 1 });
    const error = await download().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const [has, isPartial] = [existsSync(blob), existsSync(`${blob}.incomplete`)];
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    return { error, from, isPartial, text: has ? readFileSync(blob, 'utf8') : undefined, download };
  }

  it.each([
    ['nothing', undefined, [0]],
    ['a part', 'con', [3]],
    ['all of it', 'content', []],
    ['more than the whole', 'content and more', [0]],
  ])('goes on from %s', async (_, before, from) => {
    for (const file of [large('content'), small('content')])
      expect(await downloaded(file, 'content', before)).toMatchObject({
        ...{ error: undefined, from, isPartial: false, text: 'content' },
      });
  });

  it('makes an empty file without asking for it', async () => {
    expect(await downloaded(small(''), '')).toMatchObject({ error: undefined, from: [], text: '' });
  });

  it('leaves a file that is there', async () => {
    const { download, from } = await downloaded(large('content'), 'content');
    await download();
    expect(from).toEqual([0]);
  });

  it.each([
    ['other bytes', 'cuntent'],
    ['too few bytes', 'conten'],
    ['too many bytes', 'contents'],
  ])('refuses %s, and removes them', async (_, content) => {
    const { error, isPartial, text } = await downloaded(large('content'), content);
    expect(error).toEqual(
      new FormatError(
        'a: expected 7 bytes with the checksum that the hub names, got others; download it again',
      ),
    );
    expect([isPartial, text]).toEqual([false, undefined]);
  });
});
