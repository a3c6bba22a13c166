import { join } from 'node:path';
import {
  ArgumentError,
  FormatError,
  importPeer,
  parseOptions,
  requireArguments,
  requireFields,
} from '@rlp/core';
import { holdDirectory } from '../store/lease.ts';
import { exists, HubCache, type HubRepository } from './hub-cache.ts';
import { downloadBlob, etagOf, type HubFile, persistently } from './hub-download.ts';
import { hubError } from './hub-errors.ts';
import { type HubOptions, hubSchema, type ResolvedHubOptions, withEnvironment } from './hub-options.ts';

/** What a download needs besides options. */
export interface HubFetching {
  /** Chooses the files to download among all paths of the repository. Default: all. */
  readonly choose?: ((paths: readonly string[]) => readonly string[]) | undefined;
  /** Ends the download with its reason. What was downloaded is kept. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Files of a repository in the cache. */
export interface HubSnapshot {
  readonly directory: string;
  /** Commit of the files. */
  readonly commit: string;
  /** The chosen files, relative to `directory`. */
  readonly paths: readonly string[];
}

/**
 * Fetches files of a repository of the Hugging Face hub into the cache that all its libraries share. Needs `@huggingface/hub`.
 *
 * A download that was interrupted goes on where it stopped. Files with the right checksum are not downloaded again.
 *
 * @throws ArgumentError for a repository that does not exist, or that the token may not read.
 * @throws NetworkError if the hub cannot be reached, FormatError if it sends something else.
 * @throws MissingPeerError if `@huggingface/hub` is not installed.
 */
export async function hubSnapshot(
  repository: HubRepository,
  options: HubOptions = {},
  given: HubFetching = {},
): Promise<HubSnapshot> {
  requireArguments('hubSnapshot', { options: 'object?' }, given);
  requireFields('hubSnapshot', { type: 'text', name: 'text' }, repository);
  const { choose = (paths) => paths, signal } = given;
  const resolved = withEnvironment(parseOptions('hubSnapshot', hubSchema, options, 'HubOptions'));
  if (!/^[\w.-]+(\/[\w.-]+)?$/.test(repository.name) || repository.name.includes('..')) {
    throw new ArgumentError(
      `hubSnapshot: expected a name such as openai/gsm8k, got ${JSON.stringify(repository.name)}`,
    );
  }
  const { accessToken } = resolved;
  if (accessToken !== undefined && !accessToken.startsWith('hf_')) {
    throw new ArgumentError(
      "hubSnapshot: expected an access token that begins with hf_, got another text; set HF_TOKEN or accessToken to a token of your account's settings",
    );
  }
  const cache = new HubCache(resolved.cacheDirectory, repository);
  if (resolved.use === 'cache') return fromCache(cache, repository, resolved, choose);
  // The errors of `@huggingface/hub` do not keep the header that says why.
  let refusal: string | undefined;
  const noting: typeof fetch = async (input, init) => {
    const response = await resolved.fetch(input, init);
    refusal = response.headers.get('x-error-code') ?? undefined;
    return response;
  };
  try {
    return await fromHub(cache, repository, { ...resolved, fetch: noting }, { choose, signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw hubError(error, repository, resolved, refusal);
  }
}

type Choose = (paths: readonly string[]) => readonly string[];

async function fromCache(
  cache: HubCache,
  { type, name }: HubRepository,
  { revision, cacheDirectory }: ResolvedHubOptions,
  choose: Choose,
): Promise<HubSnapshot> {
  const commit = await cache.commitOf(revision);
  if (commit !== undefined) {
    return { directory: cache.snapshot(commit), commit, paths: choose(await cache.filesOf(commit)) };
  }
  throw new ArgumentError(
    `the ${type} ${name} with revision "${revision}" is not in the cache ${cacheDirectory}: fetch it once without HF_HUB_OFFLINE and use: 'cache'`,
  );
}

async function fromHub(
  cache: HubCache,
  repository: HubRepository,
  options: ResolvedHubOptions,
  { choose, signal }: { readonly choose: Choose; readonly signal: AbortSignal | undefined },
): Promise<HubSnapshot> {
  const hub = await hubClient(repository, options, signal);
  const trying = { attempts: options.attempts, signal };
  const commit = await persistently('commit', hub.commit, trying);
  const listed = await persistently('files', () => hub.files(commit), trying);
  const files = new Map(listed.map((file) => [file.path, file]));
  const paths = choose([...files.keys()]);
  const left: HubFile[] = [];
  for (const path of paths) {
    if (!(await exists(join(cache.snapshot(commit), path)))) left.push(files.get(path)!);
  }
  if (left.length > 0) {
    const lease = await holdDirectory(cache.locks);
    try {
      for (const file of left) {
        const etag = etagOf(file);
        await downloadBlob(file, cache.blob(etag), {
          ...options,
          signal,
          open: (from, stalled) => hub.open(file.path, { commit, from, signal: stalled }),
        });
        await cache.link(commit, file.path, etag);
      }
    } finally {
      await lease.release();
    }
  }
  await cache.rememberRevision(options.revision, commit);
  return { directory: cache.snapshot(commit), commit, paths };
}

/** The calls of `@huggingface/hub` that a snapshot needs. */
async function hubClient(repository: HubRepository, options: ResolvedHubOptions, signal?: AbortSignal) {
  const hub = await importPeer('a name on the hub', '@huggingface/hub', () => import('@huggingface/hub'));
  const { url, stallMs } = options;
  const access = options.accessToken === undefined ? {} : { accessToken: options.accessToken };
  const fetching =
    (ending?: AbortSignal): typeof fetch =>
    (input, init) => {
      const signals = [ending, signal, ending === undefined ? AbortSignal.timeout(stallMs) : undefined];
      return options.fetch(input, {
        ...init,
        signal: AbortSignal.any(signals.filter((each) => each !== undefined)),
      });
    };
  const shared = { hubUrl: url, ...access, fetch: fetching() };
  return {
    async commit(): Promise<string> {
      const asked = {
        ...shared,
        name: repository.name,
        revision: options.revision,
        additionalFields: ['sha' as const],
      };
      const { sha } = await (repository.type === 'model' ? hub.modelInfo(asked) : hub.datasetInfo(asked));
      if (/^[0-9a-f]{7,64}$/i.test(sha)) return sha;
      throw new FormatError(
        `${repository.name}: expected the hub to name a commit, got ${sha}; try again later`,
      );
    },
    async files(commit: string): Promise<HubFile[]> {
      const files: HubFile[] = [];
      const listed = hub.listFiles({ ...shared, repo: { ...repository }, revision: commit, recursive: true });
      for await (const { type, ...file } of listed) {
        if (type === 'file' && isInside(file.path)) files.push(file);
      }
      return files;
    },
    async open(
      path: string,
      {
        commit,
        from,
        signal: ending,
      }: { readonly commit: string; readonly from: number; readonly signal: AbortSignal },
    ): Promise<AsyncIterable<Uint8Array>> {
      const blob = await hub.downloadFile({
        ...shared,
        fetch: fetching(ending),
        repo: { ...repository },
        revision: commit,
        path,
      });
      if (blob === null)
        throw new FormatError(`${path}: the hub lists it and does not have it; try again later`);
      return blob.slice(from, blob.size).stream() as unknown as AsyncIterable<Uint8Array>;
    },
  };
}

/** Whether a path stays in the folder. */
function isInside(path: string): boolean {
  return !path.split(/[/\\]/).includes('..') && !/^([/\\]|[a-z]:)/i.test(path);
}
