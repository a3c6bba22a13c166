import type { GroupJob, TrajectoryGroup } from '@rlp/core';
import type { ThreadService } from '@rlp/sandbox/threads';
import { type GroupWorkerParts, groupWorker } from './group-worker.ts';

/** Loads a module and makes a worker of what its export returns. */
export async function openGroupWorker({
  module,
  exportName,
}: {
  readonly module: string;
  readonly exportName: string;
}): Promise<ThreadService<GroupJob, TrajectoryGroup, undefined>> {
  const worker = groupWorker(await partsOf(module, exportName));
  return { ready: undefined, answer: (job) => worker.run(job) };
}

/** @throws TypeError for an export that does not make parts. */
async function partsOf(module: string, exportName: string): Promise<GroupWorkerParts> {
  const loaded = (await import(module)) as Record<string, unknown>;
  const make = loaded[exportName];
  const parts = typeof make === 'function' ? await make() : undefined;
  const missing = ['environment', 'sampler', 'tokenizer'].find((name) => parts?.[name] === undefined);
  if (missing === undefined) return parts;
  throw new TypeError(
    `${module}: expected the export "${exportName}" to be a function that returns environment, sampler and tokenizer, got ` +
      `${parts === undefined ? typeof make : `no ${missing}`}; the module exports ${Object.keys(loaded).join(', ') || 'nothing'}`,
  );
}
