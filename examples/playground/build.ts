import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { html, renderPage } from '@rlp/page';
import { build } from 'esbuild';

const runtimeFiles = ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'];

/** Folder of onnxruntime-web, as @rlp/onnx finds it. */
export function runtimeFolder(): string {
  const engine = createRequire(import.meta.url).resolve('@rlp/onnx/package.json');
  return dirname(createRequire(engine).resolve('onnxruntime-web/wasm'));
}

/** Writes the page, its workers and the files of ONNX Runtime into a folder. Any web server can serve it. */
export async function buildPlayground(folder: string): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await bundle(folder, ['page.ts', 'worker.ts']);
  for (const name of runtimeFiles) await cp(join(runtimeFolder(), name), join(folder, 'onnx', name));
  await writeFile(join(folder, 'index.html'), page());
  await buildOffline(folder);
}

/** Writes the service worker that keeps the other files of the folder, as they are now. */
export async function buildOffline(folder: string): Promise<void> {
  const names = ['index.html', 'page.js', 'worker.js', ...runtimeFiles.map((name) => `onnx/${name}`)];
  const hashes = await Promise.all(
    names.map(async (name) => [name, sha256(await readFile(join(folder, name)))] as const),
  );
  await bundle(folder, ['offline.ts'], {
    FILES: JSON.stringify(Object.fromEntries(hashes)),
    CONTENTS: JSON.stringify(sha256(JSON.stringify(hashes))),
  });
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');

async function bundle(outdir: string, programs: readonly string[], define: Record<string, string> = {}) {
  await build({
    entryPoints: programs.map((name) => join(import.meta.dirname, name)),
    outdir,
    define,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['@rlp/source', 'browser', 'import'],
    logLevel: 'error',
  });
}

function page(): string {
  return renderPage({
    title: 'A language model learns in your browser',
    lead: 'Choose what it should learn. Its weights are random at first. It copies examples, half of which are wrong. Then it practises by GRPO. Nothing leaves this page.',
    program: 'page.js',
    body: html`<p><label>It learns to <select id="game"></select></label>
<button id="start" type="button">Teach it</button> <button id="pause" type="button">Pause</button> <button id="stop" type="button">Stop</button></p>
<p id="status" role="status">It takes about a minute.</p>
<p id="threads" class="empty">One thread computes, because the server of this page does not isolate it.</p>
<p id="kept" class="empty" hidden>This page needs no connection any more.</p>
<div class="charts"><figure><figcaption><h3>Right answers to new questions</h3></figcaption><div id="chart"></div><p class="empty">Grey: it practises and is told only its score.</p></figure>
<figure><figcaption><h3>What it answers</h3></figcaption><table><caption>Questions, and the answers of the model</caption><thead><tr><th>question</th><th>answer</th><th></th></tr></thead><tbody id="answers"></tbody></table></figure></div>
<div id="files"></div>`,
  });
}
