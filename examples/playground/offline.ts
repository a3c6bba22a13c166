/**
 * The service worker of the page. It keeps the page's files, so that they need no connection from then on, and serves them with the
 * two headers that allow several threads, whatever the server of the page says.
 *
 * A new build has other contents, and so another worker. Browsers start it when no tab uses the old one.
 */

/** What the build sets: SHA-256 of each file by its name, and of all of them, in hexadecimal. */
declare const FILES: Readonly<Record<string, string>>;
declare const CONTENTS: string;

interface StoredFiles {
  match(name: string): Promise<Response | undefined>;
  put(name: string, file: Response): Promise<void>;
}

/** What the worker uses of the browser. TypeScript declares it only together with other kinds of workers. */
interface Scope {
  readonly registration: { readonly scope: string };
  readonly caches: {
    open(name: string): Promise<StoredFiles>;
    keys(): Promise<readonly string[]>;
    delete(name: string): Promise<boolean>;
  };
  readonly clients: { claim(): Promise<void> };
  fetch(address: string, options: { readonly cache: 'no-cache' }): Promise<Response>;
  addEventListener(
    event: 'install' | 'activate',
    listener: (event: { waitUntil(done: Promise<unknown>): void }) => void,
  ): void;
  addEventListener(
    event: 'fetch',
    listener: (event: {
      readonly request: { readonly url: string };
      respondWith(response: Promise<Response>): void;
    }) => void,
  ): void;
}

const { registration, caches, clients, fetch, addEventListener } = globalThis as unknown as Scope;

/** Caches are shared by all pages of a server. */
const ours = `rlp-playground ${registration.scope} `;
const ourFiles = ours + CONTENTS;
const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

addEventListener('install', (event) => event.waitUntil(keepFiles()));
addEventListener('activate', (event) => event.waitUntil(replaceOlder()));
addEventListener('fetch', (event) => {
  const name = nameOf(event.request.url);
  if (name !== undefined) event.respondWith(kept(name));
});

/** Keeps nothing unless every file is of this build: a server may be given its files one by one. The browser tries again later. */
async function keepFiles(): Promise<void> {
  const files = await Promise.all(Object.entries(FILES).map(checked));
  const store = await caches.open(ourFiles);
  await Promise.all(files.map(([name, file]) => store.put(name, file)));
}

async function checked([name, expected]: readonly [string, string]): Promise<[string, Response]> {
  const file = await fetched(name);
  const digest = await crypto.subtle.digest('SHA-256', await file.clone().arrayBuffer());
  const hash = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hash !== expected) throw new Error(`${name}: expected the file of this build, got that of another`);
  return [name, file];
}

async function fetched(name: string): Promise<Response> {
  const { ok, status, headers, body } = await fetch(registration.scope + name, { cache: 'no-cache' });
  if (!ok) throw new Error(`${name}: expected status 200, got ${status}`);
  return new Response(body, { headers: { 'content-type': headers.get('content-type') ?? '', ...isolation } });
}

async function replaceOlder(): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(ours) && name !== ourFiles);
  await Promise.all(names.map((name) => caches.delete(name)));
  await clients.claim();
}

/** Name of the kept file at an address, none for other addresses. */
function nameOf(address: string): string | undefined {
  const { origin, pathname } = new URL(address);
  if (!(origin + pathname).startsWith(registration.scope)) return undefined;
  const name = (origin + pathname).slice(registration.scope.length) || 'index.html';
  return Object.hasOwn(FILES, name) ? name : undefined;
}

async function kept(name: string): Promise<Response> {
  const store = await caches.open(ourFiles);
  return (await store.match(name)) ?? fetched(name);
}
