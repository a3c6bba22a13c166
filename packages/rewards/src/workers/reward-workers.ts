import { ArgumentError, type RewardComputer, type ScoredTrajectory, type TrajectoryGroup } from '@rlp/core';
import type { ThreadFailureCause, ThreadPool } from '@rlp/sandbox/threads';
import type { EpisodeRewards } from '../processor/episode-rewards.ts';
import type { RewardEpisode } from '../shared/episode.ts';
import { joinedRewards } from './joined-rewards.ts';
import { inParts, type Part, type ScoredPart } from './parts.ts';
import type {
  EpisodeScores,
  RewardScope,
  ThreadAnswer,
  ThreadExport,
  ThreadRequest,
  TrajectoryScores,
} from './protocol.ts';
import { withoutTokens, withTokensOf } from './tokens.ts';

/** What threads have done since they were made. */
export interface RewardWorkersStatistics {
  readonly episodes: number;
  /** Episodes whose reward is `null`. */
  readonly unscorable: number;
  /** Episodes that a thread gave no scores for, by cause; `lastFailure` is the message of the last. */
  readonly failures: Readonly<Record<ThreadFailureCause, number>>;
  readonly lastFailure: string | undefined;
  /** Threads that are there, and those that ended or were ended by force. */
  readonly threads: number;
  readonly endedThreads: number;
}

/** How {@link RewardWorkers} divide their work. */
export interface RewardWorkersSettings {
  readonly exported: ThreadExport;
  readonly scope: RewardScope;
  readonly tokens: 'sent' | 'left-out';
  readonly workers: number;
  readonly batchSize: number;
  readonly timeoutMs: number;
}

/**
 * Scores in several threads what a module exports. Results come in the order of what was given, and are the same whatever the
 * number of threads.
 *
 * An episode that hangs, even in an endless loop, that ends the thread or that cannot be sent to it is `null`, and counted: what was
 * given together with it is tried again by itself (unless a group may not be parted), and another thread takes the place.
 */
export class RewardWorkers<Metadata = unknown> implements RewardComputer<Metadata> {
  readonly #pool: ThreadPool<ThreadRequest, ThreadAnswer, ThreadExport>;
  readonly #settings: RewardWorkersSettings;
  readonly #counts = { episodes: 0, unscorable: 0 };
  readonly #failures: Record<ThreadFailureCause, number> = { threw: 0, 'timed-out': 0, crashed: 0 };
  #lastFailure: string | undefined;

  /** @internal Made by `createRewardWorkers`. */
  constructor(pool: ThreadPool<ThreadRequest, ThreadAnswer, ThreadExport>, settings: RewardWorkersSettings) {
    this.#pool = pool;
    this.#settings = settings;
  }

  /** Scores a group. Rejects with the signal's reason, which ends the threads that work for it, or once closed. */
  readonly computeRewards = async (
    group: TrajectoryGroup<Metadata>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<readonly ScoredTrajectory<Metadata>[]> => {
    const { trajectories } = group;
    const { scope, tokens } = this.#settings;
    const parts = await this.#scored(trajectories, scope, signal, (rows) => ({
      kind: 'group',
      group: { ...group, trajectories: tokens === 'sent' ? rows : rows.map(withoutTokens) },
    }));
    return this.#counted(
      parts.flatMap(({ rows, answer, failure }) => {
        this.#fail(failure, rows.length);
        return rows.map((trajectory, row): ScoredTrajectory<Metadata> => {
          const scores = (answer as TrajectoryScores | undefined)?.[row];
          if (scores === undefined) return { trajectory, reward: null, components: {} };
          const changed = scores.trajectory as typeof trajectory | undefined;
          if (changed === undefined) return { ...scores, trajectory };
          return {
            ...scores,
            trajectory: tokens === 'sent' ? changed : withTokensOf(trajectory, changed),
          };
        });
      }),
      ({ reward }) => reward,
    );
  };

  /**
   * Scores episodes, for a module that exports a processor. Rejects as `computeRewards` does, and with an `ArgumentError` where
   * the module exports no processor.
   */
  async processEpisodeRewards(
    episodes: readonly RewardEpisode[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<EpisodeRewards> {
    if (this.#settings.exported.scores !== 'episodes') {
      throw new ArgumentError(
        'RewardWorkers: expected the module to export a processor (createRolloutRewardProcessor) to score episodes, got a reward ' +
          'of trajectories; call computeRewards',
      );
    }
    const parts = await this.#scored(episodes, 'episode', signal, (rows) => ({
      kind: 'episodes',
      episodes: rows,
    }));
    for (const { rows, failure } of parts) this.#fail(failure, rows.length);
    const rewards = joinedRewards(
      parts as readonly ScoredPart<RewardEpisode, EpisodeScores>[],
      episodes.length,
    );
    this.#counted([...rewards], (reward) => reward);
    return rewards;
  }

  /** Counts since they were made. */
  getStatistics(): RewardWorkersStatistics {
    return {
      ...this.#counts,
      failures: { ...this.#failures },
      lastFailure: this.#lastFailure,
      threads: this.#pool.size,
      endedThreads: this.#pool.ended,
    };
  }

  /** Ends the threads, and calls under way. May be called again. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  /** {@link RewardWorkers.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #scored<Row>(
    rows: readonly Row[],
    scope: RewardScope,
    signal: AbortSignal | undefined,
    requestOf: (rows: readonly Row[]) => ThreadRequest,
  ): Promise<readonly ScoredPart<Row, EpisodeScores | TrajectoryScores>[]> {
    const { workers, batchSize, timeoutMs } = this.#settings;
    const ask = async (part: Part<Row>) =>
      (await this.#pool.ask(requestOf(part.rows), { timeoutMs, signal })).scores;
    const size = Math.min(batchSize, Math.ceil(rows.length / workers));
    return inParts(rows, { scope, size, ask });
  }

  #fail(failure: ScoredPart<unknown, unknown>['failure'], episodes: number): void {
    if (failure === undefined) return;
    this.#failures[failure.failure] += episodes;
    this.#lastFailure = failure.message;
  }

  #counted<Scored>(scored: Scored[], rewardOf: (scored: Scored) => number | null): Scored[] {
    this.#counts.episodes += scored.length;
    for (const one of scored) if (rewardOf(one) === null) this.#counts.unscorable += 1;
    return scored;
  }
}
