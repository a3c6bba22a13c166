import {
  type GroupJob,
  onAbort,
  type RolloutEvent,
  type State,
  type Task,
  type Trajectory,
  type TrajectoryGroup,
  Watchdog,
} from '@rlp/core';
import pLimit, { type LimitFunction } from 'p-limit';
import {
  type CollectOptions,
  type CollectRolloutsOptions,
  type EpisodeState,
  requireCollectOptions,
  requireCollectRolloutsOptions,
} from './collect-options.ts';
import { type EpisodeOutcome, unfinished } from './episode/episode-record.ts';
import { runGroup } from './episode/group.ts';
import {
  episodesOf,
  type GroupContext,
  type GroupStart,
  type RolloutDependencies,
} from './episode/group-context.ts';
import { guarded } from './episode/guarded.ts';
import { newMembers } from './episode/member.ts';
import { lostInJson } from './episode/plain-state.ts';
import { EventBus } from './events/event-bus.ts';
import { progressOf, type RolloutProgress } from './events/progress.ts';
import { TokenMeter } from './events/token-meter.ts';
import { startsOfStates, startsOfTasks, startsOfTrajectories } from './group-starts.ts';
import {
  type ResolvedRolloutOptions,
  type RolloutOptions,
  requireAnswerRoom,
  requireDependencies,
  resolveRolloutOptions,
} from './options.ts';
import { Pace } from './pace.ts';
import { Semaphore } from './semaphore.ts';
import { RolloutCounter, type RolloutStatistics } from './statistics.ts';
import { WorldCounts } from './world-counts.ts';

/** Rounds in a row without any trajectory before `collectRollouts` gives up. */
const MAX_FRUITLESS_ROUNDS = 10;

type Groups<Metadata, Outcome> = AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>>;

/**
 * Runs an environment against a policy. Takes tasks and returns groups of trajectories.
 *
 * The G members of a group share their initial state and their prompt's prefill. Later turns are requested concurrently, so a batching
 * sampler batches them across members and groups. Random streams are named by (seed, iteration, task, member, turn), so neither concurrency
 * nor finishing order changes a sample. A failure is data. Its trajectory has status `failed` and names the boundary, while the other
 * members go on.
 */
export class RolloutManager<S extends State = State, Metadata = unknown, Outcome = unknown> {
  /** Options with their defaults. */
  readonly options: ResolvedRolloutOptions;
  /** Collections call `onEnded` and `onGroup` with the same objects that they yield. */
  readonly tellsEarly = true;
  readonly #dependencies: RolloutDependencies<S, Metadata, Outcome>;
  readonly #counter = new RolloutCounter();
  readonly #worlds: WorldCounts;
  readonly #events: EventBus;
  readonly #meter: TokenMeter;
  readonly #limit: LimitFunction;
  readonly #episodes: Semaphore;
  readonly #pace = new Pace();
  readonly #running = new Set<GroupContext<S, Metadata, Outcome>>();
  #lastError: unknown;
  #collections = 0;
  #hasLooked = false;

  /** @throws OptionsError naming every problem at once. */
  constructor(dependencies: RolloutDependencies<S, Metadata, Outcome>, options: RolloutOptions = {}) {
    requireDependencies('RolloutManager', dependencies);
    const { onEvent = [], clock } = dependencies;
    this.#dependencies = dependencies;
    this.#worlds = new WorldCounts(dependencies.environment.pools);
    this.options = resolveRolloutOptions(options);
    requireAnswerRoom('RolloutManager', options, dependencies.sampler.contextLength);
    this.#limit = pLimit(this.options.concurrency);
    this.#episodes = new Semaphore(this.options.concurrentEpisodes);
    const sinks = typeof onEvent === 'function' ? [onEvent] : onEvent;
    this.#meter = new TokenMeter(clock);
    this.#events = new EventBus(sinks, (text) => this.#counter.note(text), clock);
  }

