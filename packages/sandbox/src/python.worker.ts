import { parentPort, workerData } from 'node:worker_threads';
import type { CodeOutcome } from './code-runner.ts';
import { InterpreterLoader } from './python/sealed/interpreter.ts';
import { type PythonJob, PythonWorlds } from './python/sealed/job.ts';
import { serveThread } from './threads/serve-thread.ts';

/** Data that a thread starts with. */
interface ThreadData {
  readonly memoryBytes: number;
  readonly snapshot: Uint8Array | undefined;
}

/** Entry point of a thread with Python interpreters. Runs one program at a time. Ready with the memory that later ones start from. */
if (parentPort) {
  const { memoryBytes, snapshot } = workerData as ThreadData;
  await serveThread<PythonJob, CodeOutcome, Uint8Array>(parentPort, async () => {
    const loader = new InterpreterLoader(memoryBytes, snapshot);
    const worlds = new PythonWorlds(loader, await loader.load());
    return { ready: loader.snapshot!, answer: (job) => worlds.run(job) };
  });
}
