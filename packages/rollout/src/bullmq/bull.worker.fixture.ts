import { serveBullRollouts } from '../bullmq.ts';
import { groupWorker } from '../index.ts';
import parts from '../pool/letters.worker.fixture.ts';

/** A worker process: `bull-worker URL QUEUE`. */
const [url, queue] = process.argv.slice(2);
await serveBullRollouts({ url: url!, queue: queue!, worker: groupWorker(parts()), lockMs: 500 });
process.send?.('ready');
