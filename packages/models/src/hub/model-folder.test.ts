import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HubServer, hubCommit, hubEtag, startHubServer } from '@rlp/data/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadModel, loadModelConfig } from '../model/load-model.ts';
import { saveModel } from '../model/save-model.ts';
import { goldenFolder } from '../testing/shared-data.ts';
import { loadTokenizer } from '../tokenizer/load-tokenizer.ts';
import { type HubName, hubNameOf, parseHubName } from './hub-name.ts';
import { modelFolder } from './model-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'rlp-hub-model-'));
const golden = goldenFolder('stories260k');
const read = (folder: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
let server: HubServer;
let cacheDirectory: string;
let shards: string[];
const hub = () => ({ url: server.url, cacheDirectory, attempts: 2, stallMs: 2000 });
const fetchedFiles = () => [
  ...new Set(
    server.requests.flatMap((request) => (request.includes('/resolve/') ? [request.split(/[/ ]/)[5]!] : [])),
  ),
];
const of = (name: string) => join(cacheDirectory, `models--tiny--${name}`);

beforeAll(async () => {
  const whole = read(golden, 'config.json', 'tokenizer.json', 'model.safetensors');
  const model = await loadModel(golden);
  const sharded = join(root, 'sharded');
  await saveModel(sharded, model, { maxShardBytes: 600_000 });
  shards = readdirSync(sharded)
    .filter((name) => name.includes('-of-'))
    .sort();
  const { 'config.json': config, 'tokenizer.json': tokenizer } = whole;
  const index = 'model.safetensors.index.json';
  const small = { 'config.json': config!, 'tokenizer.json': tokenizer! };
  server = await startHubServer({
    'tiny/whole': {
      ...whole,
      'README.md': '# stories',
      'pytorch_model.bin': 'pickle',
      'onnx/model.onnx': 'graph',
      'original/model.safetensors': 'other weights',
      'chat_template.jinja': "{% for m in messages %}{{ m['content'] }}{% endfor %}",
      'generation_config.json': '{"eos_token_id": 2}',
    },
    'tiny/shards': { ...small, ...read(sharded, index, ...shards) },
    'tiny/torn': { ...small, ...read(sharded, index, shards[0]!) },
    'tiny/pickled': { ...small, 'pytorch_model.bin': 'pickle' },
    'tiny/quantized': { ...small, 'model-q8_0.gguf': 'GGUF' },
    'tiny/adapter': { 'adapter_config.json': '{}', 'adapter_model.safetensors': 'weights' },
  });
});
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(root, 'cache-'));
  Object.assign(server, { requests: [], contents: 0, token: undefined, fault: () => 'none' });
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

