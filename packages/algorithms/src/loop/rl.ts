import type { Metrics, PublishOptions, TrainingBackend } from '@rlp/core';
import { Attendant } from './attendant.ts';
import type { Collection } from './collect.ts';
import { collectPatiently } from './collect-patiently.ts';
import { coefficientsOf, controlled } from './control.ts';
import { groupRelativeEstimator } from './estimate.ts';
import { RunHealth } from './health.ts';
import { type LearnContext, type LearnResult, learn } from './learn.ts';
import { logReport } from './logging.ts';
import { MemoryCheck } from './memory.ts';
import {
  coefficientMetrics,
  collectionMetrics,
  collectionNotes,
  groupMetrics,
  learnMetrics,
} from './metrics.ts';
import { scaledForTheRun, type Watched, watch } from './monitoring.ts';
import { RunNotes } from './notes.ts';
import { type ResolvedRlOptions, type RlOptions, resolveRlOptions } from './options.ts';
import { moveReference, needsOf, preflight } from './preflight.ts';
import type { AdvantageEstimator, RlDependencies, RlReport, RlState } from './protocol.ts';
import { RunStoppedError, type Stop } from './run-stopped.ts';
import { Stopwatch } from './stopwatch.ts';

/** How a run continues another. */
export interface ResumeOptions<State> {
  /** The state of the last report of the run to continue; the backend must hold that moment's checkpoint. */
  readonly resume?: State | undefined;
}

/**
 * The reinforcement learning loop: collect groups, score them, learn, publish; one report per iteration.
 *
 * It pulls nothing ahead. While you hold a report, backend and sampler are exactly at that iteration: log, evaluate, save or
 * stop there. Weights are published once before the first iteration and after each. An iteration that the signal interrupts
 * before its first update leaves no trace: its tasks go back. Reward weights scaled by a monitor are restored when the run ends
 * and scaled again on resume.
 *
 * An iteration without rewards is lost: its tasks are given back and collected again after a pause, as `failureBudget` says.
 *
 * @throws OptionsError for options outside their ranges, ArgumentError for a sampling temperature of 0, RunStoppedError for a run
 *   in which nothing can be learned, and whatever backend or sampler reject with. The run can then be resumed from the last
 *   report's checkpoint.
 */
export async function* runRlTraining<Metadata extends Known, Outcome, Known = Metadata>(
  given: RlDependencies<Metadata, Outcome, Known>,
  options: RlOptions & ResumeOptions<RlState> = {},
): AsyncGenerator<RlReport<Metadata>, void, undefined> {
  // Only rollouts and rewards deal in outcomes, and they agree on them: the loop itself need not know. Groups hold the tasks that were
  // taken, so their metadata is that of the tasks.
  const dependencies = given as unknown as RlDependencies<Metadata>;
  const { resume, ...own } = options;
  const resolved = resolveRlOptions(own);
  const estimator = dependencies.advantages ?? groupRelativeEstimator(resolved.advantage);
  const publish = preflight(dependencies, estimator, resolved);
  const { rewards, restore } = scaledForTheRun(dependencies.rewards);
  try {
    yield* iterations({ ...dependencies, rewards }, { estimator, options: resolved, publish, resume });
  } finally {
    restore();
  }
}

async function* iterations<Metadata>(
  dependencies: RlDependencies<Metadata>,
  {
    resume,
    ...plan
  }: Pick<IterationContext<Metadata>, 'estimator' | 'options' | 'publish'> & {
    readonly resume: RlState | undefined;
  },
): AsyncGenerator<RlReport<Metadata>, void, undefined> {
  const { tasks, monitor, logger, signal } = dependencies;
  const { loggedSamples, failureBudget } = plan.options;
  if (resume !== undefined) continueFrom(resume, dependencies);
  if (signal?.aborted) return;
  const notes = new RunNotes(logger);
  const health = new RunHealth(failureBudget, resume === undefined ? 'fresh' : 'resumed');
  const memory = new MemoryCheck(dependencies, failureBudget, (text) => notes.say(iteration, text));
  const run = { notes, health, memory };
  let state = resume;
  let iteration = resume?.iteration ?? 0;
  const attended = waitedFor(dependencies, plan.options, (text) => notes.say(iteration, text));
  memory.atStart({ iteration, state: state ?? { iteration, taskCursor: tasks.cursor } });
  let version = await publishWeights(attended, plan.publish);
  for (; iteration < plan.options.iterations; iteration++) {
    if (signal?.aborted) return;
    const cursor = tasks.cursor;
    const remembered = state?.monitor ?? monitor?.saveState();
    const context = { ...plan, run, iteration, state, version };
    const made = await unlessAborted(runIteration(attended, context), signal);
    if (made === undefined) {
      tasks.seek(cursor);
      monitor?.loadState(remembered);
      return;
    }
    ({ version } = made);
    ({ state } = made.report);
    logReport(logger, made.report, { loggedSamples, runNotes: notes, said: made.said });
    yield made.report;
    if (made.verdict === 'stop') return;
    if (made.stop !== undefined) throw new RunStoppedError(made.stop, { iteration, state });
  }
}

/** What the promise gives, or `undefined` if it rejects with the signal's reason. */
function unlessAborted<Value>(made: Promise<Value>, signal: AbortSignal | undefined) {
  return made.catch((error: unknown) => {
    if (signal?.aborted && error === signal.reason) return undefined;
    throw error;
  });
}

