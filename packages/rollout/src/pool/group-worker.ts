import {
  ArgumentError,
  type GroupJob,
  groupJobSchema,
  type InferenceEngine,
  type State,
  type TrajectoryGroup,
} from '@rlp/core';
import type { RolloutDependencies } from '../episode/group-context.ts';
import { RolloutManager } from '../rollout-manager.ts';

/** Dependencies of a worker. */
export interface GroupWorkerParts<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends RolloutDependencies<S, Metadata, Outcome> {
  /** Takes over the weights that jobs bring. Without it, jobs with weights are refused. */
  readonly inference?: InferenceEngine | undefined;
}

/** Runs group jobs, one after the other. */
export interface GroupWorker<Metadata = unknown, Outcome = unknown> {
  /**
   * Runs a job.
   *
   * @throws ArgumentError for a job that is not one, or that brings weights to a worker without `inference`.
   */
  run(
    job: GroupJob<Metadata>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<TrajectoryGroup<Metadata, Outcome>>;
}

/** The worker's side of a pool, for your own queue. It takes jobs and returns their groups. */
export function groupWorker<S extends State, Metadata, Outcome>(
  parts: GroupWorkerParts<S, Metadata, Outcome>,
): GroupWorker<Metadata, Outcome> {
  const managers = new Map<string, RolloutManager<S, Metadata, Outcome>>();
  const managerOf = (options: GroupJob['options']) => {
    const key = JSON.stringify(options);
    const manager = managers.get(key) ?? new RolloutManager<S, Metadata, Outcome>(parts, options);
    managers.clear();
    managers.set(key, manager);
    return manager;
  };
  let last: Promise<unknown> = Promise.resolve();
  const work = async (
    job: GroupJob<Metadata>,
    signal: AbortSignal | undefined,
  ): Promise<TrajectoryGroup<Metadata, Outcome>> => {
    signal?.throwIfAborted();
    checkJob(job);
    await takeWeights(parts, job, signal);
    const manager = managerOf(job.options);
    for await (const group of manager.collectJob(job, { signal })) {
      signal?.throwIfAborted();
      return group;
    }
    signal?.throwIfAborted();
    return { id: job.groupId, task: job.task, trajectories: [] };
  };
  return {
    run: (job, { signal } = {}) => {
      // Weights are those of one job.
      const done = last.then(() => work(job, signal));
      last = done.catch(() => undefined);
      return done;
    },
  };
}

function checkJob(job: unknown): void {
  const { error } = groupJobSchema.safeParse(job);
  if (error === undefined) return;
  const [issue] = error.issues;
  throw new ArgumentError(
    `group job: ${issue!.path.join('.') || 'the job'}: ${issue!.message}; give controller and workers the same version of @rlp`,
  );
}

async function takeWeights(
  { sampler, inference }: Pick<GroupWorkerParts, 'sampler' | 'inference'>,
  { name, publication }: Pick<GroupJob, 'name' | 'publication'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (publication === undefined || publication.version === sampler.policyVersion) return;
  if (inference === undefined) {
    throw new ArgumentError(
      `group job ${name}: expected a worker that takes over weights, got one without \`inference\`; return the sampler as \`inference\` too`,
    );
  }
  await inference.updateWeights(publication, signal);
}