  /**
   * Collects one group per task and yields them in the order of `tasks`. A group is yielded as soon as those before it are.
   *
   * A task that occurs twice gets two groups with different random streams. Once `signal` fires, running groups are still yielded, with
   * unfinished members `aborted`. Other groups are not yielded, and iteration ends without throwing. Leaving the loop early aborts the
   * rest. Failed episodes throw only under the failure policy `stop`.
   */
  collectGroups(
    tasks: readonly Task<Metadata>[],
    options: CollectOptions<Metadata, Outcome> = {},
  ): Groups<Metadata, Outcome> {
    requireCollectOptions('RolloutManager', options);
    const at = { ...options, iteration: this.#nextIteration(options) };
    return this.#collect(startsOfTasks<S, Metadata, Outcome>(tasks, at, new Map()), options, this.options);
  }

  /**
   * Continues episodes of a stopped collection, or those that {@link unfinished} returned, and yields their groups.
   *
   * With equal weights they become what they would have become, because their random streams have the same names. Episodes that are over
   * stay as they are. Missing members are started. A state that the environment cannot continue from gives a trajectory with status
   * `failed`.
   *
   * @throws ArgumentError for a trajectory without a group.
   */
  resume(
    trajectories: readonly Trajectory<Metadata, Outcome>[],
    options: Omit<CollectOptions<Metadata, Outcome>, 'iteration' | 'round' | 'unfinished'> = {},
  ): Groups<Metadata, Outcome> {
    requireCollectOptions('RolloutManager', options);
    return this.#collect(startsOfTrajectories<S, Metadata, Outcome>(trajectories), options, this.options);
  }

  /** Collects the group of a job, which names its random streams. */
  collectJob(
    { task, groupId, unfinished = [] }: Pick<GroupJob<Metadata>, 'task' | 'groupId' | 'unfinished'>,
    options: Omit<CollectOptions<Metadata, Outcome>, 'iteration' | 'round' | 'unfinished'> = {},
  ): Groups<Metadata, Outcome> {
    requireCollectOptions('RolloutManager', options);
    const [begun] = startsOfTrajectories<S, Metadata, Outcome>(
      unfinished as readonly Trajectory<Metadata, Outcome>[],
    );
    return this.#collect([{ task, groupId, carried: begun?.carried }], options, this.options);
  }

  /**
   * Collects one group per state. All its members begin in that state: forks from the middle of an episode.
   *
   * Their steps begin at the fork. States are values, so you can pass any state of any episode.
   */
  continueFrom(
    states: readonly EpisodeState<S, Metadata>[],
    options: CollectOptions<Metadata, Outcome> = {},
  ): Groups<Metadata, Outcome> {
    requireCollectOptions('RolloutManager', options);
    const at = { ...options, iteration: this.#nextIteration(options) };
    return this.#collect(startsOfStates<S, Metadata, Outcome>(states, at), options, this.options);
  }

  /** Counts when a collection is requested, not when its first group is. So two collections that wait to be read are two. */
  #nextIteration({ iteration = this.#collections }: CollectOptions<Metadata, Outcome>): number {
    this.#collections += 1;
    return iteration;
  }

  async *#collect(
    starts: readonly GroupStart<S, Metadata, Outcome>[],
    given: CollectOptions<Metadata, Outcome>,
    options: ResolvedRolloutOptions,
  ): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
    const { signal, onNote, onEnded, onGroup } = given;
    const begun: GroupContext<S, Metadata, Outcome>[] = [];
    const stop = new AbortController();
    const release = signal && onAbort(signal, () => stop.abort(signal.reason));
    const shared = {
      dependencies: this.#dependencies,
      environment: guarded(this.#dependencies.environment, {
        signal: stop.signal,
        timeoutMs: options.environmentTimeoutMs,
      }),
      options,
      signal: stop.signal,
      watchdog: samplerWatchdog(options, onNote),
      ...{ events: this.#events, meter: this.#meter, pace: this.#pace },
    };
    const run = async (start: GroupStart<S, Metadata, Outcome>) => {
      const collected = await this.#run({ ...shared, ...start, onEnded }, begun);
      if (collected !== undefined && collected.group.trajectories.length > 0) onGroup?.(collected.group);
      return collected;
    };
    const pending = starts.map((start) => this.#limit(run, start));
    for (const promise of pending) promise.catch(() => undefined); // reported where it is awaited below
    try {
      for await (const collected of pending) {
        if (collected === undefined) continue;
        this.#count(collected, options);
        this.#lookAtState(collected.context);
        if (collected.group.trajectories.length > 0) yield collected.group;
        this.#running.delete(collected.context);
      }
    } finally {
      release?.();
      stop.abort(new Error('the consumer of this collection left it'));
      for (const context of begun) this.#running.delete(context);
    }
  }

