import { parentPort, workerData } from 'node:worker_threads';
import type { CodeOutcome } from './code-runner.ts';
import { InterpreterLoader, type Prepared } from './python/sealed/interpreter.ts';
import { type PythonJob, PythonWorlds } from './python/sealed/job.ts';
import { serveThread } from './threads/serve-thread.ts';

/** Data that a thread starts with. */
interface ThreadData {
  readonly memoryBytes: number;
  readonly prepared: Prepared | undefined;
}

/** Entry point of a thread with Python interpreters. Runs one program at a time. Ready with what later ones start from. */
if (parentPort) {
  const { memoryBytes, prepared } = workerData as ThreadData;
  await serveThread<PythonJob, CodeOutcome, Prepared>(parentPort, async () => {
    const loader = new InterpreterLoader(memoryBytes, prepared);
    const worlds = new PythonWorlds(loader, await loader.load());
    return { ready: await loader.prepared(), answer: (job) => worlds.run(job) };
  });
}
