import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

/** Folder of the files that ONNX Runtime loads in a page. */
export const runtimeFolder = join(
  dirname(createRequire(join(process.cwd(), 'packages/onnx/package.json')).resolve('onnxruntime-web/wasm')),
);

/** Bundles a program as any bundler for browsers does, without configuration. */
export async function bundled(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@rlp/source', 'browser', 'import'],
    logLevel: 'error',
  });
  return outputFiles[0]!.contents;
}

/** Serves a page that runs a program, and the files of ONNX Runtime under `/onnx/`. */
export async function servePage(
  program: Uint8Array,
  isolation: 'isolated' | 'plain',
): Promise<{ readonly url: string; readonly close: () => Promise<unknown> }> {
  const page =
    '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/program.js"></script>';
  const types: Readonly<Record<string, string>> = {
    js: 'text/javascript',
    mjs: 'text/javascript',
    wasm: 'application/wasm',
  };
  const answer = async (path: string) => {
    if (path === '/') return page;
    return path === '/program.js' ? program : readFile(join(runtimeFolder, path.replace(/^\/onnx\//, '')));
  };
  const server = createServer(async ({ url = '/' }, response) => {
    response.setHeader('content-type', types[url.split('.').at(-1)!] ?? 'text/html');
    if (isolation === 'isolated') {
      response.setHeader('cross-origin-opener-policy', 'same-origin');
      response.setHeader('cross-origin-embedder-policy', 'require-corp');
    }
    response.end(await answer(url).catch(() => ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  return { url: `http://127.0.0.1:${port}/`, close: () => new Promise((resolve) => server.close(resolve)) };
}
