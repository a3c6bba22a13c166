import {
  ArgumentError,
  FormatError,
  type HostTensor,
  messageOf,
  NetworkError,
  requireArguments,
  requireFields,
} from '@rlp/core';
import { parameterSpecs } from '../decoder/parameters.ts';
import type { StoredTensor } from '../safetensors/header.ts';
import { joinShards, parseHeader, type ReadBytes, readFloats } from '../safetensors/read.ts';
import { safetensorsPieces } from '../safetensors/write.ts';
import { readTokenizer } from '../tokenizer/load-tokenizer.ts';
import { locateParameters } from './checkpoint-names.ts';
import type { LanguageModel } from './language-model.ts';
import { type LoadModelOptions, readModelConfig, withRoles } from './load-model.ts';
import type { ModelTexts } from './model-texts.ts';
import { descriptionTexts, type SavableModel, type SaveModelOptions } from './save-model.ts';
import { checkWeightShapes } from './weight-shapes.ts';

/** Files of a model by name, such as `config.json`. A `Map` of blobs is one. */
export interface ModelBlobs {
  /** The file. `undefined` if it does not exist. */
  get(name: string): Blob | undefined | Promise<Blob | undefined>;
}

/** Options of {@link modelBlobsAt}. */
export interface ModelBlobsAtOptions {
  /** Asks the server. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Stops the transfer. Default none. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Files of a model below an address. A page may give an address relative to its own. A query, such as a signature, goes with each file.
 *
 *     const model = await readModel(modelBlobsAt('https://example.org/models/tiny/'));
 *
 * An HTML page counts as no file, because many servers send one instead of 404.
 *
 * @throws ArgumentError for what is not an address.
 * @throws NetworkError if the server does not answer, or answers with another status than 200 or 404.
 */
export function modelBlobsAt(url: string | URL, options: ModelBlobsAtOptions = {}): ModelBlobs {
  requireArguments('modelBlobsAt', { options: 'object?' }, options);
  const { fetch = globalThis.fetch, signal } = options;
  const folder = addressOf(url);
  return {
    async get(name) {
      const address = new URL(folder);
      address.pathname = `${folder.pathname.replace(/\/?$/, '/')}${encodeURIComponent(name)}`;
      const place = `${address.origin}${address.pathname}`;
      const failed = (problem: string, cause?: unknown) =>
        new NetworkError(`${place}: ${problem}`, { cause });
      try {
        const answer = await fetch(address, signal === undefined ? {} : { signal });
        if (answer.status === 404 || isPage(answer)) return undefined;
        if (answer.ok) return await answer.blob();
        throw failed(`the server answers ${answer.status}; try again`);
      } catch (cause) {
        if (cause instanceof NetworkError) throw cause;
        signal?.throwIfAborted();
        throw failed(
          `no answer (${messageOf(cause)}); check the address, and that it allows other origins`,
          cause,
        );
      }
    },
  };
}

/** @throws ArgumentError for what is not an address. */
function addressOf(url: string | URL): URL {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  try {
    return new URL(url, location?.href);
  } catch {
    throw new ArgumentError(
      `modelBlobsAt: expected an address such as 'https://example.org/models/tiny/', not '${url}'; only a page may leave out the server`,
    );
  }
}

function isPage({ ok, headers }: Response): boolean {
  return ok && (headers.get('content-type') ?? '').startsWith('text/html');
}

/**
 * Reads a Hugging Face model from blobs, in a page or in Node: `config.json`, the tokenizer's files and the weights as safetensors.
 *
 *     const dropped = new Map([...input.files].map((file) => [file.name, file]));
 *     const model = await readModel(dropped);
 *
 * @throws FormatError as {@link loadModel} does, and what `blobs` throws.
 */
export async function readModel(
  blobs: ModelBlobs,
  options: Pick<LoadModelOptions, 'clock' | 'signal'> = {},
): Promise<LanguageModel> {
  requireArguments('readModel', { options: 'object?' }, options);
  requireFields('readModel', { get: 'function' }, blobs);
  const given = askedOnce(blobs);
  const texts = textsOf(given);
  const config = await readModelConfig(texts);
  const { tokenizer, chat } = await readTokenizer(texts, options);
  const complete = withRoles(tokenizer, config, texts.origin);
  const { names, tensors } = await openWeights(given);
  const places = locateParameters(config, tensors, names[0]!);
  const weights = new Map<string, HostTensor>();
  for (const [name, place] of places) {
    options.signal?.throwIfAborted();
    weights.set(name, await tensorOf(place));
  }
  return { config, weights, files: new Map(), tokenizer: complete, chat };

  async function tensorOf(place: StoredTensor) {
    const data = await readFloats(bytesOf(await required(given, place.file)), place, options.signal);
    return { shape: place.shape, data };
  }
}

/**
 * The files that {@link saveModel} writes, as blobs by name, for a page to store or download. Weights are in one file.
 *
 * @throws ArgumentError if the weights are not those of the config.
 */
export function modelBlobs(
  model: SavableModel,
  options: Pick<SaveModelOptions, 'dtype'> = {},
): Map<string, Blob> {
  requireArguments('modelBlobs', { options: 'object?' }, options);
  requireFields('modelBlobs', { config: 'object', weights: 'object', tokenizer: 'object' }, model);
  const { dtype = 'F32' } = options;
  checkWeightShapes('modelBlobs', parameterSpecs(model.config), model.weights);
  const texts = Object.entries(descriptionTexts(model, dtype)).map(
    ([name, text]) => [name, new Blob([text])] as const,
  );
  const weights = new Blob(safetensorsPieces(model.weights, { dtype }));
  return new Map([...texts, ['model.safetensors', weights]]);
}

const origin = 'the files given';

/** Asks for each file once: a server would send it again. */
function askedOnce(blobs: ModelBlobs): ModelBlobs {
  const asked = new Map<string, Promise<Blob | undefined>>();
  return {
    get(name) {
      const blob = asked.get(name) ?? Promise.resolve(blobs.get(name));
      asked.set(name, blob);
      return blob;
    },
  };
}

function textsOf(blobs: ModelBlobs): ModelTexts {
  return {
    origin,
    pathOf: (name) => name,
    read: async (name) => (await blobs.get(name))?.text(),
  };
}

function bytesOf(blob: Blob): ReadBytes {
  return async (position, length) =>
    new Uint8Array(await blob.slice(position, position + length).arrayBuffer());
}

async function required(blobs: ModelBlobs, name: string): Promise<Blob> {
  const blob = await blobs.get(name);
  if (blob !== undefined) return blob;
  throw new FormatError(`${name}: no such file among ${origin}; add it`);
}

/** Headers of the weights, in one file or in shards. */
async function openWeights(blobs: ModelBlobs) {
  const headerOf = async (name: string) => {
    const blob = await required(blobs, name);
    return parseHeader(bytesOf(blob), blob.size, name);
  };
  const index = 'model.safetensors.index.json';
  const shards = await blobs.get(index);
  if (shards === undefined) {
    const { tensors } = await headerOf('model.safetensors');
    return { names: ['model.safetensors'], tensors };
  }
  const { files, tensors } = await joinShards(index, await shards.text(), headerOf);
  return { names: files, tensors };
}
