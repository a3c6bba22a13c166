import { onAbort, type Task, type TaskSource, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import type { CollectOptions } from '../collect-options.ts';

/** What a stream draws groups from; a `RolloutManager` does. */
export interface StreamedRollouts<Metadata, Outcome> {
  readonly options: { readonly concurrency: number };
  collectGroups(
    tasks: readonly Task<Metadata>[],
    options: CollectOptions<Metadata, Outcome>,
  ): AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>>;
  resume(
    trajectories: readonly Trajectory<Metadata, Outcome>[],
    options: CollectOptions<Metadata, Outcome>,
  ): AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>>;
  unfinished(): readonly Trajectory<Metadata, Outcome>[];
}

/** Where a stream stands, as JSON. */
export interface RolloutStreamState {
  /** Groups begun so far. They name the random streams of the next. */
  readonly begun: number;
  /** Groups yielded so far. */
  readonly yielded: number;
  /** Tasks taken so far. */
  readonly taskCursor: number;
  /** Episodes of the groups that were begun and not yielded. */
  readonly unfinished: readonly Trajectory[];
  /** Batch that was being filled when each group began, by the group's name. By default they count as begun just now. */
  readonly startBatches?: Readonly<Record<string, number>> | undefined;
}

/** A group of a stream. */
export interface StreamedGroup<Metadata, Outcome> {
  /** Place among the groups begun. */
  readonly index: number;
  /** Name of the group. */
  readonly id: string;
  /** Batch that was being filled when it began. */
  readonly batch: number;
  /** Present once it ended. */
  group?: TrajectoryGroup<Metadata, Outcome>;
  /** Its value, once `keep` returned it. */
  score?: number;
}

/** A group of an earlier stream, with its episodes. */
interface CarriedGroup<Metadata, Outcome> extends StreamedGroup<Metadata, Outcome> {
  readonly episodes: readonly Trajectory<Metadata, Outcome>[];
}

/** Groups that compete for a batch besides those that it takes. */
function extraOf(batch: number, overSampling: number): number {
  return Math.ceil(batch * (overSampling - 1));
}

/** Options of a {@link StreamPool}. */
interface PoolOptions<Metadata> {
  readonly tasks: TaskSource<Metadata>;
  readonly batch: number;
  readonly inFlight: number;
  readonly overSampling: number;
  readonly maxStaleness: number;
  readonly resume: RolloutStreamState | undefined;
}

/**
 * The groups of a stream that were begun and not yielded.
 *
 * New groups begin as others end. Besides the running ones that `inFlight` allows, only the candidates of one batch are held ready. So a
 * slow consumer stops new groups.
 */
export class StreamPool<Metadata, Outcome> {
  readonly #rollouts: StreamedRollouts<Metadata, Outcome>;
  readonly #options: PoolOptions<Metadata>;
  readonly #collecting: CollectOptions<Metadata, Outcome> & { readonly signal: AbortSignal };
  readonly #running = new Set<StreamedGroup<Metadata, Outcome>>();
  /** Groups of an earlier stream that go on before new ones begin. */
  readonly #carried: CarriedGroup<Metadata, Outcome>[];
  #isExhausted = false;
  #error: { readonly thrown: unknown } | undefined;
  #wake: (() => void) | undefined;
  /** Groups that ended, in the order in which they did. */
  ready: StreamedGroup<Metadata, Outcome>[] = [];
  begun: number;
  /** Groups that were handed out. */
  given: number;
  /** Groups that the consumer is done with. */
  yielded: number;

  constructor(
    rollouts: StreamedRollouts<Metadata, Outcome>,
    options: PoolOptions<Metadata>,
    collecting: CollectOptions<Metadata, Outcome> & { readonly signal: AbortSignal },
  ) {
    const { begun = 0, yielded = 0, unfinished = [], startBatches = {} } = options.resume ?? {};
    this.#rollouts = rollouts;
    this.#options = options;
    this.#collecting = collecting;
    this.begun = begun;
    this.yielded = yielded;
    this.given = yielded;
    this.#carried = byGroup(unfinished as readonly Trajectory<Metadata, Outcome>[]).map((episodes) => {
      const { id } = episodes[0]!.group!;
      return { ...this.#named(id), batch: startBatches[id] ?? this.#batch, episodes };
    });
    onAbort(collecting.signal, () => this.#wake?.());
  }

  /** Whether nothing runs and nothing more can begin. */
  get isDry(): boolean {
    return this.#running.size === 0 && (this.#isExhausted || !this.#mayBegin());
  }

  /** Begins what may begin. Resolves once the condition holds or the stream ends. Rejects with what a collection threw. */
  async until(condition: () => boolean): Promise<void> {
    for (;;) {
      this.#fill();
      if (this.#error !== undefined) throw this.#error.thrown;
      if (this.#collecting.signal.aborted || condition()) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /**
   * The group for the next place of the batch: the first that ended, as long as all others can still get a place in time. `undefined` if
   * that place belongs to a running group.
   */
  next(): StreamedGroup<Metadata, Outcome> | undefined {
    const { batch, overSampling, maxStaleness } = this.#options;
    if (maxStaleness === Number.POSITIVE_INFINITY) return this.ready[0];
    const latest = maxStaleness + Math.ceil(extraOf(batch, overSampling) / batch) - this.#batch;
    const due = (group: StreamedGroup<Metadata, Outcome>) => Math.max(0, group.batch + latest);
    const dues = this.#held.map(due).toSorted((p, q) => p - q);
    const places = batch - (this.yielded % batch) - 1;
    const tight = dues.find((each, before) => before >= places + batch * each) ?? Number.POSITIVE_INFINITY;
    return this.ready.find((group) => due(group) <= tight);
  }

  /** Whether the groups that compete for a batch have ended: enough new ones, and all that would be too old for the next. */
  hasCandidates(): boolean {
    const { batch, overSampling, maxStaleness } = this.#options;
    if (this.#fresh < batch + extraOf(batch, overSampling)) return false;
    return [...this.#running].every((group) => this.#batch - group.batch < maxStaleness);
  }

  /** Groups that ended and have not competed for a place yet. */
  get #fresh(): number {
    return this.ready.filter(({ score }) => score === undefined).length;
  }

  /** Groups that were begun and not handed out. */
  get #held(): readonly StreamedGroup<Metadata, Outcome>[] {
    return [...this.#running, ...this.ready, ...this.#carried];
  }

  /** The best groups for the rest of the batch, in the order in which they began. The others compete once more if they are not too old. */
  async best(
    keep: (group: TrajectoryGroup<Metadata, Outcome>) => number | Promise<number>,
  ): Promise<StreamedGroup<Metadata, Outcome>[]> {
    const { batch, maxStaleness } = this.#options;
    const count = batch - (this.yielded % batch);
    const candidates = [...this.ready];
    const again = new Set(candidates.filter(({ score }) => score !== undefined));
    for (const each of candidates) each.score ??= await keep(each.group!);
    const ranked = candidates.toSorted((p, q) => q.score! - p.score! || p.index - q.index);
    const chosen = ranked.slice(0, count);
    const lost = new Set(
      ranked.slice(count).filter((each) => again.has(each) || this.#batch - each.batch >= maxStaleness),
    );
    this.ready = this.ready.filter((each) => !lost.has(each));
    return chosen.toSorted((p, q) => p.index - q.index);
  }

  /** Hands a group out. */
  give(given: StreamedGroup<Metadata, Outcome>): TrajectoryGroup<Metadata, Outcome> {
    this.ready = this.ready.filter((group) => group !== given);
    this.given += 1;
    return given.group!;
  }

  /** Episodes of the groups that were begun and not handed out. */
  unfinished(): Trajectory<Metadata, Outcome>[] {
    const ids = new Set(Array.from(this.#running, ({ id }) => id));
    const running = this.#rollouts
      .unfinished()
      .filter(({ group }) => group !== undefined && ids.has(group.id));
    const carried = this.#carried.flatMap(({ episodes }) => episodes);
    return [...this.ready.flatMap(({ group }) => group!.trajectories), ...running, ...carried];
  }

  /** Batch that was being filled when each of these groups began. */
  startBatches(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#held.map(({ id, batch }) => [id, batch]));
  }

  /** Batch that is being filled. */
  get #batch(): number {
    return Math.floor(this.yielded / this.#options.batch);
  }

  #mayBegin(): boolean {
    const { batch, inFlight, overSampling, maxStaleness } = this.#options;
    if (this.#running.size >= inFlight || this.#collecting.signal.aborted) return false;
    if (this.#carried.length > 0) return true;
    const extra = extraOf(batch, overSampling);
    // Losers that compete once more are not counted: those who wait for new groups would wait forever.
    const ahead = this.#running.size + this.#fresh;
    if (ahead >= inFlight + batch + extra) return false;
    return (
      this.given + this.#running.size + this.ready.length < batch * (this.#batch + 1 + maxStaleness) + extra
    );
  }

  #fill(): void {
    while (!this.#isExhausted && this.#mayBegin()) this.#begin();
  }

  #begin(): void {
    const carried = this.#carried.shift();
    if (carried !== undefined) {
      const { episodes, ...group } = carried;
      this.#run(group, this.#rollouts.resume(episodes, this.#collecting));
      return;
    }
    const [task] = this.#options.tasks.take(1);
    if (task === undefined) {
      this.#isExhausted = true;
      return;
    }
    const iteration = this.begun;
    this.begun += 1;
    this.#run(
      this.#named(`${iteration}/${task.id}`),
      this.#rollouts.collectGroups([task], { ...this.#collecting, iteration }),
    );
  }

  /** A group that begins now. */
  #named(id: string): StreamedGroup<Metadata, Outcome> {
    return { index: Number.parseInt(id, 10), id, batch: this.#batch };
  }

  #run(
    group: StreamedGroup<Metadata, Outcome>,
    collection: AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>>,
  ): void {
    this.#running.add(group);
    const end = (made: TrajectoryGroup<Metadata, Outcome> | undefined) => {
      this.#running.delete(group);
      // A group without a trajectory takes no place in a batch.
      if (made !== undefined) this.ready.push(Object.assign(group, { group: made }));
      this.#fill();
      this.#wake?.();
    };
    const read = async () => {
      const { value, done } = await collection.next();
      end(done ? undefined : value);
      await collection.return?.();
    };
    read().catch((thrown: unknown) => {
      this.#error ??= { thrown };
      this.#wake?.();
    });
  }
}

function byGroup<Metadata, Outcome>(trajectories: readonly Trajectory<Metadata, Outcome>[]) {
  const groups = new Map<string | undefined, Trajectory<Metadata, Outcome>[]>();
  for (const trajectory of trajectories) {
    const id = trajectory.group?.id;
    groups.set(id, [...(groups.get(id) ?? []), trajectory]);
  }
  return [...groups.values()];
}
