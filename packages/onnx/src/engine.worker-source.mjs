// Starts engine.worker.ts when the package runs from source: Node cannot load TypeScript without help. Built code has no use
// for this file, nor for tsx. While tests run, the thread and the programs of this repository lie bundled in a folder.
import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';

const { entry } = workerData;
const root = new URL('../../../', import.meta.url).href;
const folder = `${pathToFileURL(process.env.RLP_THREADS ?? 'none').href}/`;
const bundleOf = (url) => new URL(url.replace(root, folder).replace(/\.ts$/, '.js'));

/** Hooks of Node's loader: programs that are bundled are read from there. */
const hooks = `
  import { existsSync } from 'node:fs';
  const [root, folder] = ${JSON.stringify([root, folder])};
  const bundleOf = ${bundleOf};
  export async function resolve(specifier, context, next) {
    const bundle = specifier.endsWith('.program.ts') && bundleOf(specifier);
    return bundle && existsSync(bundle) ? { url: bundle.href, shortCircuit: true } : next(specifier, context);
  }`;

const isBundled = existsSync(bundleOf(entry));
if (isBundled) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
else (await import('tsx/esm/api')).register();
await import(isBundled ? bundleOf(entry).href : entry);
