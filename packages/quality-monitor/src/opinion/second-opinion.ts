import type { ScoredTrajectory } from '@rlp/core';
import { Calibration, delayBatches, type Pair, withPairs } from './calibration.ts';
import { agreementInGroups } from './group-agreement.ts';
import { Promises } from './promises.ts';
import type { OpinionState } from './state.ts';

/** What is tested for, each with its own sum: the share of hacked responses, and by how many deviations they score lower. */
const tests = [
  { share: 0.25, fall: 2 },
  { share: 'prior', fall: 1.5 },
] as const;
/** Most nats of one response, so that a few odd scores prove nothing. */
const mostNats = 3.2;
/** Standard errors by which all scores have fallen if every component counts. */
const fallenErrors = 3.5;
/** Share of the nats that is enough if responses also changed, or if groups of a task are the only opinion. */
const [corroborated, groupsOnly] = [0.75, 1.6];
/** Suspects that acquit if they do not score lower by a standard error. */
export const leastToAcquit = 30;

/** Names of the opinion without named components. */
export const groupsOpinion: readonly string[] = ['agreement in groups'];

/** What the second opinion says about the suspects. */
export interface Verdict {
  /** Names of the opinions. */
  readonly opinions: readonly string[];
  readonly suspects: number;
  /** Mean deviations by which the suspects score lower than their rewards promise. */
  readonly below: number;
  /** Evidence of an alarm. It is one from 1 on. */
  readonly evidence: number;
  readonly says: 'guilty' | 'innocent' | 'not enough';
}

/** What {@link SecondOpinion.read} returns. */
type Distances = ReturnType<SecondOpinion['read']>;

/** The responses of a batch that are judged: the rewarded ones, or without named components the suspects. */
export interface Judged {
  /** Indices of the responses. */
  readonly at: readonly number[];
  readonly weights: Float32Array;
  /** Probability that each one is hacked, as its text tells. Shape as `at`. */
  readonly priors: ArrayLike<number>;
  readonly designEffect: number;
  /** Indices of the responses that changed, and their traits. Other traits than before are another suspicion. */
  readonly suspects: ReadonlySet<number>;
  readonly about: readonly string[];
}

/**
 * Asks whether rewarded responses are as good as their rewards promise.
 *
 * Let `x` be how many deviations a rewarded response scores below what its promise usually earns. Then
 *
 *     S ← min(2h, max(0, S + Σ w min(3.2, ln(1 − ε + ε exp(Δx − κ))) / φ))
 *
 * with weights `w` and the design effect `φ` of several responses to one task. `κ` is `Δ²/2`, or the logarithm of the mean of `exp(Δx)`
 * over earlier responses if that is more: a verifier says yes or no, and may often have contradicted the reward. One sum has
 * `ε = 0.25` and `Δ = 2`. In the other one `Δ = 1.5`, and `ε` is the prior of the response: what its text tells before the opinion is
 * asked. The larger sum counts. As long as `x` is at most standard normal, or as it was, whatever the text, and opinions err apart, a sum exceeds `h` within `n`
 * batches with probability at most `n exp(−h)`.
 *
 * Without named components, agreement on the final answer within a group of one task is the opinion. Then only suspects count.
 */
export class SecondOpinion {
  readonly #names: readonly string[];
  readonly #limit: number;
  readonly #state: OpinionState;
  readonly #promises: Promises;

  /** @param limit - `h`, the nats of an alarm. */
  constructor(
    names: readonly string[],
    { limit, intended }: { readonly limit: number; readonly intended: ReadonlySet<string> },
    state: OpinionState,
  ) {
    this.#names = names;
    this.#limit = limit;
    this.#state = state;
    this.#promises = new Promises(intended, state);
  }

