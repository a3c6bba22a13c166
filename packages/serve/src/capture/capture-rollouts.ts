import {
  ArgumentError,
  onAbort,
  parseOptions,
  type RewardsFor,
  type RolloutEvent,
  requireArguments,
  type ScoredTrajectory,
  settleWithin,
  type Task,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import {
  EventBus,
  groupNames,
  RolloutCounter,
  type RolloutStatistics,
  requireAnswerRoom,
  requireCollectOptions,
} from '@rlp/rollout';
import pLimit, { type LimitFunction } from 'p-limit';
import { Admission } from '../admission.ts';
import { ServedWeights } from '../weights/served-weights.ts';
import { CaptureDoor } from './capture-door.ts';
import {
  type CaptureOptions,
  captureSchema,
  type ResolvedCaptureOptions,
  type RunAgent,
} from './capture-options.ts';
import { CapturedEpisode, type EpisodeSetting } from './captured-episode.ts';
import { connect } from './connections.ts';
import { type AgentEnd, recordOf } from './episode-record.ts';

/** Which collection this is, and who is told of it. */
export interface CaptureCollectOptions<Metadata = unknown, Outcome = unknown> {
  /** Names the random streams. Default: the number of collections so far. */
  readonly iteration?: number | undefined;
  /** Index of the collection within the iteration. Default 0. */
  readonly round?: number | undefined;
  /** Stops the collection. Unfinished episodes are returned as `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each episode that ends. Default none. */
  readonly onEnded?: ((trajectory: Trajectory<Metadata, Outcome>) => void) | undefined;
  /** Called with each group as it ends. Default none. */
  readonly onGroup?: ((group: TrajectoryGroup<Metadata, Outcome>) => void) | undefined;
  /** Episodes of an earlier collection. Those that had ended stay as they are, the others begin again. Default none. */
  readonly unfinished?: readonly Trajectory<Metadata, Outcome>[] | undefined;
}

/** An episode, as it is counted. */
type Counted<Metadata, Outcome> = Parameters<RolloutCounter['addGroup']>[0][number] & {
  readonly trajectory: Trajectory<Metadata, Outcome>;
};

/** A group under way. */
interface Running<Metadata, Outcome> {
  readonly id: string;
  readonly task: Task<Metadata>;
  /** Part of the group's addresses. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly ended: Map<number, Trajectory<Metadata, Outcome>>;
  readonly onEnded: CaptureCollectOptions<Metadata, Outcome>['onEnded'];
}

/**
 * Lets your agent run against the policy, and collects what it asked and what the policy answered.
 *
 * It is the group collector of a training loop. Every member of a group is one run of the agent with its own address and key. Requests are
 * recorded as tokens. A request that continues a conversation is sampled from the very tokens before it, so a conversation is one training
 * row. Others are separate rows with the same reward. Agents that crash or do not end give trajectories with that status.
 */
export class CapturedRollouts<Metadata = unknown, Outcome = unknown> implements AsyncDisposable {
  /** Options with their defaults. */
  readonly options: ResolvedCaptureOptions;
  /** Collections call `onEnded` and `onGroup` with the very objects that they yield. */
  readonly tellsEarly = true;
  readonly #rewards: RewardsFor<Metadata, Outcome> | undefined;
  readonly #setting: EpisodeSetting;
  readonly #limit: LimitFunction;
  readonly #running = new Set<Running<Metadata, Outcome>>();
  readonly #counter = new RolloutCounter();
  readonly #events: EventBus;
  #door: CaptureDoor | undefined;
  #lastError: unknown;
  #collections = 0;

  /** @throws OptionsError naming every problem at once. */
  constructor(options: CaptureOptions<Metadata, Outcome>) {
    this.options = parseOptions('captureRollouts', captureSchema, options, 'CaptureOptions');
    requireAnswerRoom('captureRollouts', options, options.policy.contextLength);
    this.#rewards = options.rewards;
    const { policy, model, contextLength = policy.contextLength, onEvent = [], ...rest } = this.options;
    const sinks = typeof onEvent === 'function' ? [onEvent] : onEvent;
    this.#events = new EventBus(sinks, (text) => this.#counter.note(text), rest.clock);
    this.#setting = {
      ...{ policy, chat: rest.chat, sampling: rest.sampling, maxTurns: rest.maxTurns, clock: rest.clock },
      ...{ history: rest.history, samplerTimeoutMs: rest.samplerTimeoutMs, seed: rest.seed },
      ...{ contextLength: Math.min(contextLength, policy.contextLength), events: this.#events },
      weights: new ServedWeights({ policy, name: model, otherNames: 'serve' }),
      // The sampler has its own queue. What runs is bounded by the number of agents.
      admission: new Admission({ maxRequests: Number.MAX_SAFE_INTEGER, maxWaiting: 0 }),
    };
    this.#limit = pLimit(rest.concurrentEpisodes);
  }

  /**
   * The rewards that were given, for the loop.
   *
   * @throws ArgumentError without them.
   */
  get rewards(): RewardsFor<Metadata, Outcome> {
    if (this.#rewards !== undefined) return this.#rewards;
    throw new ArgumentError('captureRollouts: expected `rewards` to score with, got none');
  }

  /**
   * Runs the agent `groupSize` times for each task. Yields the groups in the order of `tasks`.
   *
   * Equal iterations of equal weights sample equal answers to equal requests. Once the signal fires, groups under way are yielded with
   * their unfinished members `aborted`.
   */
  collectGroups(
    tasks: readonly Task<Metadata>[],
    options: CaptureCollectOptions<Metadata, Outcome> = {},
  ): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
    requireCollectOptions('captureRollouts', options);
    const { iteration = this.#collections, round } = options;
    const names = groupNames(tasks, { iteration, round });
    this.#collections += 1;
    return this.#groups(tasks, names, options);
  }

  async *#groups(
    tasks: readonly Task<Metadata>[],
    names: readonly string[],
    { signal, onEnded, onGroup, unfinished = [] }: CaptureCollectOptions<Metadata, Outcome>,
  ): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
    const stop = new AbortController();
    const release = signal && onAbort(signal, () => stop.abort(signal.reason));
    const begun: Running<Metadata, Outcome>[] = [];
    const pending = names.map((id, place) => {
      const path = this.#theDoor.groupPath(id);
      const group = { id, path, task: tasks[place]!, signal: stop.signal, onEnded };
      const running = { ...group, ended: endedOf<Metadata, Outcome>(id, unfinished) };
      begun.push(running);
      return this.#group(running, onGroup);
    });
    for (const group of pending) group.catch(() => undefined); // reported where it is awaited below
    try {
      for (const group of pending) {
        const collected = await group;
        if (collected !== undefined) yield collected;
      }
    } finally {
      release?.();
      stop.abort(new Error('the consumer of this collection left it'));
      for (const running of begun) this.#running.delete(running);
    }
  }

  /** Runs the agent once for each task and scores it, such as on held-out tasks. Scores are in the order of `tasks`. */
  async score(
    tasks: readonly Task<Metadata>[],
    options: Pick<CaptureCollectOptions, 'iteration' | 'round' | 'signal'> = {},
  ): Promise<readonly ScoredTrajectory[]> {
    const { rewards } = this;
    const given = options.signal === undefined ? {} : { signal: options.signal };
    const scored: ScoredTrajectory[] = [];
    for await (const group of this.collectGroups(tasks, options)) {
      scored.push(...(await rewards.computeRewards(group, given)));
    }
    return scored;
  }

  /** Error of the last episode that failed. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Episodes that ended, of groups that were begun and not yet yielded. */
  unfinished(): readonly Trajectory<Metadata, Outcome>[] {
    return [...this.#running].flatMap(({ ended }) => [...ended.values()]);
  }

  /**
   * Returns the notes since the last call. They say why conversations could not be extended, which requests got an error, and what of
   * results could not be kept. Notes that differ in numbers only are one.
   */
  takeNotes(): readonly string[] {
    const byReason = this.#counter.takeNotes().map((note) => [note.replaceAll(/\d+/g, '0'), note] as const);
    return [...new Map(byReason).values()];
  }

  /** Counts over everything collected so far, as a `RolloutManager` counts. */
  getStatistics(): RolloutStatistics {
    return this.#counter.snapshot();
  }

  /** Sends an event to the sinks: what others know of the episodes, such as their rewards. */
  tell(event: RolloutEvent): void {
    this.#events.send(event);
  }

  /** Whether there is a sink. */
  get isWatched(): boolean {
    return this.#events.isHeard;
  }

  /** Stops to listen. Agents that still ask get no answer. The policy stays open. */
  async close(): Promise<void> {
    await this.#door?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #theDoor(): CaptureDoor {
    const { transport, host, hostName, port, maxBodyBytes } = this.options;
    const settings = { maxBodyBytes, stallMs: 60_000, clock: () => 0 };
    this.#door ??= new CaptureDoor(settings, transport === 'http' ? { host, hostName, port } : 'nowhere');
    return this.#door;
  }

  /** Runs the members of a group. `undefined` if it was stopped before any of them began. */
  async #group(
    running: Running<Metadata, Outcome>,
    onGroup: CaptureCollectOptions<Metadata, Outcome>['onGroup'],
  ): Promise<TrajectoryGroup<Metadata, Outcome> | undefined> {
    const { id, task, ended, signal } = running;
    let isBegun = ended.size > 0;
    const members = Array.from({ length: this.options.groupSize }, (_, member) =>
      this.#limit(async () => {
        if (!signal.aborted) {
          isBegun = true;
          this.#running.add(running);
        }
        const before = ended.get(member);
        return before === undefined ? this.#member(running, member) : carried(before);
      }),
    );
    const outcomes = await Promise.all(members);
    if (!isBegun) return undefined;
    this.#counter.addGroup(outcomes);
    const trajectories = outcomes.map(({ trajectory }) => trajectory);
    const group = { id, task, trajectories };
    onGroup?.(group);
    this.#running.delete(running);
    return group;
  }

  /** Runs the agent once. */
  async #member(running: Running<Metadata, Outcome>, member: number): Promise<Counted<Metadata, Outcome>> {
    const { id, path, task, ended, signal, onEnded } = running;
    const episode = new CapturedEpisode(this.#setting, { group: id, member, task: task.id });
    const door = await this.#theDoor.open(episode, path, member);
    const { baseURL, apiKey, fetch } = door;
    const stop = new AbortController();
    const { model, run } = this.options;
    const group = { id, member };
    const given = { baseURL, apiKey, fetch, model, group, signal: stop.signal };
    const connection = connect(given, episode.answerer);
    const agent = () => (run as RunAgent)(task, connection);
    if (!signal.aborted) episode.tell();
    const end = await this.#run(agent, { episode, stop, signal });
    door.close();
    stop.abort(new Error('the episode is over'));
    const { stateKey } = this.options;
    const recorded = recordOf(episode, { task, group }, { end, apiKey, stateKey });
    const trajectory = recorded.trajectory as Trajectory<Metadata, Outcome>;
    episode.tell(trajectory);
    for (const note of new Set(recorded.notes)) this.#counter.note(note);
    if (recorded.error !== undefined) this.#lastError = recorded.error;
    const { splits } = episode;
    const outcome = { trajectory, splits: splits.length, splitReason: splits.at(-1) };
    if (trajectory.status === 'aborted') return outcome;
    ended.set(member, trajectory);
    onEnded?.(trajectory);
    return outcome;
  }

  async #run(
    agent: () => unknown,
    {
      episode,
      stop,
      signal,
    }: { readonly episode: CapturedEpisode; readonly stop: AbortController; readonly signal: AbortSignal },
  ): Promise<AgentEnd> {
    if (signal.aborted) return { kind: 'aborted' };
    const { agentTimeoutMs: timeoutMs } = this.options;
    const work = Promise.race([Promise.resolve().then(agent), episode.untilSpent()]);
    try {
      return { kind: 'returned', value: await settleWithin(work, stop, { timeoutMs, signal }) };
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted' };
      return stop.signal.aborted && stop.signal.reason === error
        ? { kind: 'late', timeoutMs }
        : { kind: 'threw', error };
    }
  }
}

