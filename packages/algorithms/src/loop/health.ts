import type { Metrics } from '@rlp/core';
import { plural } from '@rlp/core';
import type { ResolvedRlOptions } from './options.ts';
import type { Stop } from './run-stopped.ts';

/** What a check of an iteration sees. */
interface Checkup {
  readonly metrics: Metrics;
  /** Of the iteration before. */
  readonly before: Metrics | undefined;
  readonly budget: ResolvedRlOptions['failureBudget'];
  /** Iterations from the start of the run in which nothing but equal rewards came. */
  readonly flat: number;
}

/** Something that a person should know of an iteration, and when it ends the run. */
interface HealthCheck {
  readonly applies: (checkup: Checkup) => boolean;
  readonly sentence: (checkup: Checkup) => string;
  readonly remedy?: string;
  /** Why the run stops, and when. Absent if the check only notes. */
  readonly stops?: { readonly reason: Stop['reason']; readonly when: (checkup: Checkup) => boolean };
}

/** Nats below which entropies are not compared. */
const leastEntropy = 0.1;

/** Nats below which a policy has few answers left to choose from. */
const almostSure = 0.5;

const checks: readonly HealthCheck[] = [
  {
    applies: ({ metrics }) => metrics['update/overflowed'] !== undefined,
    sentence: ({ metrics }) =>
      `${plural(metrics['update/overflowed'] ?? 0, 'update was', 'updates were')} left out, and ${metrics['update/count']} made: the gradient overflowed float16`,
  },
  {
    applies: ({ metrics }) => metrics['groups/zero-variance']! > 0 && !isFlat(metrics),
    sentence: ({ metrics }) =>
      `${metrics['groups/zero-variance']} of ${plural(metrics['groups/count'] ?? 0, 'group')} had no reward variance`,
  },
  {
    applies: ({ metrics }) => isFlat(metrics),
    sentence: ({ metrics, flat, budget }) =>
      `the rewards of every group are equal (mean ${rounded(metrics['reward/mean'])}), so nothing is learned` +
      (flat === 0
        ? ''
        : ` (${flat} of ${plural(budget.flatIterations, 'iteration')} from the start that may be so)`),
    remedy: 'make tasks easier, raise rollout.groupSize or give partial rewards',
    stops: { reason: 'rewards-equal', when: ({ flat, budget }) => flat >= budget.flatIterations },
  },
  {
    applies: ({ metrics }) => metrics['anchors/compared'] === 0 && !isFlat(metrics),
    sentence: () =>
      'no state of an episode came again in another one of its group, so only whole episodes are compared',
    remedy: 'give states that are the same for the task the same stateKey: no counter and no time in it',
  },
  {
    applies: ({ metrics, budget }) => gapOf(metrics) > budget.samplerGap / 10,
    sentence: ({ metrics }) =>
      `sampler and trainer disagree by ${rounded(gapOf(metrics))} nats per token although both should have the same weights`,
    remedy:
      'check that both have the same model, tokenizer, temperature and number format, and that no repetition penalty is set',
    stops: { reason: 'sampler-gap', when: ({ metrics, budget }) => gapOf(metrics) > budget.samplerGap },
  },
  {
    applies: ({ metrics, before }) => {
      const [now, then] = [metrics['entropy/estimate'], before?.['entropy/estimate']];
      if (now === undefined || then === undefined || then <= leastEntropy || now >= then / 20) return false;
      // A policy that was almost sure, and now earns more, has learned the rest.
      const improved = (metrics['reward/mean'] ?? 0) > (before?.['reward/mean'] ?? 0);
      return !(improved && then < almostSure);
    },
    sentence: ({ metrics, before }) =>
      `the entropy of the policy fell from ${rounded(before?.['entropy/estimate'])} to ` +
      `${rounded(metrics['entropy/estimate'])} nats in one iteration: the update was too large`,
    remedy: 'go back to an earlier checkpoint and lower the learning rate',
  },
];

/** Whether there were rewards, all equal within each group, and no update. */
function isFlat(metrics: Metrics): boolean {
  return (
    metrics['groups/count']! > 0 &&
    metrics['groups/zero-variance'] === metrics['groups/count'] &&
    metrics['update/count'] === 0 &&
    (metrics['update/critic-count'] ?? 0) === 0 &&
    metrics['reward/mean'] !== undefined
  );
}

/** Absolute gap in nats, 0 if it is unknown or sampler and trainer had different weights. */
function gapOf(metrics: Metrics): number {
  return metrics['staleness/max'] === 0 ? (metrics['gap/absolute'] ?? 0) : 0;
}

function rounded(value: number | undefined): string {
  return value === undefined ? 'none' : String(Number(value.toPrecision(3)));
}

/** Watches whether a run still learns. */
export class RunHealth {
  readonly #budget: ResolvedRlOptions['failureBudget'];
  /** 0 once anything was learned, and in runs that continue others. */
  #flat: number;
  #isFresh: boolean;
  #before: Metrics | undefined;
  /** Whether any iteration had a reward. */
  history: 'scored' | 'nothing scored yet' = 'nothing scored yet';

  constructor(budget: ResolvedRlOptions['failureBudget'], start: 'fresh' | 'resumed') {
    this.#budget = budget;
    this.#isFresh = start === 'fresh';
    this.#flat = 0;
  }

  /** What a person should know of an iteration, and why the run stops after it. */
  examine(metrics: Metrics): { readonly notes: readonly string[]; readonly stop: Stop | undefined } {
    this.#isFresh &&= isFlat(metrics);
    this.#flat = this.#isFresh ? this.#flat + 1 : 0;
    const checkup = { metrics, before: this.#before, budget: this.#budget, flat: this.#flat };
    this.#before = metrics;
    if (metrics['reward/mean'] !== undefined) this.history = 'scored';
    const found = checks.filter(({ applies }) => applies(checkup));
    const notes = found.map(({ sentence, remedy }) => [sentence(checkup), remedy].filter(Boolean).join('; '));
    const stopping = found.find(({ stops }) => stops?.when(checkup));
    if (stopping === undefined || this.#budget.whenSpent === 'continue') return { notes, stop: undefined };
    const { sentence, remedy = '', stops } = stopping;
    return { notes, stop: { reason: stops!.reason, sentence: sentence(checkup), remedy } };
  }
}
