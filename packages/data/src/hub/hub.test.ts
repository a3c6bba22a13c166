import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadDataset } from '../datasets/load-dataset.ts';
import { hubSnapshot } from './hub-snapshot.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const column = (count: number) => ({
  name: 'question',
  data: Array.from({ length: count }, (_, at) => `q ${at}`),
});
const files: Readonly<Record<string, Buffer>> = {
  'README.md': Buffer.from('# sums'),
  'data/train-00000-of-00001.parquet': Buffer.from(
    new Uint8Array(parquetWriteBuffer({ columnData: [column(3000)], codec: 'UNCOMPRESSED' })),
  ),
  'test.jsonl': Buffer.from('{"question":"a"}\n{"question":"b"}\n'),
};
const isLarge = (path: string) => path.endsWith('.parquet');
const digest = (kind: string, ...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash(kind)).digest('hex');
const oidOf = (content: Buffer) => digest('sha1', `blob ${content.length}\0`, content);

/** What the server does wrong, by the number of requests for content so far. */
let fault: (request: number) => 'none' | 'cut' | 'hang' | 'other' | 503 = () => 'none';
let requests: string[] = [];
let contents = 0;
let token: string | undefined;

function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function serveContent(path: string, range: string | undefined, response: ServerResponse): void {
  const whole = files[path]!;
  const [, start = '0', end = String(whole.length - 1)] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
  const part = whole.subarray(Number(start), Number(end) + 1);
  const etag = isLarge(path) ? digest('sha256', whole) : oidOf(whole);
  const headers = { ETag: `"${etag}"`, 'content-range': `bytes ${start}-${end}/${whole.length}` };
  if (range === 'bytes=0-0') return void response.writeHead(206, headers).end(part);
  const wrong = fault(contents++);
  if (wrong === 503) return void response.writeHead(503).end();
  response.writeHead(range === undefined ? 200 : 206, { ...headers, 'content-length': part.length });
  if (wrong === 'none') response.end(part);
  else if (wrong === 'other') response.end(Buffer.alloc(part.length, 'x'));
  else {
    const half = part.subarray(0, Math.ceil(part.length / 2));
    response.write(half, () => setTimeout(() => (wrong === 'cut' ? response.destroy() : undefined), 20));
  }
}

const server: Server = createServer(({ url = '', headers }, response) => {
  const { pathname } = new URL(url, 'http://hub');
  requests.push(`${pathname} ${headers.range ?? ''}`.trim());
  if (token !== undefined && headers.authorization !== `Bearer ${token}`) {
    return answer(response, headers.authorization === undefined ? 401 : 403, {
      error: 'Access is restricted',
    });
  }
  const name = '(datasets/)?owner/sums';
  const [, , revision] = new RegExp(`^/api/${name}/revision/(.+)$`).exec(pathname) ?? [];
  if (revision === 'main' || revision === commit)
    return answer(response, 200, { sha: commit, id: 'owner/sums' });
  if (new RegExp(`^/api/${name}/tree/${commit}$`).test(pathname)) {
    const list = Object.entries(files).map(([path, content]) => ({
      type: 'file',
      path,
      size: content.length,
      oid: oidOf(content),
      ...(isLarge(path) && {
        lfs: { oid: digest('sha256', content), size: content.length, pointerSize: 130 },
      }),
    }));
    const hostile = { type: 'file', path: '../../../train.jsonl', size: 1, oid: '00' };
    return answer(response, 200, [{ type: 'directory', path: 'data', size: 0 }, hostile, ...list]);
  }
  const [, path] = new RegExp(`^/datasets/owner/sums/resolve/${commit}/(.+)$`).exec(pathname) ?? [];
  if (path !== undefined && files[path]) return serveContent(path, headers.range, response);
  answer(response, 404, { error: 'Repository not found' }, { 'x-error-code': 'RepoNotFound' });
});

let url = '';
let cacheDirectory = '';
const root = mkdtempSync(join(tmpdir(), 'rlp-hub-'));
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(root, 'cache-'));
  [requests, contents, token, fault] = [[], 0, undefined, () => 'none'];
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(root, { recursive: true });
});

const hub = () => ({ url, cacheDirectory, attempts: 3, stallMs: 2000 });
const inCache = (...path: string[]) => join(cacheDirectory, 'datasets--owner--sums', ...path);
const parquetBlob = () => inCache('blobs', digest('sha256', files['data/train-00000-of-00001.parquet']!));

