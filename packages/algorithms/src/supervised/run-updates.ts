import {
  abortSignal,
  callback,
  type ForwardBackwardResult,
  having,
  type Metrics,
  type MetricsLogger,
  type TrainingBackend,
} from '@rlp/core';
import { Attendant, type AttendantOptions } from '../training/attendant.ts';
import { backendWith } from '../training/backend-with.ts';
import { type BatchPlan, batches } from './batches.ts';
import { UpdateHealth } from './update-health.ts';

/** What a run over fixed data works with, whatever its loss is. */
export interface UpdateDependencies<Backend extends TrainingBackend = TrainingBackend> {
  /** Trains the policy. */
  readonly backend: Backend;
  /** Gets every update's metrics and notes, before its report is yielded. */
  readonly logger?: MetricsLogger | undefined;
  /** Milliseconds from any origin. Without it, times are not reported. */
  readonly clock?: (() => number) | undefined;
  /** Ends the run after the update under way. A call of the backend that hangs is abandoned with a `TrainingError`. */
  readonly signal?: AbortSignal | undefined;
}

/** Fields of {@link UpdateDependencies}. */
export const updateDependencyShape = {
  backend: backendWith('forwardBackward', 'optimStep'),
  logger: having<MetricsLogger>('log', 'a logger').optional(),
  clock: callback<() => number>().optional(),
  signal: abortSignal.optional(),
};

/** Where a run over fixed data stands: with the backend's checkpoint, all that is needed to continue it. */
export interface UpdateState {
  /** Updates made. */
  readonly iteration: number;
}

/** One update. */
export interface UpdateReport {
  /** Counts from 0. */
  readonly iteration: number;
  /** Passes over the examples when it was over, such as 1.25. */
  readonly epoch: number;
  /** See `docs/metrics.md`. */
  readonly metrics: Metrics;
  readonly state: UpdateState;
}

/** What differs between runs over fixed data. */
interface UpdateRun<Backend extends TrainingBackend> {
  readonly deadlines: AttendantOptions['deadlines'];
  /** Tokens of each example. */
  readonly lengths: readonly number[];
  readonly plan: BatchPlan;
  /** Where the run goes on. */
  readonly resume: UpdateState | undefined;
  /** Accumulates the gradient of some rows, and reports its own metrics. */
  readonly accumulate: (batch: {
    readonly backend: Backend;
    readonly rows: readonly number[];
    readonly iteration: number;
  }) => Promise<{ readonly pass: ForwardBackwardResult; readonly metrics: Metrics }>;
}

/**
 * Makes the updates of a run over fixed data. One report per update.
 *
 * A resumed run sees exactly the batches that the interrupted run would have seen.
 */
export async function* runUpdates<Backend extends TrainingBackend>(
  { backend: given, logger, clock, signal }: UpdateDependencies<Backend>,
  { deadlines, lengths, plan, resume, accumulate }: UpdateRun<Backend>,
): AsyncGenerator<UpdateReport, void, undefined> {
  const made = resume?.iteration ?? 0;
  let iteration = -1;
  const say = (text: string) => logger?.note?.(Math.max(iteration, made), text);
  const backend = new Attendant({ deadlines, signal, say }).attended(given, 'backend');
  const health = new UpdateHealth();
  for (const { rows, epoch } of batches(lengths, plan)) {
    iteration += 1;
    if (iteration < made) continue;
    if (signal?.aborted) return;
    const start = clock?.();
    const { pass, metrics: own } = await accumulate({ backend, rows, iteration });
    const { gradientNorm, learningRate, skipped } = await backend.optimStep();
    const metrics = {
      ...own,
      ...(skipped === undefined ? { 'gradient/norm': gradientNorm } : { 'update/overflowed': 1 }),
      'learning-rate': learningRate,
      'tokens/trained': pass.tokens.trained,
      'tokens/computed': pass.tokens.total,
      ...(clock && { 'time/learn': clock() - start! }),
    };
    logger?.log(iteration, metrics);
    const problem =
      skipped === undefined
        ? health.examine(pass.loss, gradientNorm)
        : 'the update was left out: the gradient overflowed float16';
    if (problem !== undefined) say(problem);
    yield { iteration, epoch, state: { iteration: iteration + 1 }, metrics };
  }
}
