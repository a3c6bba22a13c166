import { FormatError, messageOf, RlpError, requireArguments } from '@rlp/core';
import { Attendant } from '../training/attendant.ts';
import { guardedLogger } from '../training/guarded-logger.ts';
import type { ResumeOptions } from '../training/resume-options.ts';
import { Collections, withUnfinished } from './ahead.ts';
import { requireKnown } from './dependencies.ts';
import { groupRelativeEstimator } from './estimate.ts';
import { sharesModel } from './experience.ts';
import { RunHealth } from './health.ts';
import { type IterationContext, publishWeights, runIteration } from './iteration.ts';
import { logReport } from './logging.ts';
import { MemoryCheck } from './memory.ts';
import { scaledForTheRun } from './monitoring.ts';
import { RunNotes } from './notes.ts';
import { type ResolvedRlOptions, type RlOptions, resolveRlOptions } from './options.ts';
import { preflight, requireCritic } from './preflight.ts';
import type { RlDependencies, RlReport, RlState } from './protocol.ts';
import { RunStoppedError } from './run-stopped.ts';
import { SamplingGate } from './sampling-gate.ts';

/**
 * The reinforcement learning loop: collect groups, score them, learn, publish. One report per iteration.
 *
 * With `lookAhead: 0` it samples nothing ahead. While you hold a report, backend and sampler are exactly at that iteration: log, evaluate,
 * save or stop there. Weights are published once before the first iteration and after each. An iteration that the signal interrupts
 * before its first update leaves no trace: its tasks go back, and `onInterrupted` gets its episodes. Reward weights scaled by a monitor are restored when the run ends
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
  requireKnown(dependencies);
  requireArguments('runRlTraining', { options: 'object?' }, options);
  const { resume, ...own } = options;
  const resolved = resolveRlOptions(own);
  requireCritic('runRlTraining', own.critic, dependencies?.critic);
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
  const { tasks, monitor, signal, onInterrupted } = dependencies;
  const { loggedSamples, failureBudget } = plan.options;
  if (resume !== undefined) continueFrom(resume, dependencies);
  if (signal?.aborted) return;
  const logger = guardedLogger(dependencies.logger, (text) => notes.say(iteration, text));
  const notes = new RunNotes(logger);
  const health = new RunHealth(failureBudget, resume === undefined ? 'fresh' : 'resumed');
  const memory = new MemoryCheck(dependencies, plan.options, (text) => notes.say(iteration, text));
  const run = { notes, health, memory };
  let state = resume;
  let iteration = resume?.iteration ?? 0;
  const attended = attendedDependencies(dependencies, plan.options, (text) => notes.say(iteration, text));
  memory.atStart({ iteration, state: state ?? { iteration, taskCursor: tasks.cursor } });
  let version = await publishWeights(attended, plan.publish);
  const collections = new Collections(attended, plan.options, { iteration, carried: resume?.unfinished });
  const shared = { ...plan, run, collections, gate: new SamplingGate() };
  try {
    for (; iteration < plan.options.iterations; iteration++) {
      if (signal?.aborted) return;
      const remembered = state?.monitor ?? monitor?.saveState();
      const made = await unlessAborted(
        runIteration(attended, { ...shared, iteration, state, version }),
        signal,
      );
      if (made === undefined) {
        const taskCursor = collections.cursor;
        onInterrupted?.(withUnfinished(state ?? { iteration, taskCursor }, collections.unfinished()));
        tasks.seek(taskCursor);
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
  } finally {
    collections.close();
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
function attendedDependencies<Metadata>(
  dependencies: RlDependencies<Metadata>,
  { deadlines }: ResolvedRlOptions,
  say: (text: string) => void,
): RlDependencies<Metadata> {
  const { backend, critic, inference, signal } = dependencies;
  const attendant = new Attendant({ deadlines, signal, say });
  const policy = attendant.attended(backend, 'backend');
  return {
    ...dependencies,
    backend: policy,
    critic:
      critic &&
      (sharesModel(dependencies) ? (policy as typeof critic) : attendant.attended(critic, 'critic')),
    inference: attendant.attended(inference, 'sampler'),
  };
}

/** Takes tasks, monitor and reward weights to where a run stood. */
function continueFrom<Metadata>(
  { taskCursor, monitor, weightFactors = {} }: RlState,
  dependencies: RlDependencies<Metadata>,
): void {
  dependencies.tasks.seek(taskCursor);
  try {
    if (monitor !== undefined) dependencies.monitor?.loadState(monitor);
  } catch (error) {
    if (!(error instanceof RlpError)) throw error;
    const problem =
      'resume: the checkpoint is of a run with another `monitor` than the one in the dependencies';
    throw new FormatError(`${problem}: ${messageOf(error)}`, { cause: error });
  }
  for (const [component, factor] of Object.entries(weightFactors)) {
    dependencies.rewards.scaleWeight?.(component, factor);
  }
}
