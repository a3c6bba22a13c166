import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';

const directory = fileURLToPath(new URL('.', import.meta.url));

const options = {
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  platform: 'browser',
  conditions: ['@rlp/source', 'browser', 'import'],
} as const satisfies BuildOptions;

/** The page with its code inside: one file that needs no server. */
export async function pageHtml(): Promise<string> {
  const page = fileURLToPath(new URL('./page.ts', import.meta.url));
  const { outputFiles } = await build({ ...options, entryPoints: [page] });
  const html = await readFile(`${directory}page.html`, 'utf8');
  // Within a script element, only this ends it.
  return html.replace('/* page */', () => outputFiles[0]!.text.replaceAll('</script', '<\\/script'));
}

/** Bytes after gzip of what some code loads before it runs: zod not counted, nor what it may load later on. */
export async function gzipBytes(code: string): Promise<number> {
  const stdin = { contents: code, resolveDir: directory };
  const { outputFiles, metafile } = await build({
    ...options,
    stdin,
    external: ['zod'],
    splitting: true,
    metafile: true,
    outdir: directory,
  });
  const sizes = new Map(outputFiles.map(({ path, contents }) => [path, gzipSync(contents).length]));
  const loaded = new Set<string>();
  const load = (output: string): void => {
    if (loaded.has(output)) return;
    loaded.add(output);
    for (const { path, kind } of metafile.outputs[output]!.imports) {
      if (kind === 'import-statement' && path in metafile.outputs) load(path);
    }
  };
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === '<stdin>')!;
  load(entry[0]);
  return [...loaded].reduce((sum, output) => sum + sizes.get(resolve(output))!, 0);
}
