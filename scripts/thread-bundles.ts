/**
 * Bundles the programs of threads while tests run: a thread that starts on TypeScript spends a second of processor time on
 * loading it, and tests start more than a hundred of them. The bootstraps of `@rlp/onnx` and `@rlp/sandbox` find the bundles.
 * What tests start as processes, or import there, would take up to four seconds.
 */
import { rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
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
  'packages/backprop/src/testing/trained-on.ts',
  'packages/cli/bin/rlp.mjs',
  'packages/inference/src/index.ts',
  'packages/models/src/index.ts',
  'packages/onnx/src/runtime.ts',
  'packages/quality-monitor/src/live.ts',
  'packages/sandbox/src/index.ts',
  'lab/gpu/agreement.ts',
  'lab/two-writers.ts',
];

/** For `node --import`, so that a process reads the bundle of a source where there is one. */
const registrar = `${folder}/register.mjs`;
const hooks = `
  import { existsSync } from 'node:fs';
  const [root, folder] = ${JSON.stringify([resolve(), folder].map((path) => pathToFileURL(path).href))};
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    if (!found.url.endsWith('.ts')) return found;
    const bundle = found.url.replace(root, folder).replace(/ts$/, 'js');
    return existsSync(new URL(bundle)) ? { url: bundle, format: 'module' } : found;
  }`;
const registration = `
  import { register } from 'node:module';
  register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;

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
  process.env.RLP_REGISTER = pathToFileURL(registrar).href;
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
  await writeFile(registrar, registration);
  return () => rmSync(folder, { recursive: true, force: true });
}
