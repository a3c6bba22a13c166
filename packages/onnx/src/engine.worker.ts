import { parentPort, workerData } from 'node:worker_threads';

import { NativeGuard } from './runtime/native-guard.ts';
import type { WorkerData } from './runtime/open-engine.ts';
import { serve } from './runtime/serve.ts';

/** Entry of the engine's thread. */
if (parentPort) {
  const port = parentPort;
  const { options, guard } = workerData as WorkerData;
  await serve(
    {
      post: (message, transfer = []) => port.postMessage(message, [...transfer]),
      listen: (receive) => void port.on('message', receive),
    },
    options,
    new NativeGuard(guard),
  );
}
