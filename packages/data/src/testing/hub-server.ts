import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a {@link HubServer} does wrong with a request for content. */
export type HubFault = 'none' | 'cut' | 'hang' | 'other' | 503;

/** A local server that speaks the routes of the Hugging Face hub. */
export interface HubServer {
  readonly url: string;
  /** Paths that were asked for, with their range. */
  requests: string[];
  /** What goes wrong, by the number of requests for content so far. */
  fault: (request: number) => HubFault;
  /** Token that requests need. `undefined`: none. */
  token: string | undefined;
  /** Why requests without it are refused, as the hub's header `X-Error-Code` says it. */
  refusal: 'GatedRepo' | 'RepoNotFound' | undefined;
  /** Requests for content so far. */
  contents: number;
  close(): Promise<void>;
}

/** Commit of every repository of a {@link HubServer}. */
export const hubCommit = '0123456789abcdef0123456789abcdef01234567';

/** Files of a repository by their paths. */
export type HubServerFiles = Readonly<Record<string, Uint8Array | string>>;

const isLarge = (path: string) => /\.(parquet|safetensors)$/.test(path);
const digest = (kind: string, ...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash(kind)).digest('hex');
const oidOf = (content: Uint8Array) => digest('sha1', `blob ${content.length}\0`, content);

/** Name of a file's content in the cache of the hub. */
export function hubEtag(path: string, content: Uint8Array): string {
  return isLarge(path) ? digest('sha256', content) : oidOf(content);
}

/**
 * Starts a hub on loopback.
 *
 * @param repositories - Files by repository: `owner/name` for a model, `datasets/owner/name` for a dataset.
 */
export async function startHubServer(
  repositories: Readonly<Record<string, HubServerFiles>>,
): Promise<HubServer> {
  const server = createServer(({ url = '', headers }, response) => {
    const { pathname } = new URL(url, 'http://hub');
    hub.requests.push(`${pathname} ${headers.range ?? ''}`.trim());
    if (hub.token !== undefined && headers.authorization !== `Bearer ${hub.token}`) {
      const status = headers.authorization === undefined ? 401 : 403;
      const why = hub.refusal === undefined ? {} : { 'x-error-code': hub.refusal };
      return answer(response, status, { error: 'Access is restricted' }, why);
    }
    for (const [name, files] of Object.entries(repositories)) {
      if (answered(hub, response, { name, files, pathname, range: headers.range })) return;
    }
    answer(response, 404, { error: 'Repository not found' }, { 'x-error-code': 'RepoNotFound' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hub: HubServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    fault: () => 'none',
    token: undefined,
    refusal: undefined,
    contents: 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hub;
}

interface Asked {
  readonly name: string;
  readonly files: HubServerFiles;
  readonly pathname: string;
  readonly range: string | undefined;
}

/** Answers a request for a repository. @returns Whether it was one. */
function answered(
  hub: HubServer,
  response: ServerResponse,
  { name, files, pathname, range }: Asked,
): boolean {
  const kind = name.startsWith('datasets/') ? '' : 'models/';
  const api = `/api/${kind}${name}`;
  if (pathname === `${api}/revision/main` || pathname === `${api}/revision/${hubCommit}`) {
    answer(response, 200, { sha: hubCommit, id: name });
    return true;
  }
  if (pathname === `${api}/tree/${hubCommit}`) {
    answer(response, 200, treeOf(files));
    return true;
  }
  const [, path] = pathname.split(`/${name}/resolve/${hubCommit}/`);
  const content = path === undefined ? undefined : files[path];
  if (path === undefined || content === undefined) return false;
  serveContent(hub, response, { path, content: Buffer.from(content), range });
  return true;
}

/** What the hub lists, with a file that would leave the folder. */
function treeOf(files: HubServerFiles): readonly object[] {
  const list = Object.entries(files).map(([path, text]) => {
    const content = Buffer.from(text);
    const lfs = { oid: digest('sha256', content), size: content.length, pointerSize: 130 };
    return {
      ...{ type: 'file', path, size: content.length, oid: oidOf(content) },
      ...(isLarge(path) && { lfs }),
    };
  });
  const hostile = { type: 'file', path: '../../../train.jsonl', size: 1, oid: '00' };
  return [{ type: 'directory', path: 'data', size: 0 }, hostile, ...list];
}

function serveContent(
  hub: HubServer,
  response: ServerResponse,
  {
    path,
    content,
    range,
  }: { readonly path: string; readonly content: Buffer; readonly range?: string | undefined },
): void {
  const [, start = '0', end = String(content.length - 1)] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
  const part = content.subarray(Number(start), Number(end) + 1);
  const headers = {
    ETag: `"${hubEtag(path, content)}"`,
    'content-range': `bytes ${start}-${end}/${content.length}`,
  };
  if (range === 'bytes=0-0') return void response.writeHead(206, headers).end(part);
  const wrong = hub.fault(hub.contents++);
  if (wrong === 503) return void response.writeHead(503).end();
  response.writeHead(range === undefined ? 200 : 206, { ...headers, 'content-length': part.length });
  if (wrong === 'none') response.end(part);
  else if (wrong === 'other') response.end(Buffer.alloc(part.length, 'x'));
  else {
    const half = part.subarray(0, Math.ceil(part.length / 2));
    response.write(half, () => setTimeout(() => (wrong === 'cut' ? response.destroy() : undefined), 20));
  }
}

function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
