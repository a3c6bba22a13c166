import { parentPort, workerData } from 'node:worker_threads';
import { engineLoader } from './javascript/engine.ts';
import type { JobReport, JobRequest, ThreadData } from './javascript/protocol.ts';
import { serveThread } from './threads/serve-thread.ts';

/** Entry point of a sandbox's thread. Runs one job at a time, each with a fresh global object. */
if (parentPort) {
  const { memoryBytes, reuse } = workerData as ThreadData;
  const load = engineLoader(memoryBytes);
  await serveThread<JobRequest, JobReport, void>(parentPort, async () => {
    let engine = Promise.resolve(await load());
    let harness: ReturnType<typeof load> | undefined;
    const answer = async (request: JobRequest) => {
      if (request.job.kind === 'tests') harness ??= load();
      const { report, isReusable } = (await engine).execute(request, await harness);
      // Load while the report is sent. If loading fails, the thread ends and the pool starts another.
      if (!isReusable || reuse === 'nothing') {
        engine = load();
        harness = undefined;
      }
      return report;
    };
    return { ready: undefined, answer };
  });
}
