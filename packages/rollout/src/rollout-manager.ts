import {
  ArgumentError,
  onAbort,
  type State,
  type Task,
  type TaskSource,
  type Trajectory,
  type TrajectoryGroup,
  Watchdog,
} from '@rlp/core';
import pLimit from 'p-limit';
import { runGroup } from './episode.ts';
import type { EpisodeOutcome } from './episode-record.ts';
import type { RolloutDependencies } from './group-context.ts';
import { guarded } from './guarded.ts';
import { type ResolvedRolloutOptions, type RolloutOptions, resolveRolloutOptions } from './options.ts';
import { RolloutCounter, type RolloutStatistics } from './statistics.ts';

/** Which collection this is, and what may end it early. */
export interface CollectOptions {
  /**
   * Names the random streams together with the run's seed and the task's id: equal iterations of equal weights give
   * equal trajectories. Pass the training iteration, so that a resumed run continues as the interrupted one would
   * have. Defaults to the number of collections made by this manager.
   */
  readonly iteration?: number | undefined;
  /** Index of the collection within the iteration. Each has different random streams. Default 0. */
  readonly round?: number | undefined;
  /** Stops the collection. Unfinished episodes are returned as `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence while the collection waits for a sampler that does not answer. Default: nobody is told. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** How many trajectories, and how long. */
export interface CollectRolloutsOptions<Metadata = unknown> extends CollectOptions {
  /** Where tasks come from. Whole groups are taken until there are enough trajectories. */
  readonly tasks: TaskSource<Metadata>;
  /** At least so many are collected, unless aborted. */
  readonly minTrajectories: number;
  /** Replaces the manager's `maxTurns` for this collection. */
  readonly maxTurns?: number | undefined;
}

/** Rounds in a row that may bring nothing before `collectRollouts` gives up. */
const MAX_FRUITLESS_ROUNDS = 10;

/**
 * Runs an environment against a policy. Takes tasks and returns groups of trajectories.
 *
 * The G members of a group share their initial state and their prompt's prefill. Later turns are requested concurrently,
 * so that a batching sampler batches them across members and groups. Random streams are named by (seed, iteration, task,
 * member, turn). Neither concurrency nor finishing order changes a sample. A failure is data. It gives a trajectory with
 * status `failed` that names the boundary, while the other members go on.
 */
export class RolloutManager<S extends State = State, Metadata = unknown, Outcome = unknown> {
  /** Options with their defaults. */
  readonly options: ResolvedRolloutOptions;
  readonly #dependencies: RolloutDependencies<S, Metadata, Outcome>;
  readonly #counter = new RolloutCounter();
  #lastError: unknown;
  #collections = 0;

  /** @throws `OptionsError` naming every problem at once. */
  constructor(dependencies: RolloutDependencies<S, Metadata, Outcome>, options: RolloutOptions = {}) {
    this.#dependencies = dependencies;
    this.options = resolveRolloutOptions(options);
  }

  /**
   * Collects one group per task and yields them in the order of `tasks`, each as soon as those before it are there.
   *
   * A task that occurs twice gets two groups with different random streams. Once `signal` fires, groups under way are still
   * yielded, with unfinished members `aborted`. Groups not begun are not yielded, and iteration ends
   * without throwing. Leaving the loop early aborts what is left. Throws only under the failure policy `stop`.
   */
  collectGroups(
    tasks: readonly Task<Metadata>[],
    { iteration = this.#collections, ...options }: CollectOptions = {},
  ): AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>> {
    // Counted now, not once somebody asks for the first group: so two that wait to be read are two.
    this.#collections += 1;
    return this.#collect(tasks, { ...options, iteration }, { ...this.options, repetitions: new Map() });
  }

  async *#collect(
    tasks: readonly Task<Metadata>[],
    { iteration, round = 0, signal, onNote }: CollectOptions & { readonly iteration: number },
    { repetitions, ...options }: ResolvedRolloutOptions & { readonly repetitions: Map<string, number> },
  ): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
    const stop = new AbortController();
    const release = signal && onAbort(signal, () => stop.abort(signal.reason));
    const limit = pLimit(options.concurrency);
    const environment = guarded(this.#dependencies.environment, {
      signal: stop.signal,
      timeoutMs: options.environmentTimeoutMs,
    });
    const watchdog = samplerWatchdog(options, onNote);
    const groupIds = nameGroups(tasks, round === 0 ? `${iteration}` : `${iteration}.${round}`, repetitions);
    const pending = tasks.map((task, index) =>
      limit(async () => {
        if (stop.signal.aborted) return undefined;
        const groupId = groupIds[index]!;
        const shared = { dependencies: this.#dependencies, environment, options, watchdog };
        const outcomes = await runGroup({ ...shared, signal: stop.signal, task, groupId });
        return { outcomes, group: { id: groupId, task } };
      }),
    );
    for (const promise of pending) promise.catch(() => undefined); // reported where it is awaited below
    try {
      for (const promise of pending) {
        const collected = await promise;
        if (collected === undefined) continue;
        const trajectories = this.#settle(collected.outcomes, options);
        if (trajectories.length > 0) yield { ...collected.group, trajectories };
      }
    } finally {
      release?.();
      stop.abort(new Error('the consumer of this collection left it'));
    }
  }