/**
 * A group collector that runs your agent as it is, against an address that the policy answers.
 *
 *     const rollouts = captureRollouts({ policy, run: (task, { baseURL, apiKey }) => myAgent(task.prompt, { baseURL, apiKey }) });
 *     for await (const report of runRlTraining({ rollouts, tasks, rewards, backend, inference: policy })) console.log(report.metrics);
 *
 * Temperature and filters of the requests are replaced by those of `sampling`, because training needs to know them. `maxTokens` is the smaller of
 * both.
 *
 * @throws OptionsError naming every problem at once.
 */
export function captureRollouts<Metadata = unknown, Outcome = unknown>(
  options: CaptureOptions<Metadata, Outcome>,
): CapturedRollouts<Metadata, Outcome> {
  requireArguments('captureRollouts', { options: 'object' }, options);
  return new CapturedRollouts(options);
}

/** An episode that had ended before. */
function carried<Metadata, Outcome>(trajectory: Trajectory<Metadata, Outcome>): Counted<Metadata, Outcome> {
  return { trajectory, splits: 0, carriedSteps: trajectory.steps.length, isCarried: true };
}

/** Episodes of a group that had ended, by member. */
function endedOf<Metadata, Outcome>(
  id: string,
  unfinished: readonly Trajectory<Metadata, Outcome>[],
): Map<number, Trajectory<Metadata, Outcome>> {
  const ended = unfinished.filter(
    ({ group, status }) => group?.id === id && status !== 'aborted' && status !== 'pending',
  );
  return new Map(ended.map((trajectory) => [trajectory.group!.member, trajectory]));
}
