import type { Metrics, PublishOptions, RecordedTrajectory } from '@rlp/core';
import { type Collections, withUnfinished } from './ahead.ts';
import type { Collection } from './collect.ts';
import { coefficientsOf, controlled } from './control.ts';
import type { RunHealth } from './health.ts';
import { type LearnContext, type LearnResult, learn } from './learn.ts';
import type { MemoryCheck } from './memory.ts';
import {
  coefficientMetrics,
  collectionMetrics,
  collectionNotes,
  groupMetrics,
  learnMetrics,
} from './metrics.ts';
import { type Watched, watch } from './monitoring.ts';
import type { RunNotes } from './notes.ts';
import type { ResolvedRlOptions } from './options.ts';
import { moveReference, needsOf } from './preflight.ts';
import type { AdvantageEstimator, RlDependencies, RlReport, RlState } from './protocol.ts';
import type { Stop } from './run-stopped.ts';
import type { SamplingGate } from './sampling-gate.ts';
import { stalenessMetrics } from './staleness.ts';
import { Stopwatch } from './stopwatch.ts';

/** What an iteration needs to know of the run. */
export interface IterationContext<Metadata> {
  readonly estimator: AdvantageEstimator<Metadata>;
  readonly run: { readonly notes: RunNotes; readonly health: RunHealth; readonly memory: MemoryCheck };
  readonly iteration: number;
  /** After the iteration before. */
  readonly state: RlState | undefined;
  readonly options: ResolvedRlOptions;
  readonly publish: PublishOptions;
  /** Of the weights that were published last. */
  readonly version: number;
  readonly collections: Collections<Metadata>;
  /** Keeps weights as they are while groups are sampled. */
  readonly gate: SamplingGate;
}

/** Result of the update step, or `'nothing'` if the monitor vetoed it. */
type Learned = { readonly result: LearnResult; readonly metrics: Metrics } | 'nothing';

/** An iteration that came to its end. */
export interface Made<Metadata> {
  readonly report: RlReport<Metadata>;
  readonly verdict: Watched<Metadata>['verdict'];
  /** Why the run stops after the report. */
  readonly stop: Stop | undefined;
  /** Notes of the report that were said already. */
  readonly said: readonly string[];
}

/**
 * One iteration. `undefined` when the signal ended it while groups were collected.
 *
 * @throws the signal's reason when it ended it later, but before the first update.
 */
export async function runIteration<Metadata>(
  dependencies: RlDependencies<Metadata>,
  context: IterationContext<Metadata>,
): Promise<(Made<Metadata> & { readonly version: number }) | undefined> {
  const { estimator, iteration, state, options, run } = context;
  const stopwatch = new Stopwatch(dependencies.clock);
  const greedy = needsOf(estimator).includes('greedyRewards') ? 'wanted' : 'none';
  const before = state ?? { iteration, taskCursor: context.collections.cursor };
  const collection = await context.collections.take(iteration, {
    ...{ options, greedy, history: () => run.health.history, gate: context.gate },
    state: before,
    say: (text) => run.notes.say(iteration, text),
  });
  stopwatch.lap('time/collect');
  if (collection === undefined) return undefined;
  run.memory.beforeUpdates(collection.groups, { iteration, state: before });
  const watched = await watch(collection.groups, dependencies, {
    iteration,
    coefficients: coefficientsOf(options, state, dependencies.monitor && 'watched'),
    weightFactors: state?.weightFactors ?? {},
    referenceKl: state?.referenceKl,
  });
  if (dependencies.monitor !== undefined) stopwatch.lap('time/monitor');
  const { coefficients, verdict, groups } = watched;
  const learning = { estimator, coefficients, iteration, options, version: context.version };
  const update = async () => {
    const learned =
      verdict === 'learn' ? await learnFrom({ ...collection, groups }, learning, dependencies) : 'nothing';
    stopwatch.lap('time/learn');
    const publish = () => publishWeights(dependencies, context.publish);
    const version = await (waits === 'to publish' ? context.gate.alone(publish) : publish());
    stopwatch.lap('time/publish');
    return { learned, version } as const;
  };
  const waits = waitsFor(options, context.publish);
  const { learned, version } = await (waits === 'to learn' ? context.gate.alone(update) : update());
  context.collections.done();
  const next = stateAfter(dependencies, context, watched, learned);
  if (dependencies.monitor !== undefined) stopwatch.lap('time/monitor');
  const { laps } = stopwatch;
  return {
    ...concluded({ collection, watched, learned, laps, state: next }, dependencies, context),
    version,
  };
}

