import type { DetectorState } from './state.ts';

/** Batches before the noise of the score is known. */
const warmUpBatches = 8;
/** Assumed fall of the score, in standard deviations. */
const shift = 2;

type Frontier = DetectorState['frontier'];

/**
 * Tracks the best mean score and its KL, to detect KL that is spent on falling scores.
 *
 * Let `d = (best − smoothed score) / σ` at a KL above that of the best. Evidence grows by `2 (d − 1)` nats per batch, the
 * log-likelihood ratio of a fall by 2σ. `σ` is estimated from the differences of successive batch means.
 *
 * @see Gao, Schulman and Hilton 2022, https://arxiv.org/abs/2210.10760
 */
export function observeFrontier(state: Frontier, kl: number, score: number, limit: number): void {
  if (!Number.isFinite(kl) || !(Math.abs(score) < 1e100)) return;
  const batches = ++state.batches;
  if (batches === 1) state.smoothed = score;
  else state.variance += ((score - state.previous) ** 2 / 2 - state.variance) / Math.min(50, batches - 1);
  state.previous = score;
  state.smoothed += 0.4 * (score - state.smoothed);
  if (batches < warmUpBatches) return;
  if (batches === warmUpBatches || state.smoothed >= state.best) {
    state.best = state.smoothed;
    state.klAtBest = kl;
  }
  const deviation = Math.max(Math.sqrt(state.variance), 1e-9 * (1 + Math.abs(state.best)));
  const behind = kl > state.klAtBest ? Math.min(4, (state.best - state.smoothed) / deviation) : 0;
  const gain = shift * (behind - shift / 2);
  state.evidence = Math.min(2 * limit, Math.max(0, state.evidence + gain));
}

/**
 * Restarts after a roll-back. `'from the best'` keeps the best score. `'anew'` forgets it, because a hack may have earned it.
 */
export function restartFrontier(state: Frontier, how: 'anew' | 'from the best'): void {
  const { best } = state;
  const goesOn = how === 'from the best' && state.batches >= warmUpBatches;
  Object.assign(
    state,
    { evidence: 0 },
    goesOn ? { previous: best, smoothed: best } : { batches: 0, variance: 0 },
  );
}
