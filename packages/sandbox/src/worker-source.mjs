// Starts a thread's program when the package runs from source: Node cannot load TypeScript without help. Built code has no use
// for this file, nor for tsx. While tests run, the programs of this repository lie bundled in a folder.
import { existsSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { entry } = workerData;
const root = new URL('../../../', import.meta.url).href;
const bundle = new URL(entry.replace(root, `${root}runs/threads/${process.ppid}/`).replace(/\.ts$/, '.js'));
const isBundled = existsSync(bundle);
if (!isBundled) (await import('tsx/esm/api')).register();
await import(isBundled ? bundle.href : entry);