describe('a model of the hub', () => {
  it('is loaded by its name, with the files that are needed and no others, once', async () => {
    const [model, local] = [await loadModel('tiny/whole', { hub: hub() }), await loadModel(golden)];
    expect(fetchedFiles().sort()).toEqual([
      'chat_template.jinja',
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
    ]);
    for (const [name, { data }] of local.weights) expect(model.weights.get(name)!.data).toEqual(data);
    expect(model.chat).toBeDefined();
    expect(hubNameOf(model.folder!)).toBe('tiny/whole');
    server.requests = [];
    await loadModel(`hf://tiny/whole@${hubCommit}`, { hub: hub() });
    expect(fetchedFiles()).toEqual([]);
  });

  it('is loaded from the shards that its index names', async () => {
    const model = await loadModel('tiny/shards', { hub: hub() });
    expect(shards.length).toBeGreaterThan(1);
    expect(model.weights.size).toBe((await loadModel(golden)).weights.size);
    await expect(loadModel('tiny/torn', { hub: hub() })).rejects.toThrow(
      /the model tiny\/torn has no .*-00002-of-.*, which its index names/,
    );
  });

  it('gives its tokenizer and its config without the weights', async () => {
    await loadTokenizer('tiny/whole', { hub: hub() });
    expect(fetchedFiles()).not.toContain('model.safetensors');
    server.requests = [];
    cacheDirectory = mkdtempSync(join(root, 'cache-'));
    expect((await loadModelConfig('tiny/whole', { hub: hub() })).eosIds).toEqual([2]);
    expect(fetchedFiles().sort()).toEqual(['config.json', 'generation_config.json']);
  });

  it('is read from the cache alone when there is no network', async () => {
    await loadModel('tiny/shards', { hub: hub() });
    server.requests = [];
    const offline = { hub: { ...hub(), use: 'cache' as const } };
    await loadModel('tiny/shards', offline);
    expect(server.requests).toEqual([]);
    await expect(loadModel('tiny/whole', offline)).rejects.toThrow(
      /no folder tiny\/whole was found here, and the model tiny\/whole .* is not in the cache .*: fetch it once/,
    );
    await loadTokenizer('tiny/whole', { hub: hub() });
    await expect(loadModel('tiny/whole', offline)).rejects.toThrow(
      /has no model\.safetensors .* or fetch it once without HF_HUB_OFFLINE/,
    );
  });

  it.each([
    ['tiny/pickled', /has no model\.safetensors and no .*; pickled weights are not read/],
    ['tiny/quantized', /has no model\.safetensors .*; it holds GGUF files/],
    ['tiny/adapter', /has no config\.json; it is an adapter: load its base model/],
    [
      'tiny/none',
      /no folder tiny\/none was found here, and the model tiny\/none .* does not exist.*HTTP 404/,
    ],
    ['hf://tiny/none', /^the model tiny\/none .* does not exist/],
    ['tiny/whole@v9', /has no revision "v9"/],
  ])('%s: says what is wrong', async (name, message) => {
    await expect(loadModel(name, { hub: hub() })).rejects.toThrow(message);
  });

  it.each([
    [undefined, /private or gated \(HTTP 401\): correct the name, or set HF_TOKEN/],
    ['hf_wrong', /\(HTTP 403\): accept its terms at http:\/\/[^/]*\/tiny\/whole, or use a token/],
  ])('says what a gated model needs: token %s', async (accessToken, message) => {
    server.token = 'hf_right';
    const access = accessToken === undefined ? {} : { accessToken };
    await expect(loadModel('tiny/whole', { hub: { ...hub(), ...access } })).rejects.toThrow(message);
    await loadModel('tiny/whole', { hub: { ...hub(), accessToken: 'hf_right' } });
  });

  it('goes on where a download stopped, and says when nothing answers', async () => {
    server.fault = (request) => (request === 2 ? 'cut' : 'none');
    await loadModel('tiny/whole', { hub: hub() });
    const closed = { ...hub(), url: 'http://127.0.0.1:9', attempts: 1 };
    await expect(loadModel('tiny/other', { hub: closed })).rejects.toMatchObject({
      name: 'NetworkError',
      message: expect.stringMatching(
        /^no folder .* the model tiny\/other .* cannot be read: .*; check the network/,
      ),
    });
  });

  it.runIf(existsSync('/dev/full'))('says that the disk is full', async () => {
    const weights = readFileSync(join(golden, 'model.safetensors'));
    const blobs = join(of('whole'), 'blobs');
    mkdirSync(blobs, { recursive: true });
    symlinkSync('/dev/full', join(blobs, `${hubEtag('model.safetensors', weights)}.incomplete`));
    await expect(loadModel('tiny/whole', { hub: hub() })).rejects.toThrow(
      /no space left for the model tiny\/whole .*: free some, or set HF_HUB_CACHE/,
    );
  });

  it('ends when its signal fires', async () => {
    server.fault = () => 'hang';
    const signal = AbortSignal.timeout(200);
    await expect(loadModel('tiny/whole', { hub: hub(), signal })).rejects.toThrow(/timeout/i);
  });
});

describe('modelFolder', () => {
  it('prefers a folder, and leaves paths alone', async () => {
    expect(await modelFolder(golden)).toBe(golden);
    expect(await modelFolder('./tiny/whole')).toBe('./tiny/whole');
    const file = join(root, 'file');
    writeFileSync(file, '');
    await expect(modelFolder(file)).rejects.toThrow('is a file; give the folder');
    await expect(modelFolder('')).rejects.toThrow('got an empty text');
  });

  const names: readonly (readonly [string, HubName | undefined])[] = [
    ['Qwen/Qwen3-0.6B', { name: 'Qwen/Qwen3-0.6B', revision: undefined, isExplicit: false }],
    ['hf://Qwen/Qwen3-0.6B@refs/pr/3', { name: 'Qwen/Qwen3-0.6B', revision: 'refs/pr/3', isExplicit: true }],
    ['https://huggingface.co/a/b', { name: 'a/b', revision: undefined, isExplicit: true }],
  ];
  const paths = ['/a/b', './a/b', '../b', 'a', 'a/b/c', 'a\\b', '~/b', 'C:/b', '', 'a/'];
  it.each([...names, ...paths.map((path) => [path, undefined] as const)])(
    'reads %j as %j',
    (source, expected) => {
      expect(parseHubName(source)).toEqual(expected);
    },
  );
});
