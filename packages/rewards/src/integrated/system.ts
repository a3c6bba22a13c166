import { ArgumentError, type VerificationReport, type Verifier } from '@rlp/core';
import type { RewardDependencies } from '../processor/dependencies.ts';
import type { EpisodeRewards } from '../processor/episode-rewards.ts';
import { type ProcessOptions, RolloutRewardProcessor } from '../processor/processor.ts';
import { episodesFromBuffer, type RewardBuffer, type RewardEpisode } from '../shared/episode.ts';
import { requirePackage } from '../shared/required-package.ts';
import {
  type IntegratedRewardConfig,
  type ResolvedIntegratedRewardConfig,
  resolveIntegratedRewardConfig,
} from './config.ts';
import { type AcceptanceThresholds, isAccepted } from './filter.ts';
import { type JudgedEpisode, judgedEpisode, verifyEpisodes } from './judged-episode.ts';
import { LiveMetricsHub, type LiveMetricsStream } from './live-metrics.ts';
import { type CustomMetric, flatMetrics, type QualityMetrics, qualityMetrics } from './quality-metrics.ts';
import { Thresholds } from './thresholds.ts';

/** What a system works with, besides its config. */
export interface IntegratedRewardDependencies extends RewardDependencies {
  /** Judges the text. Default `createDefaultVerifierPipeline()`, which needs `obscenity` and loads its word lists on first use. */
  readonly verifier?: Verifier | undefined;
  /** Scores the episodes, in place of a processor made from `rewardConfig`. The system closes it. */
  readonly processor?: RolloutRewardProcessor | undefined;
  /** Your own quality measures, by name. Default none. */
  readonly customMetrics?: Readonly<Record<string, CustomMetric>> | undefined;
  /** Gets a line about every batch, for debugging. Default none. */
  readonly logger?:
    | {
        /** Takes a line about a batch, with its data. */
        debug(message: string, data: Readonly<Record<string, unknown>>): void;
      }
    | undefined;
}

/** What became of a batch. */
export interface ProcessedEpisodes<Episode extends RewardEpisode = RewardEpisode> {
  /** Of all episodes, in the order they were given. */
  readonly rewards: EpisodeRewards;
  readonly accepted: readonly JudgedEpisode<Episode>[];
  readonly rejected: readonly JudgedEpisode<Episode>[];
}

/**
 * Scores episodes, verifies their text and keeps those that are good enough.
 *
 * Reward and verification of a batch are computed at the same time. An episode that cannot be scored, or a verifier that
 * throws on it, is that episode's matter: it is rejected with the reason, the others are judged as if it were not there.
 */
export class IntegratedRolloutRewardSystem {
  /** The config with its defaults. */
  readonly config: ResolvedIntegratedRewardConfig;
  /** Scores the episodes. `addReward` of it adds to the reward. */
  readonly processor: RolloutRewardProcessor;
  #verifier: Verifier | undefined;
  readonly #customMetrics: Readonly<Record<string, CustomMetric>>;
  readonly #logger: IntegratedRewardDependencies['logger'];
  readonly #thresholds: Thresholds;
  readonly #live = new LiveMetricsHub();
  #batches = 0;

  constructor(config: IntegratedRewardConfig = {}, dependencies: IntegratedRewardDependencies = {}) {
    const { verifier, processor, customMetrics = {}, logger, ...ofProcessor } = dependencies;
    this.config = resolveIntegratedRewardConfig(config);
    const { rewardConfig, batchSize, enableVerification } = this.config;
    this.processor =
      processor ??
      new RolloutRewardProcessor(
        { ...rewardConfig, batchSize: config.rewardConfig?.batchSize ?? batchSize },
        ofProcessor,
      );
    this.#verifier = enableVerification ? verifier : undefined;
    if (enableVerification && verifier === undefined) requirePackage('ToxicityVerifier', 'obscenity');
    this.#customMetrics = customMetrics;
    this.#logger = logger;
    this.#thresholds = new Thresholds(this.config);
  }

  /** What the next batch has to reach. */
  get thresholds(): AcceptanceThresholds {
    return this.#thresholds.current();
  }

