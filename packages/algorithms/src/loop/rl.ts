import { ArgumentError, type Metrics, type Task } from '@rlp/core';
import { collectScoredGroups } from './collect.ts';
import { experienceOf } from './experience.ts';
import { learn } from './learn.ts';
import { groupMetrics, learnMetrics } from './metrics.ts';
import { type ResolvedRlOptions, type RlOptions, resolveRlOptions } from './options.ts';
import type { RlDependencies, RlReport, RlState, ScoredGroup } from './protocol.ts';

/** How a run continues another. */
export interface ResumeOptions<State> {
  /** The state of the last report of the run to continue; the backend must hold that moment's checkpoint. */
  readonly resume?: State | undefined;
}

/**
 * The reinforcement learning loop: collect groups, score them, learn, publish; one report per iteration.
 *
 * It pulls nothing ahead: while the consumer holds a report, backend and sampler are exactly at that iteration, so logging,
 * evaluation, checkpoints and early stop belong to whoever pulls. Weights are published once before the first iteration and
 * after each. An iteration that the signal interrupts before its first update leaves no trace: its tasks go back.
 *
 * @throws OptionsError for options outside their ranges, ArgumentError for a sampling temperature of 0, and whatever
 *   rewards, backend or sampler reject with; the run can then be resumed from the last report's checkpoint.
 */
export async function* runRlTraining<Metadata>(
  dependencies: RlDependencies<Metadata>,
  options: RlOptions & ResumeOptions<RlState> = {},
): AsyncGenerator<RlReport<Metadata>, void, undefined> {
  const { resume, ...own } = options;
  const resolved = resolveRlOptions(own);
  const { tasks, signal, rollouts } = dependencies;
  if (rollouts.options.sampling.temperature === 0) {
    throw new ArgumentError(
      'runRlTraining: the sampling temperature must be above 0, greedy samples have no gradient; set it to 1',
    );
  }
  if (resume !== undefined) tasks.seek(resume.taskCursor);
  if (signal?.aborted) return;
  await publishWeights(dependencies);
  for (let iteration = resume?.iteration ?? 0; iteration < resolved.iterations; iteration++) {
    if (signal?.aborted) return;
    const stopwatch = new Stopwatch(dependencies.clock);
    const cursor = tasks.cursor;
    const batch = tasks.take(resolved.tasksPerIteration);
    const groups = await collectScoredGroups<Metadata>(dependencies, batch, iteration);
    if (groups === undefined) {
      tasks.seek(cursor);
      return;
    }
    stopwatch.lap('time/collect');
    const learned = await learnFrom(groups, iteration, dependencies, resolved);
    if (learned === undefined) {
      tasks.seek(cursor);
      return;
    }
    stopwatch.lap('time/learn');
    await publishWeights(dependencies);
    stopwatch.lap('time/publish');
    yield report({ groups, batch, iteration, learned, times: stopwatch.laps, taskCursor: tasks.cursor });
  }
}

/** `undefined` when the signal ended it before the first update. */
async function learnFrom<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  iteration: number,
  { backend, rollouts, advantages, signal }: RlDependencies<Metadata>,
  options: ResolvedRlOptions,
): Promise<Metrics | undefined> {
  const experience = experienceOf(groups, options, advantages);
  const { temperature } = rollouts.options.sampling;
  const context = { backend, options, iteration, temperature, signal };
  const result = await learn(experience, context).catch((error: unknown) => {
    if (signal?.aborted && error === signal.reason) return undefined;
    throw error;
  });
  if (result === undefined) return undefined;
  const { referenceUpdate } = options;
  if (referenceUpdate.method !== 'none' && (iteration + 1) % referenceUpdate.everyIterations === 0) {
    await backend.updateReference(referenceUpdate);
  }
  const newest = backend.weightVersion;
  const staleness = groups
    .flatMap(({ group }) => group.trajectories)
    .reduce((largest, { policyVersion }) => Math.max(largest, newest - policyVersion), 0);
  return { ...learnMetrics(result), 'staleness/max': staleness };
}

/**
 * Hands the backend's current weights to the sampler. Not interruptible: backend and sampler agree whenever the consumer
 * holds a report.
 */
async function publishWeights({
  backend,
  inference,
}: Pick<RlDependencies, 'backend' | 'inference'>): Promise<void> {
  await inference.updateWeights(await backend.publish());
}

function report<Metadata>(made: {
  readonly groups: readonly ScoredGroup<Metadata>[];
  readonly batch: readonly Task<Metadata>[];
  readonly iteration: number;
  readonly learned: Metrics;
  readonly times: Metrics;
  readonly taskCursor: number;
}): RlReport<Metadata> {
  const { groups, batch, iteration, learned, times, taskCursor } = made;
  const { metrics, notes } = groupMetrics(groups);
  const lost = batch.length - groups.length;
  return {
    iteration,
    metrics: { ...metrics, ...learned, ...times },
    notes: [
      ...(lost > 0 ? [`${lost} of ${batch.length} groups were dropped by the failure policy`] : []),
      ...notes,
    ],
    groups,
    state: { iteration: iteration + 1, taskCursor },
  };
}

/** Milliseconds between laps; nothing without a clock. */
class Stopwatch {
  readonly laps: Record<string, number> = {};
  readonly #clock: (() => number) | undefined;
  #last: number;

  constructor(clock: (() => number) | undefined) {
    this.#clock = clock;
    this.#last = clock?.() ?? 0;
  }

  lap(name: string): void {
    if (this.#clock === undefined) return;
    const now = this.#clock();
    this.laps[name] = now - this.#last;
    this.#last = now;
  }
}
