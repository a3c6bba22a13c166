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
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadDataset } from '../datasets/load-dataset.ts';
import { type HubServer, hubCommit, hubEtag, startHubServer } from '../testing/hub-server.ts';
import { downloadBlob } from './hub-download.ts';
import { hubSnapshot } from './hub-snapshot.ts';

const commit = hubCommit;
const column = (count: number) => ({
  name: 'question',
  data: Array.from({ length: count }, (_, at) => `q ${at}`),
});
const table = 'data/train-00000-of-00001.parquet';
const files: Readonly<Record<string, Buffer>> = {
  'README.md': Buffer.from('# sums'),
  [table]: Buffer.from(
    new Uint8Array(parquetWriteBuffer({ columnData: [column(3000)], codec: 'UNCOMPRESSED' })),
  ),
  'test.jsonl': Buffer.from('{"question":"a"}\n{"question":"b"}\n'),
};

let server: HubServer;
let cacheDirectory = '';
const root = mkdtempSync(join(tmpdir(), 'rlp-hub-'));
beforeAll(async () => {
  server = await startHubServer({
    'datasets/owner/sums': files,
    'owner/sums': { 'config.json': '{}', 'weights.bin': 'w' },
  });
});
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(root, 'cache-'));
  Object.assign(server, {
    requests: [],
    contents: 0,
    token: undefined,
    fault: () => 'none',
    refusal: undefined,
  });
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

const hub = () => ({ url: server.url, cacheDirectory, attempts: 3, stallMs: 2000 });
const inCache = (...path: string[]) => join(cacheDirectory, 'datasets--owner--sums', ...path);
const parquetBlob = () => inCache('blobs', hubEtag(table, files[table]!));

