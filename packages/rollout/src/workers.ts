/** Rollouts in several threads or processes of one machine. Needs Node and `@rlp/sandbox`. */

import { importPeer } from '@rlp/core';
import type { RolloutWorkers } from './pool/rollout-workers.ts';
import type { RolloutWorkersOptions } from './pool/worker-options.ts';

export type { RolloutWorkers } from './pool/rollout-workers.ts';
export type { RolloutWorkersOptions } from './pool/worker-options.ts';

const entry = import.meta.url.endsWith('.ts') ? './rollout.worker.ts' : './rollout.worker.js';

/**
 * Runs group jobs with what a module makes, in several threads or processes.
 *
 *     const pool = await createRolloutWorkers({ module: new URL('./worker.ts', import.meta.url), workers: 4 });
 *     const rollouts = pooledRollouts(pool, { groupSize: 8 }); // a training loop takes it
 *
 * The module's export is a function that returns environment, sampler and tokenizer ({@link GroupWorkerParts}), or a promise of them. Each
 * worker calls it once. A worker that ends or hangs is replaced, and its job is done again. One worker starts at once to check the module.
 *
 * @throws OptionsError naming every problem; MissingPeerError without `@rlp/sandbox`; ThreadError of `@rlp/sandbox/threads` for a module
 *   that cannot be loaded.
 */
export async function createRolloutWorkers<Metadata = unknown, Outcome = unknown>(
  options: RolloutWorkersOptions,
): Promise<RolloutWorkers<Metadata, Outcome>> {
  const load = () => import('./pool/rollout-workers.ts');
  const { openRolloutWorkers } = await importPeer('createRolloutWorkers', '@rlp/sandbox', load);
  return openRolloutWorkers(options, new URL(entry, import.meta.url));
}
