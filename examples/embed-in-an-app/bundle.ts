import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Plugin } from 'esbuild';

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

/** Leaves out what is only loaded when it is needed. */
const withoutLaterImports: Plugin = {
  name: 'without-later-imports',
  setup(builder) {
    builder.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** Bytes after gzip of a bundle of some code, without what the code may load later on. */
export async function gzipBytes(code: string, zod: 'counted' | 'apart' = 'apart'): Promise<number> {
  const stdin = { contents: code, resolveDir: directory };
  const { outputFiles } = await build({
    ...options,
    stdin,
    external: zod === 'apart' ? ['zod'] : [],
    plugins: [withoutLaterImports],
  });
  return gzipSync(outputFiles[0]!.contents).length;
}