/** The same dependencies, with every call of backend, critic and sampler waited for. */
function waitedFor<Metadata>(
  dependencies: RlDependencies<Metadata>,
  { deadlines }: ResolvedRlOptions,
  say: (text: string) => void,
): RlDependencies<Metadata> {
  const { backend, critic, inference, signal } = dependencies;
  const attendant = new Attendant({ deadlines, signal, say });
  const policy = attendant.attended(backend, 'backend');
  const isShared = (critic as TrainingBackend | undefined) === backend;
  return {
    ...dependencies,
    backend: policy,
    critic: critic && (isShared ? (policy as typeof critic) : attendant.attended(critic, 'critic')),
    inference: attendant.attended(inference, 'sampler'),
  };
}

/** Takes tasks, monitor and reward weights to where a run stood. */
function continueFrom<Metadata>(
  { taskCursor, monitor, weightFactors = {} }: RlState,
  dependencies: RlDependencies<Metadata>,
): void {
  dependencies.tasks.seek(taskCursor);
  if (monitor !== undefined) dependencies.monitor?.loadState(monitor);
  for (const [component, factor] of Object.entries(weightFactors)) {
    dependencies.rewards.scaleWeight?.(component, factor);
  }
}

interface IterationContext<Metadata> {
  readonly estimator: AdvantageEstimator<Metadata>;
  readonly run: { readonly notes: RunNotes; readonly health: RunHealth; readonly memory: MemoryCheck };
  readonly iteration: number;
  /** After the iteration before. */
  readonly state: RlState | undefined;
  readonly options: ResolvedRlOptions;
  readonly publish: PublishOptions;
  /** Of the weights that were published last. */
  readonly version: number;
}

/** What came of learning; `'nothing'` where the monitor's verdict was not to. */
type Learned = { readonly result: LearnResult; readonly metrics: Metrics } | 'nothing';

/** An iteration that came to its end. */
interface Made<Metadata> {
  readonly report: RlReport<Metadata>;
  readonly verdict: Watched<Metadata>['verdict'];
  /** Why the run stops after the report. */
  readonly stop: Stop | undefined;
  /** Notes of the report that were said already. */
  readonly said: readonly string[];
}

/**
 * One iteration; `undefined` when the signal ended it while groups were collected.
 *
 * @throws the signal's reason when it ended it later, but before the first update.
 */
async function runIteration<Metadata>(
  dependencies: RlDependencies<Metadata>,
  context: IterationContext<Metadata>,
): Promise<(Made<Metadata> & { readonly version: number }) | undefined> {
  const { estimator, iteration, state, options, run } = context;
  const stopwatch = new Stopwatch(dependencies.clock);
  const greedy = needsOf(estimator).includes('greedyRewards') ? 'wanted' : 'none';
  const before = state ?? { iteration, taskCursor: dependencies.tasks.cursor };
  const collection = await collectPatiently(dependencies, {
    ...{ options, iteration, greedy, history: run.health.history },
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
  const learned =
    verdict === 'learn' ? await learnFrom({ ...collection, groups }, learning, dependencies) : 'nothing';
  stopwatch.lap('time/learn');
  const version = await publishWeights(dependencies, context.publish);
  stopwatch.lap('time/publish');
  const next = stateAfter(dependencies, context, watched, learned);
  if (dependencies.monitor !== undefined) stopwatch.lap('time/monitor');
  const { laps } = stopwatch;
  return {
    ...concluded({ collection, watched, learned, laps, state: next }, dependencies, context),
    version,
  };
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
  { tasks, monitor }: RlDependencies<Metadata>,
  { iteration, options }: IterationContext<Metadata>,
  { coefficients, weightFactors, referenceKl }: Watched<Metadata>,
  learned: Learned,
): RlState {
  const result = learned === 'nothing' ? undefined : learned.result;
  return {
    iteration: iteration + 1,
    taskCursor: tasks.cursor,
    ...(monitor && {
      klCoefficient: coefficients.kl,
      weightFactors,
      monitor: monitor.saveState(),
      referenceKl: result?.referenceKl ?? referenceKl,
    }),
    ...controlled(coefficients, options, result ?? { trajectories: 0 }),
  };
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
  const result = await learn(groups, { ...context, ...scoring, loss, greedyRewards });
  const { referenceUpdate } = options;
  if (referenceUpdate.method !== 'none' && (iteration + 1) % referenceUpdate.everyIterations === 0) {
    await moveReference(backend, referenceUpdate);
  }
  const ages = groups.flatMap(({ group }) =>
    group.trajectories.map((each) => context.version - each.policyVersion),
  );
  const staleness = ages.length > 0 && { 'staleness/max': Math.max(0, ...ages) };
  return { result, metrics: { ...learnMetrics(result), ...staleness } };
}

/**
 * Hands the backend's current weights to the sampler. Not interruptible: backend and sampler agree whenever the consumer
 * holds a report.
 */
async function publishWeights(
  { backend, inference }: Pick<RlDependencies, 'backend' | 'inference'>,
  publish: PublishOptions,
): Promise<number> {
  return inference.updateWeights(await backend.publish(publish));
}