  /** Runs a group once there is room for its episodes. */
  async #run(
    given: Omit<GroupContext<S, Metadata, Outcome>, 'members'>,
    begun: GroupContext<S, Metadata, Outcome>[],
  ) {
    const { options, carried, signal, onEnded } = given;
    const { clock, sampler } = this.#dependencies;
    const count = Math.max(options.groupSize, ...Array.from(carried?.keys() ?? [], (member) => member + 1));
    await given.pace.pass();
    let taken = await this.#episodes.acquire(count);
    if (signal.aborted && carried === undefined) {
      this.#episodes.release(taken);
      return undefined;
    }
    const giveOne = (trajectory: Trajectory<Metadata, Outcome>) => {
      onEnded?.(trajectory);
      if (taken <= 0) return;
      taken -= 1;
      this.#episodes.release(1);
    };
    const members = newMembers<S>(count, sampler.policyVersion, clock?.());
    const context: GroupContext<S, Metadata, Outcome> = { ...given, members, onEnded: giveOne };
    this.#running.add(context);
    begun.push(context);
    try {
      const outcomes = await runGroup(context);
      const trajectories = keptOf(outcomes, options);
      return { context, outcomes, group: { id: context.groupId, task: context.task, trajectories } };
    } finally {
      this.#episodes.release(taken);
      taken = 0;
    }
  }

  /** Notes once if the states of the environment could not be stored. */
  #lookAtState({ members }: GroupContext<S, Metadata, Outcome>): void {
    const seen = members.map(({ progress }) => progress.state);
    const state = this.#hasLooked ? undefined : seen.find((one) => one !== undefined);
    if (state === undefined) return;
    this.#hasLooked = true;
    const lost = lostInJson(state);
    if (lost === undefined) return;
    this.#counter.note(
      `an episode could not go on after a stop or in another process, because ${lost}; keep text, numbers, lists and plain objects in the ` +
        'state of the environment',
    );
  }

  /** Counts a group. Throws its first error if the failure policy is to throw. */
  #count({ outcomes, group }: Collected<Metadata, Outcome>, { onFailure }: ResolvedRolloutOptions): void {
    this.#counter.addGroup(outcomes);
    const firstError = outcomes.find(({ error }) => error !== undefined)?.error;
    if (firstError === undefined) return;
    this.#lastError = firstError;
    if (onFailure === 'stop') throw firstError;
    const dropped = outcomes.length - group.trajectories.length;
    if (dropped > 0) this.#counter.addDropped(dropped, group.trajectories.length === 0 ? 1 : 0);
  }

  /**
   * Collects at least `minTrajectories` trajectories, in whole groups and in the order of their tasks.
   *
   * Resolves with fewer only if aborted, or if the failure policy left out everything ten times in a row. Rejects with an `OptionsError`
   * that names every problem of its options.
   */
  async collectRollouts(
    options: CollectRolloutsOptions<Metadata>,
  ): Promise<readonly Trajectory<Metadata, Outcome>[]> {
    requireCollectRolloutsOptions(options);
    const { tasks, minTrajectories, signal } = options;
    const { maxTurns = this.options.maxTurns, iteration = this.#collections } = options;
    const resolved = resolveRolloutOptions({ ...this.options, maxTurns });
    const repetitions = new Map<string, number>();
    const collected: Trajectory<Metadata, Outcome>[] = [];
    let fruitlessRounds = 0;
    while (collected.length < minTrajectories && fruitlessRounds < MAX_FRUITLESS_ROUNDS && !signal?.aborted) {
      const before = collected.length;
      const wanted = Math.ceil((minTrajectories - before) / resolved.groupSize);
      this.#collections += 1;
      const starts = startsOfTasks<S, Metadata, Outcome>(tasks.take(wanted), { iteration }, repetitions);
      for await (const { trajectories } of this.#collect(starts, { signal }, resolved)) {
        collected.push(...trajectories);
      }
      fruitlessRounds = collected.length > before ? 0 : fruitlessRounds + 1;
    }
    return collected;
  }

  /**
   * Episodes of every group that was begun and not yet yielded. Running ones are `pending` and have the state to continue from. Plain data
   * for a checkpoint. Pass it to {@link resume}, here or on another machine.
   */
  unfinished(): Trajectory<Metadata, Outcome>[] {
    return [...this.#running].flatMap((context) =>
      episodesOf(context).map((episode) => episode.member.trajectory ?? unfinished(episode, 'pending')),
    );
  }

  /** Sends an event about an episode to the sinks of this manager, such as its reward. */
  tell(event: RolloutEvent): void {
    this.#events.send(event);
  }

  /** Whether this manager has a sink. */
  get isWatched(): boolean {
    return this.#events.isHeard;
  }

  /** What runs now, and what it waits for. */
  progress(): RolloutProgress {
    return progressOf([...this.#running], {
      queued: this.#limit.pendingCount,
      yielded: this.#counter.groups,
      tokensPerSecond: this.#meter.perSecond,
      nowMs: this.#dependencies.clock?.(),
    });
  }

  /**
   * Returns the notes since the last call. They say, once per reason, why conversations could not be extended, and how many worlds could
   * not be closed.
   */
  takeNotes(): readonly string[] {
    return [...this.#counter.takeNotes(), ...this.#worlds.takeNotes()];
  }

  /** The error of the last group in which an episode failed, dropped groups included. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Counts over everything collected since the manager was made. */
  getStatistics(): RolloutStatistics {
    const worlds = this.#worlds.total();
    return { ...this.#counter.snapshot(), ...(worlds && { worlds }) };
  }
}

/** A group with what only the manager needs to know of it. */
interface Collected<Metadata, Outcome> {
  readonly outcomes: readonly EpisodeOutcome<Metadata, Outcome>[];
  readonly group: TrajectoryGroup<Metadata, Outcome>;
}

/** The trajectories that the failure policy leaves in their group. */
function keptOf<Metadata, Outcome>(
  outcomes: readonly EpisodeOutcome<Metadata, Outcome>[],
  { onFailure }: ResolvedRolloutOptions,
): readonly Trajectory<Metadata, Outcome>[] {
  const all = outcomes.map(({ trajectory }) => trajectory);
  if (onFailure === 'keep' || outcomes.every(({ error }) => error === undefined)) return all;
  return onFailure === 'drop-member' ? all.filter(({ status }) => status !== 'failed') : [];
}

/** Milliseconds without an answer before `onNote` is called. */
const noteAfterMs = 30_000;

function samplerWatchdog({ samplerTimeoutMs }: ResolvedRolloutOptions, onNote: CollectOptions['onNote']) {
  const note = (waitedMs: number) => onNote?.(`waiting for the sampler since ${waitedMs / 1000} s`);
  return new Watchdog({ timeoutMs: samplerTimeoutMs, noteAfterMs, note });
}