  /** Rewards of all episodes, and copies of those accepted and rejected. Rejects with the signal's reason, or once closed. */
  async processEpisodes<Episode extends RewardEpisode>(
    episodes: readonly Episode[],
    options: ProcessOptions = {},
  ): Promise<ProcessedEpisodes<Episode>> {
    const [rewards, reports] = await Promise.all([
      this.processor.processEpisodeRewards(episodes, options),
      this.#verify(episodes, options),
    ]);
    const thresholds = this.thresholds;
    const filtering = this.config.strictFiltering ? 'strict' : 'lenient';
    const judged = episodes.map((episode, row) => judgedEpisode(episode, rewards.at(row), reports?.[row]));
    const accepted: JudgedEpisode<Episode>[] = [];
    const rejected: JudgedEpisode<Episode>[] = [];
    for (const episode of judged) {
      (isAccepted(episode, thresholds, filtering) ? accepted : rejected).push(episode);
    }
    this.#thresholds.observe(judged);
    this.#report(judged, { rewards, accepted, rejected }, thresholds);
    return { rewards, accepted, rejected };
  }

  /** The same for everything in a buffer, in its order. See {@link episodesFromBuffer}. */
  async processBuffer(buffer: RewardBuffer, options: ProcessOptions = {}): Promise<ProcessedEpisodes> {
    return this.processEpisodes(episodesFromBuffer(buffer), options);
  }

  /** Statistics of judged episodes, such as `[...accepted, ...rejected]`. Empty for none. */
  getQualityMetrics(episodes: readonly JudgedEpisode[]): QualityMetrics | Record<string, never> {
    return qualityMetrics(episodes, this.#customMetrics);
  }

  /**
   * Metrics of every batch from now on. Reading slowly costs batches (counted in `dropped`), never time: the system waits for
   * no reader, and computes nothing where there is none.
   *
   * @throws ArgumentError for a capacity that is not a positive integer. Default 256 batches.
   */
  liveMetrics({ capacity = 256 }: { readonly capacity?: number | undefined } = {}): LiveMetricsStream {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new ArgumentError(`liveMetrics: expected a capacity of at least 1 batch, got ${capacity}`);
    }
    return this.#live.subscribe(capacity);
  }

  /** Ends calls under way and all streams of metrics. May be called again. */
  close(): void {
    this.processor.close();
    this.#live.close();
  }

  /** {@link IntegratedRolloutRewardSystem.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #verify(
    episodes: readonly RewardEpisode[],
    { signal }: ProcessOptions,
  ): Promise<readonly VerificationReport[] | undefined> {
    const { enableVerification, batchSize } = this.config;
    if (!enableVerification) return undefined;
    this.#verifier ??= (await import('../verification/create-pipeline.ts')).createDefaultVerifierPipeline();
    return verifyEpisodes(this.#verifier, episodes, { batchSize, signal });
  }

  #report(
    judged: readonly JudgedEpisode[],
    { rewards, accepted, rejected }: ProcessedEpisodes,
    { minReward, verificationScore }: AcceptanceThresholds,
  ): void {
    const batch = this.#batches++;
    if (this.#live.isWatched) {
      const metrics = {
        ...flatMetrics(this.getQualityMetrics(judged)),
        'quality/accepted': accepted.length,
        'quality/rejected': rejected.length,
        'quality/min-reward': minReward,
        'quality/verification-threshold': verificationScore,
      };
      this.#live.publish({ batch, metrics });
    }
    if (this.#logger === undefined) return;
    const { shape, device, dtype, failures } = rewards;
    const counts = { accepted: accepted.length, rejected: rejected.length };
    try {
      this.#logger.debug(`batch ${batch}: ${accepted.length} of ${judged.length} accepted`, {
        ...{ batch, shape, device, dtype, ...counts, minReward, verificationScore },
        failures: failures.slice(0, 8),
      });
    } catch {
      // A logger that breaks must not cost rewards.
    }
  }
}

/** An {@link IntegratedRolloutRewardSystem}. @throws MissingPeerError without `obscenity`, unless you pass a `verifier`. */
export function createIntegratedRewardSystem(
  config: IntegratedRewardConfig = {},
  dependencies: IntegratedRewardDependencies = {},
): IntegratedRolloutRewardSystem {
  return new IntegratedRolloutRewardSystem(config, dependencies);
}

/** Processes one batch: rewards, accepted and rejected episodes, and their metrics. */
export async function processEpisodesWithQualityControl<Episode extends RewardEpisode>(
  episodes: readonly Episode[],
  config: IntegratedRewardConfig = {},
  dependencies: IntegratedRewardDependencies & ProcessOptions = {},
): Promise<ProcessedEpisodes<Episode> & { readonly metrics: QualityMetrics | Record<string, never> }> {
  const { signal, ...others } = dependencies;
  const system = new IntegratedRolloutRewardSystem(config, others);
  try {
    const processed = await system.processEpisodes(episodes, { signal });
    const metrics = system.getQualityMetrics([...processed.accepted, ...processed.rejected]);
    return { ...processed, metrics };
  } finally {
    system.close();
  }
}
