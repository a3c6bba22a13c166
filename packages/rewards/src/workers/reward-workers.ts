import { availableParallelism } from 'node:os';
import {
  ArgumentError,
  parseOptions,
  type RewardComputer,
  type ScoredTrajectory,
  type Step,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import { ThreadError, type ThreadFailureCause, ThreadPool } from '@rlp/sandbox/threads';
import type * as z from 'zod';
import { EpisodeRewards, type EpisodeScore, readEpisodes } from '../processor/episode-rewards.ts';
import type { ProcessOptions } from '../processor/processor.ts';
import { Batcher } from '../shared/batcher.ts';
import type { RewardEpisode } from '../shared/episode.ts';
import { type RewardWorkersOptions, workersSchema } from './options.ts';
import type { RewardScope, ThreadExport, TrajectoryScores } from './protocol.ts';

/** Counts of {@link RewardWorkers} since they were made. */
export interface RewardWorkersStatistics {
  readonly episodes: number;
  /** Episodes whose reward is `null`. */
  readonly unscorable: number;
  /** Episodes without scores from a thread, by cause. */
  readonly failures: Readonly<Record<ThreadFailureCause, number>>;
  /** Message of the last failure, also if another thread then scored. */
  readonly lastFailure: string | undefined;
  /** Threads alive, and threads that ended or were ended. */
  readonly threads: number;
  readonly endedThreads: number;
}

/** Threads that score groups. */
type RewardThreads = ThreadPool<TrajectoryGroup, TrajectoryScores, ThreadExport>;

/** How {@link RewardWorkers} divide their work. */
interface RewardWorkersSettings
  extends ThreadExport,
    Pick<z.output<typeof workersSchema>, 'batchSize' | 'timeoutMs'> {
  readonly tokens: 'sent' | 'left-out';
  readonly workers: number;
}

/**
 * Scores with a module's export in several threads. Results come in the order of the input and do not depend on the number of threads.
 *
 * An episode that hangs, even in an endless loop, ends two threads or cannot be sent has the reward `null` and is counted. Episodes that
 * were sent with it are tried again alone. A group that must stay together is `null` as a whole. Another thread takes over.
 */
export class RewardWorkers<Metadata = unknown> implements RewardComputer<Metadata> {
  readonly #pool: RewardThreads;
  readonly #settings: RewardWorkersSettings;
  readonly #counts = { episodes: 0, unscorable: 0 };
  readonly #failures: Record<ThreadFailureCause, number> = { threw: 0, 'timed-out': 0, crashed: 0 };
  #lastFailure: string | undefined;

  /** @internal Made by `createRewardWorkers`. */
  constructor(pool: RewardThreads, settings: RewardWorkersSettings) {
    this.#pool = pool;
    this.#settings = settings;
  }

  /** Scores a group. Rejects if closed, and with the signal's reason, which also ends the threads at work for it. */
  readonly computeRewards = async (
    group: TrajectoryGroup<Metadata>,
    { signal }: ProcessOptions = {},
  ): Promise<readonly ScoredTrajectory<Metadata>[]> =>
    this.#counted(await this.#scored(group, this.#settings.scope, signal));

  /** Scores episodes with a processor. Rejects as `computeRewards` does, and if the module does not export a processor. */
  async processEpisodeRewards(
    episodes: readonly RewardEpisode[],
    { signal }: ProcessOptions = {},
  ): Promise<EpisodeRewards> {
    const { components } = this.#settings;
    if (components === undefined) {
      throw new ArgumentError(
        'RewardWorkers: expected the module to export a processor (createRolloutRewardProcessor) to score episodes, got a reward ' +
          'of trajectories; call computeRewards',
      );
    }
    const { trajectories, scoresOf } = readEpisodes(episodes);
    const task = { id: 'episodes', prompt: '', metadata: {} };
    const scored = await this.#scored({ id: task.id, task, trajectories }, 'episode', signal);
    return EpisodeRewards.of(this.#counted(scoresOf(scored)), components);
  }

  /** Counts since they were made. */
  getStatistics(): RewardWorkersStatistics {
    const { size: threads, ended: endedThreads } = this.#pool;
    const failures = { ...this.#failures };
    return { ...this.#counts, failures, lastFailure: this.#lastFailure, threads, endedThreads };
  }

  /** Ends the threads and calls in progress. May be called again. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  /** {@link RewardWorkers.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #scored<M>(
    group: TrajectoryGroup<M>,
    scope: RewardScope,
    signal: AbortSignal | undefined,
  ): Promise<readonly ScoredTrajectory<M>[]> {
    const { workers, batchSize, timeoutMs, tokens } = this.#settings;
    const { trajectories } = group;
    const size = scope === 'group' ? trajectories.length : Math.ceil(trajectories.length / workers);
    const batcher = new Batcher<Trajectory<M>, TrajectoryScores[number]>({
      ...{ batchSize: scope === 'group' ? size : Math.min(batchSize, size), concurrency: Infinity },
      ask: (rows, given) => {
        const sent = { ...group, trajectories: tokens === 'sent' ? rows : rows.map(withoutTokens) };
        const ask = () => this.#pool.ask(sent as TrajectoryGroup, { timeoutMs, signal: given });
        return scope === 'episode' && rows.length > 1 ? ask() : this.#askAgain(ask);
      },
      isOfOne: (error) => scope === 'episode' && error instanceof ThreadError,
    });
    const scored = async (trajectory: Trajectory<M>): Promise<ScoredTrajectory<M>> => {
      const answer = await batcher.ask(trajectory, signal).catch(threadErrorOf);
      if (answer instanceof ThreadError) return this.#failed(trajectory, answer);
      const changed = answer.trajectory as Trajectory<M> | undefined;
      if (changed === undefined) return { ...answer, trajectory };
      return { ...answer, trajectory: tokens === 'sent' ? changed : withTokensOf(trajectory, changed) };
    };
    return Promise.all(trajectories.map(scored));
  }

  /** Asks twice if the thread ends: work that an earlier request left behind may have ended it, such as a promise that nobody awaits. */
  #askAgain(ask: () => Promise<TrajectoryScores>): Promise<TrajectoryScores> {
    return ask().catch((error: unknown) => {
      const { failure, message } = threadErrorOf(error);
      if (failure !== 'crashed') throw error;
      this.#lastFailure = message;
      return ask();
    });
  }

  #failed<M>(trajectory: Trajectory<M>, { failure, message }: ThreadError): ScoredTrajectory<M> {
    this.#failures[failure] += 1;
    this.#lastFailure = message;
    const cause = failure === 'timed-out' ? 'timed-out' : 'threw';
    return { trajectory, reward: null, components: {}, failures: [{ source: 'episode', cause, message }] };
  }

  #counted<Score extends EpisodeScore>(scores: readonly Score[]): readonly Score[] {
    this.#counts.episodes += scores.length;
    this.#counts.unscorable += scores.filter(({ reward }) => reward === null).length;
    return scores;
  }
}

/** Starts a thread of `program` to check that the module can be used. See `createRewardWorkers`. */
export async function openRewardWorkers<Metadata>(
  options: RewardWorkersOptions,
  program: URL,
): Promise<RewardWorkers<Metadata>> {
  const given = parseOptions('createRewardWorkers', workersSchema, options);
  const { module, export: exportName, timeoutMs, startMs, heapMb, batchSize } = given;
  const workers = given.workers ?? Math.max(1, availableParallelism() - 1);
  const data = { module: String(module), exportName, timeoutMs };
  const settings = { program, data, name: 'RewardWorkers', startMs, heapMb };
  const pool: RewardThreads = new ThreadPool(settings, workers);
  try {
    const { scope, components } = await pool.open();
    const tokens = given.tokens ?? (components === undefined ? 'sent' : 'left-out');
    const own = { workers, batchSize, timeoutMs, tokens };
    return new RewardWorkers(pool, { ...own, components, scope: given.scope ?? scope });
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** An error of a thread. Throws any other. */
function threadErrorOf(error: unknown): ThreadError {
  if (error instanceof ThreadError) return error;
  throw error;
}

/** A trajectory whose steps have texts and no tokens: those are most of what there is to copy. */
function withoutTokens<Metadata>(trajectory: Trajectory<Metadata>): Trajectory<Metadata> {
  const none = { promptTokens: [], tokens: [], behaviorLogprobs: [] };
  return { ...trajectory, steps: trajectory.steps.map((step) => ({ ...step, ...none })) };
}

/** The trajectory of a thread that got no tokens, with those of the one it was made of. */
function withTokensOf<Metadata>(
  { steps }: Trajectory<Metadata>,
  trajectory: Trajectory<Metadata>,
): Trajectory<Metadata> {
  const restored = (step: Step, index: number): Step => {
    const { promptTokens, tokens, behaviorLogprobs } = steps[index] ?? step;
    return { ...step, promptTokens, tokens, behaviorLogprobs };
  };
  return { ...trajectory, steps: trajectory.steps.map(restored) };
}