  /** Counts a group and applies the failure policy. */
  #settle(
    outcomes: readonly EpisodeOutcome<Metadata, Outcome>[],
    { onFailure }: ResolvedRolloutOptions,
  ): readonly Trajectory<Metadata, Outcome>[] {
    this.#counter.addGroup(outcomes);
    const all = outcomes.map(({ trajectory }) => trajectory);
    const firstError = outcomes.find(({ error }) => error !== undefined)?.error;
    this.#lastError = firstError ?? this.#lastError;
    if (firstError === undefined || onFailure === 'keep') return all;
    if (onFailure === 'stop') throw firstError;
    const kept = onFailure === 'drop-group' ? [] : all.filter(({ status }) => status !== 'failed');
    this.#counter.addDropped(all.length - kept.length, kept.length === 0 ? 1 : 0);
    return kept;
  }

  /**
   * Collects at least `minTrajectories` trajectories, whole groups at a time, in the order of their tasks.
   *
   * Resolves with fewer only once aborted, or when the failure policy left out everything, ten times in a row. Rejects with an
   * `ArgumentError` for a number of trajectories that is not a positive integer.
   */
  async collectRollouts({
    tasks,
    minTrajectories,
    maxTurns = this.options.maxTurns,
    iteration = this.#collections,
    signal,
  }: CollectRolloutsOptions<Metadata>): Promise<readonly Trajectory<Metadata, Outcome>[]> {
    if (!Number.isSafeInteger(minTrajectories) || minTrajectories < 1) {
      throw new ArgumentError(
        `collectRollouts: minTrajectories must be a positive integer, got ${minTrajectories}`,
      );
    }
    const resolved = resolveRolloutOptions({ ...this.options, maxTurns });
    const options = { ...resolved, repetitions: new Map<string, number>() };
    const collected: Trajectory<Metadata, Outcome>[] = [];
    let fruitlessRounds = 0;
    while (collected.length < minTrajectories && fruitlessRounds < MAX_FRUITLESS_ROUNDS && !signal?.aborted) {
      const before = collected.length;
      const wanted = Math.ceil((minTrajectories - before) / options.groupSize);
      this.#collections += 1;
      for await (const { trajectories } of this.#collect(
        tasks.take(wanted),
        { iteration, signal },
        options,
      )) {
        collected.push(...trajectories);
      }
      fruitlessRounds = collected.length > before ? 0 : fruitlessRounds + 1;
    }
    return collected;
  }

  /** Returns the notes since the last call. They say why conversations could not be extended, once per reason. */
  takeNotes(): readonly string[] {
    return this.#counter.takeNotes();
  }

  /** The error of the last group in which an episode failed, dropped groups included. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Counts over everything collected since the manager was made. */
  getStatistics(): RolloutStatistics {
    return this.#counter.snapshot();
  }
}

/** Milliseconds without an answer before somebody is told. */
const noteAfterMs = 30_000;

function samplerWatchdog({ samplerTimeoutMs }: ResolvedRolloutOptions, onNote: CollectOptions['onNote']) {
  const note = (waitedMs: number) => onNote?.(`waiting for the sampler since ${waitedMs / 1000} s`);
  return new Watchdog({ timeoutMs: samplerTimeoutMs, noteAfterMs, note });
}

/** Ids of groups: `collection/task`, and `collection/task#n` for its n-th repetition within one collection. */
function nameGroups(tasks: readonly Task[], collection: string, repetitions: Map<string, number>): string[] {
  return tasks.map(({ id }) => {
    const repetition = repetitions.get(id) ?? 0;
    repetitions.set(id, repetition + 1);
    return repetition === 0 ? `${collection}/${id}` : `${collection}/${id}#${repetition}`;
  });
}
