import { parentPort, workerData } from 'node:worker_threads';
import { engineLoader } from './sandbox/engine.ts';
import type { FromThread, JobRequest, ThreadData } from './sandbox/protocol.ts';

/** Entry of a sandbox's thread: one job at a time, each in a world of its own. */
if (parentPort) {
  const port = parentPort;
  const { memoryBytes, reuse } = workerData as ThreadData;
  const load = engineLoader(memoryBytes);
  let engine = await load();
  port.on('message', async (request: JobRequest) => {
    const { report, isReusable } = engine.execute(request);
    post({ kind: 'done', report });
    if (!isReusable || reuse === 'nothing') engine = await load();
    post({ kind: 'ready' });
  });
  const post = (message: FromThread) => port.postMessage(message);
  post({ kind: 'ready' });
}
