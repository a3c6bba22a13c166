/**
 * Builds the package in the working directory to `dist/`, ESM only.
 *
 * Entries are what the package's `exports` map names, and every program and worker that runs in a separate thread. All
 * output sits directly in `dist/`, so that `new URL('./x.program.js', import.meta.url)` finds its file from any chunk.
 * Declaration files come from one `tsc` run over the whole repository, not from here: see docs/decisions/0002.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { defineConfig } from 'tsup';

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

const publicEntries = Object.values(exports).flatMap((target) => {
  const source = typeof target === 'string' ? undefined : target['@rlp/source'];
  const built = typeof target === 'string' ? undefined : target.default;
  return source && built ? [[built.replace(/^\.\/dist\/(.*)\.js$/, '$1'), source] as const] : [];
});

const threadEntries = readdirSync('src')
  .filter((file) => /\.(program|worker)\.ts$/.test(file))
  .map((file) => [file.replace(/\.ts$/, ''), `src/${file}`] as const);

/** Programs of threads. What they import for its effect stays. */
const isThread = (path: string) => /\.(program|worker)\.js$/.test(path);

/** Comments that have lines of their own. */
const ownLines = /^ *\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm;

/** Code without these comments. What looks like one inside a text stays: there, esbuild keeps the mark. */
async function withoutComments(code: string): Promise<string> {
  let [marks, found] = [0, 0];
  const marked = code.replaceAll(ownLines, () => `/*${marks++}*/`);
  const { code: texts } = await transform(marked, { minifyWhitespace: true, legalComments: 'none' });
  return code.replaceAll(ownLines, (comment) => (texts.includes(`/*${found++}*/`) ? comment : ''));
}

export default defineConfig({
  entry: Object.fromEntries([...publicEntries, ...threadEntries]),
  format: 'esm',
  target: 'es2023',
  platform: 'node',
  splitting: true,
  // Modules that a step after this one writes to `dist/`.
  external: [/^#/],
  // The built files are not minified, and maps would be a fifth of what is installed.
  sourcemap: false,
  esbuildOptions: (options) => {
    // esbuild's own is the directory in which it was started.
    options.absWorkingDir = process.cwd();
  },
  // What place-declarations.ts writes, perhaps at the same time, stays.
  clean: ['!**/*.d.ts', '!**/*.d.ts.map', '!schemas/**'],
  plugins: [
    {
      // esbuild keeps comments of members. The sources and the declarations have them too.
      name: 'no-comments',
      renderChunk: async (code) => ({ code: await withoutComments(code) }),
    },
    {
      // The packages have no side effects, so a bundler of users warns of every chunk that is imported for nothing.
      name: 'no-bare-imports',
      renderChunk: (code, { path }) =>
        isThread(path) ? undefined : { code: code.replaceAll(/^import "\.\/chunk-\w+\.js";\n/gm, '') },
    },
  ],
  removeNodeProtocol: false,
  silent: true,
});
