// Starts a thread's program when the package runs from source: Node cannot load TypeScript without help. Built code has no use
// for this file, nor for tsx. While tests run, the programs of this repository lie bundled in a folder.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';

const { entry } = workerData ?? JSON.parse(process.env.RLP_WORKER_DATA);
const root = new URL('../../../', import.meta.url).href;
// A thread with no surroundings sees no variables.
const { RLP_THREADS: folder } = process.env;
const bundles = folder ? pathToFileURL(`${folder}/`).href : `${root}runs/threads/${process.ppid}/`;
const bundle = new URL(entry.replace(root, bundles).replace(/\.ts$/, '.js'));
const isBundled = existsSync(bundle);
if (!isBundled) (await import('tsx/esm/api')).register();
await import(isBundled ? bundle.href : entry);
