import type { DetectorState } from './state.ts';

/** Batches before the noise of the score is known. */
const warmUpBatches = 8;
/** Assumed fall of the score, in standard deviations. */
const shift = 2;

/**
 * Tracks the best mean score and its KL, to detect KL that is spent on falling scores.
 *
 * Let `d = (best − smoothed score) / σ` at a KL above that of the best. Evidence grows by `2 (d − 1)` nats per batch, the
 * log-likelihood ratio of a fall by 2σ. `σ` is estimated from the differences of successive batch means.
 *
 * @see Gao, Schulman and Hilton 2022, https://arxiv.org/abs/2210.10760
 */
export class Frontier {
  readonly #limit: number;
  #batches = 0;
  #previous = 0;
  #variance = 0;
  #smoothed = 0;
  #best = Number.NEGATIVE_INFINITY;
  #klAtBest = 0;
  #evidence = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Nats. */
  get evidence(): number {
    return this.#evidence;
  }

  observe(kl: number, score: number): void {
    if (!Number.isFinite(kl) || !(Math.abs(score) < 1e100)) return;
    this.#batches += 1;
    if (this.#batches === 1) this.#smoothed = score;
    else
      this.#variance +=
        ((score - this.#previous) ** 2 / 2 - this.#variance) / Math.min(50, this.#batches - 1);
    this.#previous = score;
    this.#smoothed += 0.4 * (score - this.#smoothed);
    if (this.#batches < warmUpBatches) return;
    if (this.#smoothed >= this.#best) {
      this.#best = this.#smoothed;
      this.#klAtBest = kl;
    }
    const deviation = Math.max(Math.sqrt(this.#variance), 1e-9 * (1 + Math.abs(this.#best)));
    const behind = kl > this.#klAtBest ? Math.min(4, (this.#best - this.#smoothed) / deviation) : 0;
    const gain = shift * (behind - shift / 2);
    this.#evidence = Math.min(2 * this.#limit, Math.max(0, this.#evidence + gain));
  }

  /**
   * Restarts after a roll-back. `'from the best'` keeps the best score. `'anew'` forgets it, because a hack may have earned it.
   */
  restart(how: 'anew' | 'from the best'): void {
    const [best, batches] = [this.#best, this.#batches];
    const goesOn = how === 'from the best' && batches >= warmUpBatches;
    this.loadState(goesOn ? [batches, best, this.#variance, best, best, this.#klAtBest, 0] : []);
  }

  saveState(): DetectorState['frontier'] {
    const best = this.#batches < warmUpBatches ? 0 : this.#best;
    return [
      this.#batches,
      this.#previous,
      this.#variance,
      this.#smoothed,
      best,
      this.#klAtBest,
      this.#evidence,
    ];
  }

  loadState([
    batches,
    previous,
    variance,
    smoothed,
    best,
    klAtBest,
    evidence,
  ]: DetectorState['frontier']): void {
    this.#batches = batches ?? 0;
    this.#previous = previous ?? 0;
    this.#variance = variance ?? 0;
    this.#smoothed = smoothed ?? 0;
    this.#best = this.#batches < warmUpBatches ? Number.NEGATIVE_INFINITY : (best ?? 0);
    this.#klAtBest = klAtBest ?? 0;
    this.#evidence = evidence ?? 0;
  }
}
