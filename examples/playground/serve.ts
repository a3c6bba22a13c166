/**
 * Train a transformer in a browser tab
 *
 * ```sh
 * pnpm recipe examples/playground/serve.ts   # prints an address; Ctrl-C ends it
 * ```
 *
 * `worker.ts` trains, `page.ts` shows it, `offline.ts` keeps its files. The two headers let the page use several threads on its first
 * visit too. Without them it is loaded twice.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { buildPlayground } from './build.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Serves a folder on this machine. */
export async function serveFolder(folder: string, port = 0, isolation: 'isolated' | 'plain' = 'isolated') {
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const path = normalize(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const type = types[extname(path)];
    const content = type && (await readFile(join(folder, path)).catch(() => undefined));
    response.writeHead(content === undefined ? 404 : 200, {
      'content-type': type ?? 'text/plain',
      ...(isolation === 'isolated' && {
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      }),
    });
    response.end(content);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

if (import.meta.filename === process.argv[1]) {
  const folder = 'runs/playground';
  await buildPlayground(folder);
  const { url } = await serveFolder(folder, 8080).catch(() => serveFolder(folder));
  console.log(url);
}