describe('loadDataset of a hub id', () => {
  it("downloads the files of a split into Hugging Face's cache, once", async () => {
    const dataset = await loadDataset('owner/sums', { hub: hub() });
    expect(await dataset.count()).toBe(3000);
    const link = inCache('snapshots', commit, 'data/train-00000-of-00001.parquet');
    expect(readFileSync(link).equals(files['data/train-00000-of-00001.parquet']!)).toBe(true);
    expect(join(dirname(link), readlinkSync(link))).toBe(parquetBlob());
    expect(readFileSync(inCache('refs', 'main'), 'utf8')).toBe(commit);
    expect(existsSync(inCache('snapshots', commit, 'test.jsonl'))).toBe(false);
    server.requests = [];
    const slice = await loadDataset('hf://datasets/owner/sums[5:7]', { hub: hub() });
    expect(await slice.toArray()).toEqual([{ question: 'q 5' }, { question: 'q 6' }]);
    expect(server.requests.filter((request) => request.includes('resolve'))).toEqual([]);
  });

  it('reads the cache alone when there is no network', async () => {
    await loadDataset('owner/sums', { split: 'test', hub: hub() });
    server.requests = [];
    const options = { split: 'test[:1]', hub: { ...hub(), use: 'cache' as const } };
    expect(await (await loadDataset('owner/sums', options)).toArray()).toEqual([{ question: 'a' }]);
    expect(server.requests).toEqual([]);
    await expect(loadDataset('owner/none', options)).rejects.toThrow(
      /owner\/none .* is not in the cache .*: fetch it once/,
    );
  });

  it.each([['cut'], [503]] as const)('goes on where it stopped: %s', async (wrong) => {
    server.fault = (request) => (request === 0 ? wrong : 'none');
    const dataset = await loadDataset('owner/sums', { hub: hub() });
    expect(await dataset.count()).toBe(3000);
    const last = server.requests.filter((request) => /bytes=(?!0-0)/.test(request));
    if (wrong === 'cut') expect(last.at(-1)).toMatch(/bytes=[1-9]\d*-/);
  });

  it('stops reading what is longer than the hub said', async () => {
    let pieces = 0;
    async function* endless() {
      for (; pieces < 1000; pieces++) yield new Uint8Array(10);
    }
    const file = { path: 'a.txt', size: 25, oid: 'ab' };
    const download = { open: async () => endless(), stallMs: 10_000, attempts: 1 };
    await expect(downloadBlob(file, join(cacheDirectory, 'ab'), download)).rejects.toThrow(
      'a.txt: expected 25 bytes with the checksum that the hub names, got others',
    );
    expect(pieces).toBe(2);
  });

  it('tries again after silence', async () => {
    server.fault = (request) => (request === 0 ? 'hang' : 'none');
    const dataset = await loadDataset('owner/sums', { hub: { ...hub(), stallMs: 300 } });
    expect(await dataset.count()).toBe(3000);
  });

  it('keeps what an interrupted run had, and refuses other bytes', async () => {
    server.fault = () => 'cut';
    const once = { ...hub(), attempts: 1 };
    await expect(loadDataset('owner/sums', { hub: once })).rejects.toThrow(
      /cannot be read: .*goes on where it stopped/,
    );
    expect(readFileSync(`${parquetBlob()}.incomplete`).length).toBeGreaterThan(0);
    server.fault = () => 'other';
    await expect(loadDataset('owner/sums', { hub: once })).rejects.toThrow(
      /with the checksum that the hub names, got others/,
    );
    expect(existsSync(`${parquetBlob()}.incomplete`)).toBe(false);
    server.fault = () => 'none';
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
    server.token = 'hf_right';
    const access = accessToken === undefined ? {} : { accessToken };
    await expect(loadDataset('owner/sums', { hub: { ...hub(), ...access } })).rejects.toThrow(message);
    expect(
      await (await loadDataset('owner/sums', { hub: { ...hub(), accessToken: server.token } })).count(),
    ).toBe(3000);
  });

  it('says that a dataset is gated if the hub does', async () => {
    Object.assign(server, { token: 'hf_right', refusal: 'GatedRepo' });
    await expect(loadDataset('owner/sums', { hub: hub() })).rejects.toThrow(
      /owner\/sums of http\S+ is gated \(HTTP 401\): accept its terms at http\S+\/datasets\/owner\/sums, and set HF_TOKEN/,
    );
  });

  it('says what does not exist', async () => {
    await expect(hubSnapshot({ type: 'dataset', name: '../x' }, hub())).rejects.toThrow(
      'expected a name such as openai/gsm8k, got "../x"',
    );
    await expect(loadDataset('owner/sums', { hub: { ...hub(), accessToken: 'secret' } })).rejects.toThrow(
      'begins with hf_, got another text',
    );
    await expect(loadDataset('owner/nothing', { hub: hub() })).rejects.toThrow(
      /no file or folder owner\/nothing was found here, and the dataset owner\/nothing .* does not exist, or has no revision "main" \(HTTP 404\)/,
    );
    await expect(loadDataset('lab/package', { hub: hub() })).rejects.toThrow(
      'lab/package was found here (lab/package.json is there: pass it with its ending), and the dataset',
    );
    await expect(loadDataset('owner/sums', { hub: { ...hub(), revision: 'v9' } })).rejects.toThrow(
      'no revision "v9"',
    );
    for (const revision of ['', '..', '../../x', 'a/../..', '/etc', 'a\\b']) {
      await expect(
        hubSnapshot({ type: 'dataset', name: 'owner/sums' }, { ...hub(), revision }),
      ).rejects.toThrow('revision: must be the name of a branch or tag, or a commit');
    }
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
    server.fault = () => 'hang';
    const signal = AbortSignal.timeout(200);
    const fetching = hubSnapshot({ type: 'dataset', name: 'owner/sums' }, hub(), { signal });
    await expect(fetching).rejects.toThrow(/timeout/i);
  });

  it('asks for nothing that is there, and takes no lease then', async () => {
    const repository = { type: 'dataset', name: 'owner/sums' } as const;
    const first = await hubSnapshot(repository, hub());
    expect([...first.paths].sort()).toEqual(['README.md', table, 'test.jsonl']);
    expect(first).toMatchObject({ commit, directory: inCache('snapshots', commit) });
    rmSync(join(cacheDirectory, '.locks'), { recursive: true });
    expect(await hubSnapshot(repository, { ...hub(), revision: commit })).toEqual(first);
    expect(existsSync(join(cacheDirectory, '.locks'))).toBe(false);
    expect(existsSync(inCache('refs', commit))).toBe(false);
  });

  it('downloads files of models, and those alone that were chosen', async () => {
    const { directory, paths } = await hubSnapshot({ type: 'model', name: 'owner/sums' }, hub(), {
      choose: (all) => all.filter((path) => path === 'config.json'),
    });
    expect(paths).toEqual(['config.json']);
    expect(directory).toBe(join(cacheDirectory, 'models--owner--sums', 'snapshots', commit));
    expect(readFileSync(join(directory, 'config.json'), 'utf8')).toBe('{}');
    expect(existsSync(join(directory, 'weights.bin'))).toBe(false);
  });

  /** A hub whose answers are changed on their way. */
  const changed = (change: (url: string, body: unknown) => unknown): typeof fetch => {
    return async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get('content-type')?.includes('json')) return response;
      const body = change(String(input), await response.json());
      return new Response(JSON.stringify(body), {
        status: response.status,
        headers: { 'content-type': 'application/json' },
      });
    };
  };

  it('gives up a hub that does not answer at all', async () => {
    const silent: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason));
      });
    const given = { ...hub(), fetch: silent, stallMs: 20, attempts: 1 };
    await expect(hubSnapshot({ type: 'dataset', name: 'owner/sums' }, given)).rejects.toThrow(
      /^the dataset owner\/sums of .* cannot be read: .*timeout/,
    );
  });

  it('refuses a commit that is none', async () => {
    const own = changed((_, body) => (Array.isArray(body) ? body : { ...(body as object), sha: '../x' }));
    await expect(
      hubSnapshot({ type: 'dataset', name: 'owner/sums' }, { ...hub(), fetch: own }),
    ).rejects.toThrow('owner/sums: expected the hub to name a commit, got ../x; try again later');
  });

  it('leaves out paths that lead out of the folder', async () => {
    const outside = ['../a', 'b/../../c', '/d', '\\e', 'C:\\f', 'g\\..\\h'];
    const own = changed((_, body) =>
      Array.isArray(body) ? [...outside.map((path) => ({ ...body[0], path })), ...body] : body,
    );
    const seen: string[] = [];
    const choose = (paths: readonly string[]) => {
      seen.push(...paths);
      return [];
    };
    await hubSnapshot({ type: 'dataset', name: 'owner/sums' }, { ...hub(), fetch: own }, { choose });
    expect(seen.sort()).toEqual(['README.md', table, 'test.jsonl']);
  });

  it('uses the fetch that it is given', async () => {
    const used: string[] = [];
    const own: typeof fetch = (input, init) => {
      used.push(String(input));
      return fetch(input, init);
    };
    await hubSnapshot({ type: 'dataset', name: 'owner/sums' }, { ...hub(), fetch: own });
    expect(used).toHaveLength(server.requests.length);
  });
});

it('finds cache, token and address in the environment of Hugging Face', async () => {
  const saved = { ...process.env };
  Object.assign(process.env, { HF_HUB_CACHE: cacheDirectory, HF_ENDPOINT: server.url, HF_TOKEN: 'hf_right' });
  server.token = 'hf_right';
  try {
    const { directory } = await hubSnapshot({ type: 'dataset', name: 'owner/sums' });
    expect(directory).toBe(inCache('snapshots', commit));
    process.env.HF_HUB_OFFLINE = '1';
    server.requests = [];
    writeFileSync(inCache('refs', 'main'), commit);
    expect((await hubSnapshot({ type: 'dataset', name: 'owner/sums' })).paths).toHaveLength(3);
    expect(server.requests).toEqual([]);
  } finally {
    for (const name of ['HF_HUB_CACHE', 'HF_ENDPOINT', 'HF_TOKEN', 'HF_HUB_OFFLINE'])
      delete process.env[name];
    Object.assign(process.env, saved);
  }
});
