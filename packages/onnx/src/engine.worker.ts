import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerData } from './runtime/caller/open-engine.ts';
import { NativeGuard } from './runtime/native/native-guard.ts';
import { nodePlatform } from './runtime/native/node-platform.ts';
import { serve } from './runtime/thread/serve.ts';

/** Entry point of the engine's worker thread. */
if (parentPort) {
  const port = parentPort;
  const { options, guard } = workerData as WorkerData;
  await serve(
    {
      post: (message, transfer = []) => port.postMessage(message, [...transfer]),
      listen: (receive) => void port.on('message', receive),
    },
    options,
    nodePlatform(new NativeGuard(guard)),
  );
}