  /** Evidence of an alarm by the second opinion alone, in alarms. */
  get share(): number {
    return Math.max(...this.#state.evidence.sums) / this.#limit;
  }

  /** Deviations by which judged responses score lower than promised, NaN without an opinion, and by test `κ`. Remembers the batch. */
  read(trajectories: readonly ScoredTrajectory[], { at }: Pick<Judged, 'at'>) {
    const { pairs, batches } = this.#state;
    const { promises, rewards } = this.#promises.of(trajectories);
    const opinions = this.#scores(trajectories).map(([name, scores]) => {
      const known = pairs[name] ?? [];
      return { name, scores, known, calibration: new Calibration(known, batches) };
    });
    const hasFallen = opinions.some(({ calibration, scores }) => calibration.fall(scores) > fallenErrors);
    const paid = hasFallen ? rewards : promises;
    const distances = at.map((index) => {
      const read = opinions.flatMap(({ calibration, scores }) => {
        const x = calibration.below(paid[index]!, scores[index]!);
        return Number.isNaN(x) ? [] : [{ calibration, x }];
      });
      const root = Math.sqrt(read.length);
      const usual = tests.map(({ fall }) =>
        read.reduce((all, { calibration }) => all + calibration.usual(paid[index]!, fall / root), 0),
      );
      return { below: read.reduce((all, { x }) => all + x, 0) / root, usual };
    });
    for (const { name, scores, known } of opinions) {
      const added = scores.map((score, index): Pair => [paid[index]!, score, batches]);
      pairs[name] = withPairs(known, added);
    }
    this.#state.batches += 1;
    return distances;
  }

  /** Adds the evidence of a batch. */
  gather(distances: Distances, { at, weights, priors, designEffect, suspects, about }: Judged): void {
    const { evidence } = this.#state;
    if (!about.some((name) => evidence.about.includes(name))) this.forgetSuspects();
    evidence.about = [...about];
    const known = [...at.keys()].filter((place) => !Number.isNaN(distances[place]!.below));
    const asked = known.filter((place) => suspects.has(at[place]!));
    evidence.suspects += asked.length;
    evidence.below += asked.reduce((sum, place) => sum + distances[place]!.below, 0);
    for (const [which, { share, fall }] of tests.entries()) {
      const gain = known.reduce((sum, place) => {
        const prior = share === 'prior' ? priors[place]! : share;
        const { below, usual } = distances[place]!;
        const ratio = 1 - prior + prior * Math.exp(fall * below - usual[which]!);
        return sum + weights[at[place]!]! * Math.min(mostNats, Math.log(ratio));
      }, 0);
      const after = Math.max(0, evidence.sums[which]! + gain / designEffect);
      evidence.sums[which] = Math.min(2 * this.#limit, after);
    }
  }

  /** @param suspicion - How much says that responses changed. */
  verdict(suspicion: 'clear' | 'slight' | 'none'): Verdict {
    const { suspects, below } = this.#state.evidence;
    const isNamed = this.#names.length > 0;
    const needed = !isNamed ? groupsOnly : suspicion === 'none' ? 1 : corroborated;
    const evidence = this.share / needed;
    const isGuilty = evidence >= 1 && (isNamed || suspicion === 'clear');
    const isInnocent = suspects >= leastToAcquit && below < Math.sqrt(suspects);
    return {
      opinions: isNamed ? this.#names : groupsOpinion,
      suspects,
      below: below / Math.max(1, suspects),
      evidence,
      says: isGuilty ? 'guilty' : isInnocent ? 'innocent' : 'not enough',
    };
  }

  /** Makes what the opinion said in the last four batches the new normal, at once. */
  accept(): void {
    const { pairs, batches } = this.#state;
    for (const [name, known] of Object.entries(pairs)) {
      const late = known.filter(([, , added]) => added >= batches - delayBatches);
      pairs[name] = late.map(([promise, score, added]) => [promise, score, added - delayBatches]);
    }
    this.#state.evidence.sums.fill(0);
  }

  /** Drops the evidence, and what the opinion said lately. */
  forget(): void {
    const { pairs, batches, evidence } = this.#state;
    for (const [name, known] of Object.entries(pairs)) {
      pairs[name] = known.filter(([, , added]) => added < batches - delayBatches);
    }
    evidence.sums.fill(0);
    this.forgetSuspects();
  }

  /** Forgets the suspects, because the suspicion is over. */
  forgetSuspects(): void {
    Object.assign(this.#state.evidence, { about: [], suspects: 0, below: 0 });
    if (this.#names.length === 0) this.#state.evidence.sums.fill(0);
  }

  #scores(trajectories: readonly ScoredTrajectory[]): [name: string, scores: number[]][] {
    if (this.#names.length === 0) return [['', agreementInGroups(trajectories)]];
    const scoresBy = (name: string) => trajectories.map(({ components }) => components[name] ?? Number.NaN);
    return this.#names.map((name) => [name, scoresBy(name)]);
  }
}
