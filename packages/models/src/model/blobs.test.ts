import { openAsBlob } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NetworkError } from '@rlp/core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { characterTokenizer, createModel, loadModel, parseModelConfig, saveModel } from '../index.ts';
import { modelBlobs, modelBlobsAt, readModel } from './blobs.ts';

const tokenizer = characterTokenizer('abcdefgh', { begin: '<s>', end: '</s>' });
const config = parseModelConfig({
  ...{ model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 16, intermediate_size: 24 },
  ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 32 },
  ...{ rms_norm_eps: 1e-5, hidden_act: 'silu', tie_word_embeddings: false },
});
const model = createModel({ config, tokenizer, seed: 'blobs' });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rlp-blobs-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The files of a folder as blobs. */
async function blobsOf(path: string): Promise<Map<string, Blob>> {
  const names = await readdir(path);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await openAsBlob(join(path, name))] as const)),
  );
}

describe('a model as blobs', () => {
  it('has the bytes that saveModel writes', async () => {
    const path = join(folder, 'saved');
    await saveModel(path, model);
    const saved = await blobsOf(path);
    saved.delete('SHA256SUMS');
    const made = modelBlobs(model);
    expect([...made.keys()].sort()).toEqual([...saved.keys()].sort());
    for (const [name, blob] of made) expect(await blob.text()).toBe(await saved.get(name)!.text());
  });

  it.each(['F32', 'BF16'] as const)('is read as from a folder, also in shards of %s', async (dtype) => {
    const path = join(folder, `shards-${dtype}`);
    await saveModel(path, model, { dtype, maxShardBytes: 4000 });
    const [read, loaded] = [await readModel(await blobsOf(path)), await loadModel(path)];
    expect(read.weights).toEqual(loaded.weights);
    expect(read.config).toEqual(loaded.config);
    expect(read.tokenizer.encode('hagb')).toEqual(loaded.tokenizer.encode('hagb'));
  });

  it('is loaded from blobs that were downloaded to a folder', async () => {
    const path = await mkdtemp(join(folder, 'downloaded-'));
    for (const [name, blob] of modelBlobs(model)) await writeFile(join(path, name), await blob.bytes());
    expect((await loadModel(path)).weights).toEqual(model.weights);
  });

  it('is read from a server, each file once', async () => {
    const blobs = modelBlobs(model);
    const asked: string[] = [];
    const fetch = async (input: string | URL | Request) => {
      const name = new URL(String(input)).pathname.replace('/models/tiny/', '');
      asked.push(name);
      const blob = blobs.get(name);
      return blob ? new Response(blob) : new Response('none', { status: 404 });
    };
    const read = await readModel(modelBlobsAt('https://example.org/models/tiny', { fetch }));
    expect(read.weights).toEqual(model.weights);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('is read from an address with a signature, of a server that sends a page for what it lacks', async () => {
    const blobs = modelBlobs(model);
    const fetch = async (input: string | URL | Request) => {
      const { pathname, search } = new URL(String(input));
      expect(search).toBe('?signature=a%2Fb');
      const blob = blobs.get(pathname.replace('/models/tiny/', ''));
      return blob
        ? new Response(blob)
        : new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } });
    };
    const at = (url: string) => readModel(modelBlobsAt(url, { fetch }));
    const read = await at('https://example.org/models/tiny?signature=a%2Fb');
    expect(read.weights).toEqual(model.weights);
    await expect(at('https://example.org/other/?signature=a%2Fb')).rejects.toThrow(
      /config\.json: no such file/,
    );
  });

  it('says what is wrong with an address', async () => {
    expect(() => modelBlobsAt('/models/tiny/')).toThrow(
      "modelBlobsAt: expected an address such as 'https://example.org/models/tiny/', not '/models/tiny/'",
    );
    const fetch = async () => {
      throw new TypeError('Failed to fetch');
    };
    await expect(readModel(modelBlobsAt('https://example.org/m', { fetch }))).rejects.toThrow(
      new NetworkError(
        'https://example.org/m/config.json: no answer (Failed to fetch); check the address, and that it allows other origins',
      ),
    );
    const stopped = AbortSignal.abort(new Error('stop'));
    const asked = readModel(modelBlobsAt('https://example.org/m', { fetch, signal: stopped }));
    await expect(asked).rejects.toThrow('stop');
  });

  it('is read from an address relative to the page', async () => {
    vi.stubGlobal('location', { href: 'https://example.org/app/index.html' });
    onTestFinished(() => void vi.unstubAllGlobals());
    const asked: string[] = [];
    const fetch = async (input: string | URL | Request) => {
      asked.push(String(input));
      return new Response('none', { status: 404 });
    };
    await expect(readModel(modelBlobsAt('models/tiny', { fetch }))).rejects.toThrow(/no such file/);
    expect(asked[0]).toBe('https://example.org/app/models/tiny/config.json');
  });

  it('says which file is missing or broken', async () => {
    const without = (name: string) => new Map([...modelBlobs(model)].filter(([key]) => key !== name));
    await expect(readModel(without('config.json'))).rejects.toThrow(/config\.json: no such file/);
    await expect(readModel(without('tokenizer.json'))).rejects.toThrow(/tokenizer\.json: no such file/);
    await expect(readModel(without('model.safetensors'))).rejects.toThrow(
      /model\.safetensors: no such file among/,
    );
    const half = modelBlobs(model);
    half.set('model.safetensors', half.get('model.safetensors')!.slice(0, 5000));
    await expect(readModel(half)).rejects.toThrow(/model\.safetensors: /);
    const fetch = async () => new Response('no', { status: 503 });
    const away = readModel(modelBlobsAt('https://example.org/m/', { fetch }));
    await expect(away).rejects.toThrow(
      new NetworkError('https://example.org/m/config.json: the server answers 503; try again'),
    );
  });
});
