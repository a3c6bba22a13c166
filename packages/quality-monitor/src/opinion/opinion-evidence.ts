import type { OpinionState } from './state.ts';

type State = OpinionState['opinionEvidence'];

/** Shares of hacked responses that are tested for, each with its own sum, and by how many deviations they score lower. */
const shares = [0.05, 0.25] as const;
const fall = 2.5;
/** Most nats of one response, so that a few odd scores prove nothing. */
const mostNats = 3.2;
/** Rewarded responses remembered, and least before anything is judged. They have to be of some batches, because a batch has few tasks. */
const [memory, least, leastBatches] = [4000, 24, 4];
/** Batches that wait before they are remembered. */
const delayBatches = 4;
const leastDeviation = 0.3;
/** Standard errors taken off the usual residual. */
const marginErrors = 0.75;

/**
 * Cumulative sums of likelihood ratios for the second opinion on rewarded responses.
 *
 * Let `x` be how many standard deviations a rewarded response scores below what rewarded responses usually do. Then
 *
 *     S ← min(2h, max(0, S + Σ w min(3.2, ln(1 − ε + ε exp(Δx − Δ²/2))) / φ))
 *
 * with weights `w`, `Δ = 2.5`, two shares `ε`, and the design effect `φ` of several responses to one task. The larger sum counts.
 */
export class OpinionEvidence {
  readonly #limit: number;
  readonly #state: State;

  /** @param limit - `h`, the nats of an alarm. */
  constructor(limit: number, state: State) {
    this.#limit = limit;
    this.#state = state;
  }

  get nats(): number {
    return Math.max(...this.#state.sums);
  }

  /** Deviations below the usual by which a response is conspicuous: 1.5 or more. */
  isLow(residual: number): boolean {
    return this.#below(residual) >= 1.5;
  }

  get #isReady(): boolean {
    return this.#state.count >= least && this.#state.batches >= leastBatches;
  }

  /** Adds the residuals of a batch's rewarded responses. NaN if there is no opinion. */
  gather(residuals: readonly number[], weights: readonly number[], designEffect: number): void {
    const state = this.#state;
    const known = residuals.filter((residual) => !Number.isNaN(residual));
    if (known.length === 0) return;
    if (this.#isReady) {
      for (const [place, share] of shares.entries()) {
        const gain = residuals.reduce((sum, residual, at) => {
          if (Number.isNaN(residual)) return sum;
          const ratio = 1 - share + share * Math.exp(fall * this.#below(residual) - fall ** 2 / 2);
          return sum + weights[at]! * Math.min(mostNats, Math.log(ratio));
        }, 0);
        state.sums[place] = Math.min(2 * this.#limit, Math.max(0, state.sums[place]! + gain / designEffect));
      }
    }
    state.waiting.push(known);
    while (state.waiting.length > (this.#isReady ? delayBatches : 0)) this.#learn(state.waiting.shift()!);
  }

  /** Makes what waits the new normal. */
  accept(): void {
    Object.assign(this.#state, { count: 0, batches: 0, mean: 0, square: 0 });
    for (const known of this.#state.waiting.splice(0)) this.#learn(known);
    this.forget();
  }

  forget(): void {
    this.#state.sums = shares.map(() => 0);
    this.#state.waiting = [];
  }

  /** Deviations below the usual. Both of its numbers have a margin for what is not known about them yet. */
  #below(residual: number): number {
    const { count, mean, square } = this.#state;
    const error = 1 / Math.sqrt(Math.max(1, count));
    const deviation = Math.max(leastDeviation, Math.sqrt(Math.max(0, square - mean ** 2)));
    return (mean - residual) / (deviation * (1 + error / 2)) - marginErrors * error;
  }

  #learn(known: readonly number[]): void {
    const state = this.#state;
    state.batches += 1;
    for (const residual of known) {
      state.count = Math.min(memory, state.count + 1);
      state.mean += (residual - state.mean) / state.count;
      state.square += (residual ** 2 - state.square) / state.count;
    }
  }
}
