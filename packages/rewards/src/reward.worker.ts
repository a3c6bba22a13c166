import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadData } from './workers/protocol.ts';
import { serveThread } from './workers/serve-thread.ts';

/** Entry of a thread that scores. */
if (parentPort) await serveThread(parentPort, workerData as ThreadData);
