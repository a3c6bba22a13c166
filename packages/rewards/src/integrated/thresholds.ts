import type { ResolvedAdaptiveThreshold, ResolvedIntegratedRewardConfig } from './config.ts';
import type { AcceptanceScores, AcceptanceThresholds } from './filter.ts';
import { QuantileTracker } from './quantile-tracker.ts';

/** Thresholds in force, fixed or following the scores seen. */
export class Thresholds {
  readonly #config: ResolvedIntegratedRewardConfig;
  readonly #reward: QuantileTracker | undefined;
  readonly #verification: QuantileTracker | undefined;

  constructor(config: ResolvedIntegratedRewardConfig) {
    const { reward, verification } = config.adaptiveThresholds;
    this.#config = config;
    this.#reward = reward && new QuantileTracker(reward.window);
    this.#verification = verification && new QuantileTracker(verification.window);
  }

  /** What the next batch has to reach. The batches before it decide, so that none raises its own bar. */
  current(): AcceptanceThresholds {
    const { minRewardThreshold, maxRewardThreshold, verificationThreshold, adaptiveThresholds } =
      this.#config;
    return {
      minReward: followed(this.#reward, adaptiveThresholds.reward) ?? minRewardThreshold,
      maxReward: maxRewardThreshold,
      verificationScore:
        followed(this.#verification, adaptiveThresholds.verification) ?? verificationThreshold,
    };
  }

  /** Learns from a batch. */
  observe(scores: readonly AcceptanceScores[]): void {
    for (const { reward, verificationScore } of scores) {
      if (reward !== null) this.#reward?.observe(reward);
      if (verificationScore !== undefined) this.#verification?.observe(verificationScore);
    }
  }
}

function followed(
  tracker: QuantileTracker | undefined,
  adaptive: ResolvedAdaptiveThreshold | undefined,
): number | undefined {
  if (tracker === undefined || adaptive === undefined || tracker.observed < adaptive.warmup) return undefined;
  const { quantile, floor = -Infinity, ceiling = Infinity } = adaptive;
  const value = tracker.quantile(quantile);
  return value === undefined ? undefined : Math.min(ceiling, Math.max(floor, value));
}
