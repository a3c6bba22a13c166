// Starts a thread's program when the package runs from source: Node cannot load TypeScript without help. Built code has no use
// for this file, nor for tsx.
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
