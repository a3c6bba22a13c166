import * as z from 'zod';
import type { QualitySums } from './metrics.ts';
import type { BatchFinding } from './pathologies.ts';
import type { RewardWindow } from './reward-window.ts';

/** What a reward did before. */
const pastSchema = z.strictObject({
  /** Mean of its first window in which it was not suspicious. `null` if there was none. */
  first: z.number().nullable(),
  /** Highest mean of a window. */
  best: z.number(),
  /** Whether it differed among short formatted responses, so that it pays for more than the format. */
  paysContent: z.boolean(),
});

/** Schema of the state of {@link Learning}. */
export const learningStateSchema = z.strictObject({
  rewards: z.record(z.string(), pastSchema),
  /** Highest share of formatted responses in a batch. */
  formatted: z.number(),
});

type State = z.output<typeof learningStateSchema>;
type Past = State['rewards'][string];

/** A batch with what was measured on it. The windows hold it already. */
interface MeasuredBatch {
  readonly responses: readonly string[];
  readonly rewards: Readonly<Record<string, readonly (number | null)[]>>;
  /** Number of different tasks. Default: each response is its own task. */
  readonly tasks?: number | undefined;
  readonly sums: QualitySums;
  readonly windows: ReadonlyMap<string, RewardWindow>;
}

/** Share of short responses that have to differ, and that have to be paid and not be paid, before their content counts. */
const [leastDifferent, leastPaid] = [0.1, 0.05];
/** Below this share of a batch, short formatted responses are too few to judge. */
const leastGaming = 0.1;
/** Most responses without any word, and most of the formatted share that may be lost again. */
const [mostEmpty, mostLost] = [0.05, 0.2];

/** Tells findings that honest learning explains as well, and lowers their severity. */
export class Learning {
  #state: State = { rewards: {}, formatted: 0 };

  saveState(): State {
    return structuredClone(this.#state);
  }

  loadState(state: State): void {
    this.#state = structuredClone(state);
  }

  /** The findings, those that are explained with severity `low`. */
  lowered(findings: readonly BatchFinding[], batch: MeasuredBatch): BatchFinding[] {
    const suspicious = new Set(
      findings.filter(({ rule }) => isOfReward.has(rule)).map(({ component }) => component),
    );
    this.#observe(batch, suspicious);
    const isTeaching = [...batch.windows].some(
      ([name, window]) =>
        (this.#hasRisen(name, window) ?? false) ||
        (!suspicious.has(name) && (window.statistics()?.std ?? 0) > 0),
    );
    return findings.map((one) =>
      this.#isExplained(one, batch, isTeaching) ? { ...one, severity: 'low' } : one,
    );
  }

  #observe({ sums, rewards, windows }: MeasuredBatch, suspicious: ReadonlySet<string | undefined>): void {
    this.#state.formatted = Math.max(this.#state.formatted, sums.share(sums.formatted));
    for (const [name, window] of windows) {
      const { mean, std, min, max } = window.statistics() ?? { mean: 0, std: 0, min: 0, max: 0 };
      const past: Past = this.#state.rewards[name] ?? { first: null, best: mean, paysContent: false };
      if (std > 0 && !suspicious.has(name)) past.first ??= mean;
      past.best = Math.max(past.best, mean);
      const values = valuesOf(rewards[name], sums.gaming);
      const paid = values.filter((value) => value > (min + max) / 2).length / values.length;
      past.paysContent ||= paid >= leastPaid && paid <= 1 - leastPaid;
      this.#state.rewards[name] = past;
    }
  }

  #isExplained(finding: BatchFinding, batch: MeasuredBatch, isTeaching: boolean): boolean {
    const { sums, responses, tasks = responses.length } = batch;
    switch (finding.rule) {
      case 'reward_saturation_high':
      case 'reward_saturation_low':
      case 'variance_collapse': {
        const name = finding.component!;
        return this.#hasRisen(name, batch.windows.get(name)) ?? isTeaching;
      }
      case 'format_gaming':
        if (sums.share(sums.gaming.length) < leastGaming) return true;
        return sums.gamingReasoning.size >= leastDifferent * sums.gaming.length && this.#earnsAsUsual(batch);
      case 'degenerate_outputs': {
        const empty = sums.empty.filter((at) => !/[\p{L}\p{N}]/u.test(withoutTags(responses[at]!))).length;
        const isLost = sums.share(sums.formatted) < this.#state.formatted - mostLost;
        return !isLost && sums.share(empty) <= mostEmpty;
      }
      case 'diversity_collapse':
        return (finding.evidence.unique_ratio ?? 0) >= tasks / responses.length / 2;
      default:
        return false;
    }
  }

  /** Whether a reward is higher than when it first differed. `undefined` if it never did. */
  #hasRisen(name: string, window: RewardWindow | undefined): boolean | undefined {
    const first = this.#state.rewards[name]?.first ?? undefined;
    return first === undefined ? undefined : (window?.statistics()?.mean ?? first) > first;
  }

  /** Whether some reward pays for content, and short formatted responses earn at least half of what each such reward paid at best. */
  #earnsAsUsual({ sums, rewards, windows }: MeasuredBatch): boolean {
    const paying = Object.entries(this.#state.rewards).filter(([, { paysContent }]) => paysContent);
    const earned = paying.map(([name, { best }]) => {
      const values = valuesOf(rewards[name], sums.gaming);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const least = windows.get(name)?.statistics()?.min ?? 0;
      return mean - least >= (best - least) / 2;
    });
    return earned.length > 0 && earned.every(Boolean);
  }
}

const isOfReward: ReadonlySet<string> = new Set([
  'reward_saturation_high',
  'reward_saturation_low',
  'variance_collapse',
]);

function valuesOf(values: readonly (number | null)[] | undefined, at: readonly number[]): number[] {
  return at.map((index) => values?.[index] ?? Number.NaN).filter((value) => Number.isFinite(value));
}

function withoutTags(text: string): string {
  return text.replaceAll(/<[^<>]*>/g, '');
}
