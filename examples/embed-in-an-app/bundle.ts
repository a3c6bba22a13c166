import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';

const directory = fileURLToPath(new URL('.', import.meta.url));

async function bundle(options: BuildOptions): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@rlp/source', 'browser', 'import'],
  });
  return outputFiles[0]!.contents;
}

/** The page with its code inside: one file that needs no server. */
export async function pageHtml(): Promise<string> {
  const page = fileURLToPath(new URL('./page.ts', import.meta.url));
  const code = Buffer.from(await bundle({ entryPoints: [page] })).toString();
  const html = await readFile(`${directory}page.html`, 'utf8');
  // Within a script element, only this ends it.
  return html.replace('/* page */', () => code.replaceAll('</script', '<\\/script'));
}

/** Bytes after gzip of what some code imports, zod not counted. */
export async function gzipBytes(code: string): Promise<number> {
  const stdin = { contents: code, resolveDir: directory };
  return gzipSync(await bundle({ stdin, external: ['zod'] })).length;
}
