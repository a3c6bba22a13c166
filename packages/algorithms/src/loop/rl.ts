import type { Metrics, PublishOptions } from '@rlp/core';
import { type Collection, collectIteration } from './collect.ts';
import { coefficientsOf, controlled } from './control.ts';
import { groupRelativeEstimator } from './estimate.ts';
import { type LearnContext, type LearnResult, learn } from './learn.ts';
import { logReport } from './logging.ts';
import { coefficientMetrics, groupMetrics, learnMetrics } from './metrics.ts';
import { scaledForTheRun, type Watched, watch } from './monitoring.ts';
import { type ResolvedRlOptions, type RlOptions, resolveRlOptions } from './options.ts';
import { moveReference, needsOf, preflight } from './preflight.ts';
import type { AdvantageEstimator, RlDependencies, RlReport, RlState } from './protocol.ts';

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
 * @throws OptionsError for options outside their ranges, ArgumentError for a sampling temperature of 0, and whatever
 *   rewards, backend or sampler reject with; the run can then be resumed from the last report's checkpoint.
 */
export async function* runRlTraining<Metadata, Outcome>(
  given: RlDependencies<Metadata, Outcome>,
  options: RlOptions & ResumeOptions<RlState> = {},
): AsyncGenerator<RlReport<Metadata>, void, undefined> {
  // Only rollouts and rewards deal in outcomes, and they agree on them: the loop itself need not know.
  const dependencies = given as RlDependencies<Metadata>;
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
  if (resume !== undefined) continueFrom(resume, dependencies);
  if (signal?.aborted) return;
  let version = await publishWeights(dependencies, plan.publish);
  let state = resume;
  for (let iteration = resume?.iteration ?? 0; iteration < plan.options.iterations; iteration++) {
    if (signal?.aborted) return;
    const cursor = tasks.cursor;
    const remembered = state?.monitor ?? monitor?.saveState();
    const made = await runIteration(dependencies, { ...plan, iteration, state, version }).catch(
      (error: unknown) => {
        if (signal?.aborted && error === signal.reason) return undefined;
        throw error;
      },
    );
    if (made === undefined) {
      tasks.seek(cursor);
      monitor?.loadState(remembered);
      return;
    }
    ({ version } = made);
    ({ state } = made.report);
    logReport(logger, made.report, plan.options.loggedSamples);
    yield made.report;
    if (made.verdict === 'stop') return;
  }
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

/**
 * One iteration; `undefined` when the signal ended it while groups were collected.
 *
 * @throws the signal's reason when it ended it later, but before the first update.
 */
async function runIteration<Metadata>(
  dependencies: RlDependencies<Metadata>,
  context: IterationContext<Metadata>,
): Promise<
  | {
      readonly report: RlReport<Metadata>;
      readonly verdict: Watched<Metadata>['verdict'];
      readonly version: number;
    }
  | undefined
> {
  const { estimator, iteration, state, options } = context;
  const stopwatch = new Stopwatch(dependencies.clock);
  const greedy = needsOf(estimator).includes('greedyRewards') ? 'wanted' : 'none';
  const collection = await collectIteration(dependencies, { options, iteration, greedy });
  stopwatch.lap('time/collect');
  if (collection === undefined) return undefined;
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
  const metrics = {
    ...watched.metrics,
    ...(learned === 'nothing' ? { 'update/count': 0 } : learned.metrics),
    ...coefficientMetrics(coefficients, options),
    ...stopwatch.laps,
  };
  const wanted = options.tasksPerIteration;
  return {
    verdict,
    version,
    report: report(collection, watched, {
      iteration,
      state: next,
      metrics,
      wanted,
      notes: dependencies.rollouts.takeNotes?.() ?? [],
    }),
  };
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

function report<Metadata>(
  { collected, rejected, taken, rounds }: Collection<Metadata>,
  { groups, findings, notes: interventions }: Watched<Metadata>,
  made: {
    readonly iteration: number;
    readonly state: RlState;
    readonly metrics: Metrics;
    readonly wanted: number;
    readonly notes: readonly string[];
  },
): RlReport<Metadata> {
  const { iteration, state, wanted } = made;
  const { metrics, notes } = groupMetrics(collected);
  const lost = taken - collected.length;
  return {
    iteration,
    metrics: {
      ...metrics,
      ...(rejected !== undefined && { 'groups/rejected': rejected }),
      ...(rounds > 1 && { 'groups/rounds': rounds }),
      ...made.metrics,
    },
    notes: [
      ...(lost > 0 ? [`${lost} of ${taken} groups were dropped by the failure policy`] : []),
      ...notes,
      ...made.notes,
      ...(rounds > 1 && groups.length < wanted
        ? [
            `${groups.length} of ${wanted} groups were worth learning from after ${rounds} rounds of collection`,
          ]
        : []),
      ...interventions,
    ],
    groups,
    findings,
    state,
  };
}

/** Milliseconds between laps, added up by name; nothing without a clock. */
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
    this.laps[name] = (this.laps[name] ?? 0) + now - this.#last;
    this.#last = now;
  }
}