describe('loadDataset of a hub id', () => {
  it("downloads the files of a split into Hugging Face's cache, once", async () => {
    const dataset = await loadDataset('owner/sums', { hub: hub() });
    expect(await dataset.count()).toBe(3000);
    const link = inCache('snapshots', commit, 'data/train-00000-of-00001.parquet');
    expect(readFileSync(link).equals(files['data/train-00000-of-00001.parquet']!)).toBe(true);
    expect(join(dirname(link), readlinkSync(link))).toBe(parquetBlob());
    expect(readFileSync(inCache('refs', 'main'), 'utf8')).toBe(commit);
    expect(existsSync(inCache('snapshots', commit, 'test.jsonl'))).toBe(false);
    requests = [];
    const slice = await loadDataset('hf://datasets/owner/sums[5:7]', { hub: hub() });
    expect(await slice.toArray()).toEqual([{ question: 'q 5' }, { question: 'q 6' }]);
    expect(requests.filter((request) => request.includes('resolve'))).toEqual([]);
  });

  it('reads the cache alone when there is no network', async () => {
    await loadDataset('owner/sums', { split: 'test', hub: hub() });
    requests = [];
    const options = { split: 'test[:1]', hub: { ...hub(), use: 'cache' as const } };
    expect(await (await loadDataset('owner/sums', options)).toArray()).toEqual([{ question: 'a' }]);
    expect(requests).toEqual([]);
    await expect(loadDataset('owner/none', options)).rejects.toThrow(
      /owner\/none .* is not in the cache .*: fetch it once/,
    );
  });

  it.each([['cut'], [503]] as const)('goes on where it stopped: %s', async (wrong) => {
    fault = (request) => (request === 0 ? wrong : 'none');
    const dataset = await loadDataset('owner/sums', { hub: hub() });
    expect(await dataset.count()).toBe(3000);
    const last = requests.filter((request) => /bytes=(?!0-0)/.test(request));
    if (wrong === 'cut') expect(last.at(-1)).toMatch(/bytes=[1-9]\d*-/);
  });

  it('tries again after silence', async () => {
    fault = (request) => (request === 0 ? 'hang' : 'none');
    const dataset = await loadDataset('owner/sums', { hub: { ...hub(), stallMs: 300 } });
    expect(await dataset.count()).toBe(3000);
  });

  it('keeps what an interrupted run had, and refuses other bytes', async () => {
    fault = () => 'cut';
    const once = { ...hub(), attempts: 1 };
    await expect(loadDataset('owner/sums', { hub: once })).rejects.toThrow(
      /cannot be read: .*goes on where it stopped/,
    );
    expect(readFileSync(`${parquetBlob()}.incomplete`).length).toBeGreaterThan(0);
    fault = () => 'other';
    await expect(loadDataset('owner/sums', { hub: once })).rejects.toThrow(
      /with the checksum that the hub names, got others/,
    );
    expect(existsSync(`${parquetBlob()}.incomplete`)).toBe(false);
    fault = () => 'none';
    expect(await (await loadDataset('owner/sums', { hub: once })).count()).toBe(3000);
  });

  it.each([
    [
      undefined,
      /the dataset owner\/sums of .* does not exist, or is private or gated \(HTTP 401\): correct the name, or set HF_TOKEN/,
    ],
    [
      'hf_wrong',
      /private or gated \(HTTP 403\): accept its terms at http.*\/datasets\/owner\/sums, or use a token/,
    ],
  ])('says what a gated dataset needs: token %s', async (accessToken, message) => {
    token = 'hf_right';
    const access = accessToken === undefined ? {} : { accessToken };
    await expect(loadDataset('owner/sums', { hub: { ...hub(), ...access } })).rejects.toThrow(message);
    expect(await (await loadDataset('owner/sums', { hub: { ...hub(), accessToken: token } })).count()).toBe(
      3000,
    );
  });

  it('says what does not exist', async () => {
    await expect(loadDataset('owner/sums', { hub: { ...hub(), accessToken: 'secret' } })).rejects.toThrow(
      'begins with hf_, got another text',
    );
    await expect(loadDataset('owner/nothing', { hub: hub() })).rejects.toThrow(
      /no file or folder owner\/nothing here, and the dataset owner\/nothing .* does not exist, or has no revision "main" \(HTTP 404\)/,
    );
    await expect(loadDataset('owner/sums', { hub: { ...hub(), revision: 'v9' } })).rejects.toThrow(
      'no revision "v9"',
    );
    await expect(loadDataset('owner/sums', { split: 'dev', hub: hub() })).rejects.toThrow(
      'owner/sums: expected one of the splits train, test, got "dev"',
    );
    const closed = { ...hub(), url: 'http://127.0.0.1:9', attempts: 1 };
    await expect(loadDataset('owner/sums', { hub: closed })).rejects.toThrow(
      /cannot be read: .*(ECONNREFUSED|bad port).*; check the network and try again.*HF_HUB_OFFLINE=1/,
    );
  });

  it.runIf(existsSync('/dev/full'))('says that the disk is full', async () => {
    mkdirSync(inCache('blobs'), { recursive: true });
    symlinkSync('/dev/full', `${parquetBlob()}.incomplete`);
    await expect(loadDataset('owner/sums', { hub: hub() })).rejects.toThrow(
      /no space left for the dataset owner\/sums .*: free some, or set HF_HUB_CACHE to another disk/,
    );
  });

  it('ends when its signal fires', async () => {
    fault = () => 'hang';
    const signal = AbortSignal.timeout(200);
    const fetching = hubSnapshot({ type: 'dataset', name: 'owner/sums' }, hub(), { signal });
    await expect(fetching).rejects.toThrow(/timeout/i);
  });

  it('uses the fetch that it is given', async () => {
    const used: string[] = [];
    const own: typeof fetch = (input, init) => {
      used.push(String(input));
      return fetch(input, init);
    };
    await hubSnapshot({ type: 'dataset', name: 'owner/sums' }, { ...hub(), fetch: own });
    expect(used).toHaveLength(requests.length);
  });
});

it('finds cache, token and address in the environment of Hugging Face', async () => {
  const saved = { ...process.env };
  Object.assign(process.env, { HF_HUB_CACHE: cacheDirectory, HF_ENDPOINT: url, HF_TOKEN: 'hf_right' });
  token = 'hf_right';
  try {
    const { directory } = await hubSnapshot({ type: 'dataset', name: 'owner/sums' });
    expect(directory).toBe(inCache('snapshots', commit));
    process.env.HF_HUB_OFFLINE = '1';
    requests = [];
    writeFileSync(inCache('refs', 'main'), commit);
    expect((await hubSnapshot({ type: 'dataset', name: 'owner/sums' })).paths).toHaveLength(3);
    expect(requests).toEqual([]);
  } finally {
    for (const name of ['HF_HUB_CACHE', 'HF_ENDPOINT', 'HF_TOKEN', 'HF_HUB_OFFLINE'])
      delete process.env[name];
    Object.assign(process.env, saved);
  }
});
