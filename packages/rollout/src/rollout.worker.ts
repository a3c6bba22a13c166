import { serveThread, threadSide } from '@rlp/sandbox/threads';
import { openGroupWorker } from './pool/open-group-worker.ts';

/** Entry of a thread or process that runs group jobs. */
const side = threadSide();
if (side !== undefined) {
  await serveThread(side.port, () => openGroupWorker(side.data as { module: string; exportName: string }));
}
