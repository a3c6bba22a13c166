import { ArgumentError } from '@rlp/core';
import type { ResolvedAdaptiveThreshold, ResolvedIntegratedRewardConfig } from './config.ts';
import type { AcceptanceScores, AcceptanceThresholds } from './filter.ts';

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

/**
 * Quantiles of the latest values of a stream, exact within a window of fixed size.
 *
 * A window rather than a sketch of everything seen, because scores drift while a policy learns. Old ones have to go. Memory
 * is `window` float64, whatever is observed.
 */
export class QuantileTracker {
  readonly #ring: Float64Array;
  #observed = 0;
  #sorted: Float64Array | undefined;

  /** @throws ArgumentError for a window that is not a positive integer. */
  constructor(window: number) {
    if (!Number.isInteger(window) || window < 1) {
      throw new ArgumentError(`QuantileTracker: expected a window of at least 1 value, got ${window}`);
    }
    this.#ring = new Float64Array(window);
  }

  /** Values seen so far, those that are forgotten included. */
  get observed(): number {
    return this.#observed;
  }

  /** Takes a value in. What is not finite is left out. */
  observe(value: number): void {
    if (!Number.isFinite(value)) return;
    this.#ring[this.#observed % this.#ring.length] = value;
    this.#observed += 1;
    this.#sorted = undefined;
  }

  /**
   * The quantile of the values in the window, interpolated linearly between neighbours as numpy's default does. `undefined`
   * before there is one.
   *
   * @throws ArgumentError for a `q` outside 0..1.
   */
  quantile(q: number): number | undefined {
    if (!(q >= 0 && q <= 1))
      throw new ArgumentError(`QuantileTracker: expected a quantile in 0..1, got ${q}`);
    if (this.#observed === 0) return undefined;
    this.#sorted ??= this.#ring.slice(0, Math.min(this.#observed, this.#ring.length)).sort();
    const place = q * (this.#sorted.length - 1);
    const [below, above] = [this.#sorted[Math.floor(place)]!, this.#sorted[Math.ceil(place)]!];
    return below + (above - below) * (place - Math.floor(place));
  }
}
