/**
 * Bundles the programs of threads while tests run: a thread that starts on TypeScript spends a second of processor time on
 * loading it, and tests start more than a hundred of them. The bootstraps of `@rlp/onnx` and `@rlp/sandbox` find the bundles.
 * The quickstart, the command line, the live page and the writers of `lab`, which tests start as processes, would take seconds.
 */
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { filesIn } from './workspace.ts';

/** Named for this process, which is the parent of those that tests run in. Programs that they start read the variable. */
const folder = resolve(`runs/threads/${process.pid}`);

/** `reward.worker.ts` loads modules of users, which may be TypeScript. */
const programs = [
  ...filesIn('packages', '.ts').filter(
    (path) => /\.(program|worker|worker\.fixture)\.ts$/.test(path) && !path.endsWith('reward.worker.ts'),
  ),
  'examples/quickstart/main.ts',
  'packages/cli/bin/rlp.mjs',
  'packages/quality-monitor/src/live.ts',
  'lab/two-writers.ts',
];
/** Leaves third-party packages where they are, except for zod, and tells each module that it is still its source. */
const asFromSource: Plugin = {
  name: 'as from source',
  setup({ onLoad, onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === 'resolved' || /^(@rlp\/|zod$|zod\/|\/)/.test(path)) return;
      if (isBuiltin(path)) return { external: true };
      const found = await resolve(path, { ...from, pluginData: 'resolved' });
      return found.errors.length > 0
        ? { errors: found.errors }
        : { path: pathToFileURL(found.path).href, external: true };
    });
    onLoad({ filter: /[\\/]packages[\\/][^/\\]+[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: source.replaceAll('import.meta.url', url), loader: 'ts' };
    });
  },
};

/** Called by Vitest before the first test, and what it returns after the last one. */
export default async function setup(): Promise<() => void> {
  process.env.RLP_THREADS = folder;
  await build({
    entryPoints: programs,
    outbase: '.',
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    conditions: ['@rlp/source'],
    plugins: [asFromSource],
  });
  return () => rmSync(folder, { recursive: true, force: true });
}