/**
 * What waits until nothing is sampled. Weights in a store that trainer and sampler share change with every update, not only when they are
 * published.
 */
function waitsFor(
  { lookAhead, publishWhileSampling }: ResolvedRlOptions,
  { as }: PublishOptions,
): 'nothing' | 'to learn' | 'to publish' {
  if (lookAhead === 0 || publishWhileSampling === 'continue') return 'nothing';
  return as === 'shared' ? 'to learn' : 'to publish';
}

/** The report of an iteration, with what a person should know of it. */
function concluded<Metadata>(
  {
    collection,
    watched,
    learned,
    laps,
    state,
  }: {
    readonly collection: Collection<Metadata>;
    readonly watched: Watched<Metadata>;
    readonly learned: Learned;
    readonly laps: Metrics;
    readonly state: RlState;
  },
  { rollouts }: RlDependencies<Metadata>,
  { iteration, options, run }: IterationContext<Metadata>,
): Made<Metadata> {
  const { groups, findings, verdict, coefficients } = watched;
  const collected = groupMetrics(collection.collected);
  const metrics = {
    ...collected.metrics,
    ...collectionMetrics(collection),
    ...watched.metrics,
    ...(learned === 'nothing' ? { 'update/count': 0 } : learned.metrics),
    ...coefficientMetrics(coefficients, options),
    ...laps,
  };
  const health = run.health.examine(metrics);
  const said = run.notes.take();
  const notes = [
    ...said,
    ...collectionNotes(collection, groups.length, options),
    ...collected.notes,
    ...health.notes,
    ...(rollouts.takeNotes?.() ?? []),
    ...watched.notes,
  ];
  const report = { iteration, metrics, notes, groups, findings, state };
  return { report, verdict, stop: health.stop, said };
}

/** What the next iteration, in this run or another, goes on from. */
function stateAfter<Metadata>(
  { monitor }: RlDependencies<Metadata>,
  { iteration, options, collections }: IterationContext<Metadata>,
  { coefficients, weightFactors, referenceKl }: Watched<Metadata>,
  learned: Learned,
): RlState {
  const result = learned === 'nothing' ? undefined : learned.result;
  const state = {
    iteration: iteration + 1,
    taskCursor: collections.cursor,
    ...(monitor && {
      klCoefficient: coefficients.kl,
      weightFactors,
      monitor: monitor.saveState(),
      referenceKl: result?.referenceKl ?? referenceKl,
    }),
    ...controlled(coefficients, options, result ?? { trajectories: 0 }),
  };
  return withUnfinished(state, collections.unfinished());
}

async function learnFrom<Metadata>(
  { groups, greedyRewards }: Collection<Metadata>,
  context: Pick<LearnContext<Metadata>, 'estimator' | 'coefficients' | 'iteration' | 'options'> & {
    readonly version: number;
  },
  { backend, critic, loss, rollouts, signal }: RlDependencies<Metadata>,
): Promise<Exclude<Learned, 'nothing'>> {
  const { options, iteration } = context;
  const { temperature } = rollouts.options.sampling;
  const scoring = { backend, critic, temperature, signal };
  const onLearned = rollouts.isWatched
    ? (record: RecordedTrajectory) => {
        const { id: episode, task } = record.trajectory;
        rollouts.tell?.({ type: 'trajectory-learned', episode, task: task.id, record });
      }
    : undefined;
  const result = await learn(groups, { ...context, ...scoring, loss, greedyRewards, onLearned });
  const { referenceUpdate } = options;
  if (referenceUpdate.method !== 'none' && (iteration + 1) % referenceUpdate.everyIterations === 0) {
    await moveReference(backend, referenceUpdate);
  }
  const staleness = stalenessMetrics(groups, context);
  return { result, metrics: { ...learnMetrics(result), ...staleness } };
}

/**
 * Hands the backend's current weights to the sampler. Not interruptible: backend and sampler agree whenever the consumer
 * holds a report.
 */
export async function publishWeights(
  { backend, inference }: Pick<RlDependencies, 'backend' | 'inference'>,
  options: PublishOptions,
): Promise<number> {
  return inference.updateWeights(await backend.publish(options));
}
