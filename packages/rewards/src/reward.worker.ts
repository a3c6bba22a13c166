import { parentPort, workerData } from 'node:worker_threads';
import { serveThread } from '@rlp/sandbox/threads';
import type { ThreadData } from './workers/protocol.ts';
import { openScorer } from './workers/scorer.ts';

/** Entry of a thread that scores. */
if (parentPort) await serveThread(parentPort, () => openScorer(workerData as ThreadData));
