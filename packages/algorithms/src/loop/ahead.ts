import { onAbort, type TaskSource, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import { type CollectContext, type Collection, isScored } from './collect.ts';
import { collectPatiently, type PatienceContext } from './collect-patiently.ts';
import type { RlDependencies, RlState } from './protocol.ts';
import { RunStoppedError } from './run-stopped.ts';

/** The collection of one iteration, under way. */
interface UnderWay<Metadata> {
  readonly iteration: number;
  /** Tasks taken before it began. */
  readonly cursor: number;
  readonly gathered: ReadonlyMap<string, TrajectoryGroup>;
  readonly collected: Promise<Collection<Metadata> | undefined>;
}

/** What a collection needs to know when it begins. */
export type BeginContext = Omit<PatienceContext, 'iteration' | 'gathered' | 'unfinished'>;

/**
 * The collections of a run, each begun at most `lookAhead` iterations before it is learned from. So old weights are kept out by
 * admission. Nothing that was sampled is thrown away.
 */
export class Collections<Metadata> {
  readonly #dependencies: RlDependencies<Metadata>;
  readonly #lookAhead: number;
  readonly #last: number;
  readonly #carried: readonly Trajectory[] | undefined;
  readonly #stop = new AbortController();
  readonly #release: (() => void) | undefined;
  readonly #queue: UnderWay<Metadata>[] = [];
  #next: number;
  /** Whether an iteration had rewards, perhaps before it was learned from. */
  #history: 'scored' | undefined;

  constructor(
    dependencies: RlDependencies<Metadata>,
    { lookAhead, iterations }: Pick<CollectContext['options'], 'lookAhead' | 'iterations'>,
    {
      iteration,
      carried,
    }: { readonly iteration: number; readonly carried: readonly Trajectory[] | undefined },
  ) {
    const { signal } = dependencies;
    this.#dependencies = dependencies;
    this.#lookAhead = lookAhead;
    this.#last = iterations - 1;
    this.#carried = carried;
    this.#next = iteration;
    this.#release = signal && onAbort(signal, () => this.#stop.abort(signal.reason));
  }

  /** The collection of an iteration. Begins it, and those that may be sampled ahead of it. */
  async take(iteration: number, context: BeginContext): Promise<Collection<Metadata> | undefined> {
    const until = Math.min(this.#last, iteration + this.#lookAhead);
    while (this.#next <= until) this.#begin(this.#next++, context);
    try {
      return await this.#queue[0]!.collected;
    } catch (error) {
      throw error instanceof RunStoppedError ? error.at(context.state) : error;
    }
  }

  /** The iteration of the oldest collection was learned from. */
  done(): void {
    this.#queue.shift();
  }

  /** Tasks taken by all iterations that were learned from. */
  get cursor(): number {
    return this.#queue[0]?.cursor ?? this.#dependencies.tasks.cursor;
  }

  /** Every episode that was begun and not learned from, as it stands. Those that failed are begun again. */
  unfinished(): Trajectory[] {
    const oldest = this.#queue[0]?.iteration ?? this.#next;
    const running: readonly Trajectory[] = this.#dependencies.rollouts.unfinished?.() ?? [];
    const gathered = this.#queue.flatMap((each) =>
      [...each.gathered.values()].flatMap((group) => group.trajectories),
    );
    const all = [...(this.#carried ?? []), ...running, ...gathered];
    // The last that is known of an episode counts. Names of groups begin with their iteration.
    const known = new Map(all.map((trajectory) => [trajectory.id, trajectory]));
    return [...known.values()].filter(
      ({ status, group }) => status !== 'failed' && Number.parseInt(group?.id ?? '', 10) >= oldest,
    );
  }

  /** Stops what is under way and gives its tasks back. */
  close(): void {
    this.#release?.();
    if (this.#lookAhead === 0 || this.#queue.length === 0) return;
    this.#stop.abort(new Error('the run ended before this iteration was learned from'));
    this.#dependencies.tasks.seek(this.cursor);
  }

  #begin(iteration: number, context: BeginContext): void {
    const { tasks } = this.#dependencies;
    const { cursor } = tasks;
    const gathered = new Map<string, TrajectoryGroup>();
    const own = this.#lookAhead > 0 && { tasks: lease(tasks), signal: this.#stop.signal };
    const collected = collectPatiently(
      { ...this.#dependencies, ...own },
      {
        ...context,
        iteration,
        gathered,
        unfinished: this.#carried,
        history: () => this.#history ?? context.history(),
      },
    );
    collected.then(
      (made) => {
        if (made?.collected.some(isScored)) this.#history = 'scored';
      },
      () => undefined,
    ); // reported when the iteration comes
    this.#queue.push({ iteration, cursor, gathered, collected });
  }
}

/** Tasks of one collection: it can go back to its first without touching those that others took. */
function lease<Metadata>(tasks: TaskSource<Metadata>): TaskSource<Metadata> {
  const from = tasks.cursor;
  const taken: ReturnType<TaskSource<Metadata>['take']>[number][] = [];
  let at = 0;
  return {
    get cursor() {
      return from + at;
    },
    take(count) {
      const missing = at + count - taken.length;
      if (missing > 0) taken.push(...tasks.take(missing));
      const given = taken.slice(at, at + count);
      at += given.length;
      return given;
    },
    seek(cursor) {
      at = cursor - from;
    },
  };
}

/** The state with the episodes that are not learned from, if there are any. */
export function withUnfinished(state: RlState, unfinished: readonly Trajectory[]): RlState {
  const { unfinished: _, ...rest } = state;
  return unfinished.length === 0 ? rest : { ...rest, unfinished };
}
