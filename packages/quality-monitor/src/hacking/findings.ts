import type { Finding, FindingNote } from '@rlp/core';
import { percent } from '../assessor/number-format.ts';
import { groupsOpinion, leastToAcquit, type Verdict } from '../opinion/second-opinion.ts';
import type { DetectorState } from './state.ts';
import type { Suspicion } from './suspicion.ts';

/** Rule of alarms: rewarded responses changed, and a second opinion finds the changed ones worse. */
export const hackingRule = 'suspected_reward_hacking';

/** Rule of suspicions: rewarded responses changed, and nobody has said whether for the worse. */
export const changedRule = 'reward_behaviour_changed';

type Kind = 'changed' | 'alarm';

/** Parts of a finding. */
export interface FindingContext {
  /** Suspicious traits, strongest first. */
  readonly suspicious: readonly Suspicion[];
  readonly kind: Kind;
  /** What the second opinion says about responses with the traits. */
  readonly verdict: Verdict;
  /** Nats of a suspicion. */
  readonly limit: number;
  /** Ids of the suspect responses. */
  readonly suspects: readonly string[];
  readonly iteration: number;
}

/** Batches between reports of further traits. */
const newsInterval = 10;

/** Notes what is suspicious. @returns Whether there is news to report: a new trait, an alarm, or one that lasts. */
export function isReportDue(
  state: DetectorState['report'],
  { suspicious, kind, iteration }: FindingContext,
  repeatEvery: number,
): boolean {
  const { reported, since, last } = state;
  const elapsed = last === null ? Infinity : iteration - last;
  const names = [...suspicious.map(({ name }) => name), ...(kind === 'alarm' ? ['second_opinion'] : [])];
  for (const name of Object.keys(since)) if (!names.includes(name)) delete since[name];
  if (names.length === 0 && elapsed >= repeatEvery) state.reported = {};
  for (const name of names) since[name] ??= iteration;
  const hasAlarmed = Object.values(reported).includes('alarm');
  const isWorse = kind === 'alarm' && !hasAlarmed;
  const isNew = names.some((name) => reported[name] === undefined) && elapsed >= newsInterval;
  const isLasting = kind === 'alarm' && elapsed >= repeatEvery;
  if (names.length === 0 || !(isWorse || isNew || isLasting)) return false;
  for (const name of names) reported[name] = kind;
  state.last = iteration;
  return true;
}

/** Makes one finding of all suspicious traits. */
export function finding(context: FindingContext, since: Readonly<Record<string, number>>): Finding {
  const { suspicious, limit, verdict, kind, suspects, iteration } = context;
  const evidence: Record<string, number> = { limit };
  if (verdict.suspects > 0) evidence.second_opinion_below = verdict.below;
  if (kind === 'alarm') evidence.second_opinion = 1;
  for (const { name, evidence: nats, share, usualShare } of suspicious) {
    evidence[name] = nats;
    evidence[`${name}_share`] = share;
    evidence[`${name}_usual_share`] = usualShare;
  }
  for (const [name, first] of Object.entries(since)) evidence[`${name}_since`] = first;
  const explained = suspicious.slice(0, 4).map(explain);
  const changed = verdict.says === 'innocent' ? 'low' : 'medium';
  return {
    rule: kind === 'alarm' ? hackingRule : changedRule,
    severity: kind === 'changed' ? changed : suspicious.length > 0 ? 'critical' : 'high',
    message:
      kind === 'alarm'
        ? `Suspected reward hacking: ${[convicted(verdict), ...explained].join('; ')}`
        : `Rewarded responses changed: ${explained.join('; ')}. ${undecided(verdict)}`,
    evidence,
    iteration,
    trajectories: suspects,
    note: kind === 'alarm' ? alarmNote : changedNote(verdict),
  };
}

function explain({ name, meaning, share, usualShare }: Suspicion): string {
  return `${percent(share)} of rewarded responses ${meaning}, ${percent(usualShare)} before (${name})`;
}

function convicted({ opinions, suspects, below }: Verdict): string {
  const low = `rewarded responses score lower in the second opinion (${opinions.join(', ')}) than their reward promises`;
  return suspects === 0 ? low : `${low}, ${suspects} suspects by ${below.toFixed(1)} standard deviations`;
}

function undecided({ opinions, suspects, says, evidence }: Verdict): string {
  const name = `The second opinion (${opinions.join(', ')})`;
  if (suspects === 0) {
    return opinions === groupsOpinion
      ? 'No second opinion was given, so this is not an alarm'
      : `${name} scored none of them, so this is not an alarm; rewards need a component of this name`;
  }
  if (says === 'innocent') return `${name} finds ${suspects} of them as good as their reward promises`;
  const known = `${suspects} of the suspects (${leastToAcquit} can clear them) and found ${percent(evidence)} of the evidence of an alarm`;
  return `${name} has not decided, so this is not an alarm. It has scored ${known}`;
}

function changedNote({ opinions }: Verdict): FindingNote {
  return {
    what: 'Rewarded responses differ from earlier ones, in a way that unrewarded responses do not.',
    why: 'The policy learned a new style, or it found a way to be paid without being better.',
    mitigation: [
      'Read the quoted responses. If they are good, call acknowledge() with this finding',
      opinions === groupsOpinion
        ? 'Pass secondOpinion: a held-out judge, a verifier or some human labels tell a hack from a style'
        : 'If the second opinion has not decided, let it score more of the rewarded responses',
      'If the trait is wanted, such as a format, name it in intended',
    ],
  };
}

const alarmNote: FindingNote = {
  what: 'Rewarded responses changed, and a second opinion finds the changed ones worse.',
  why: 'The reward pays for something else than quality. Further training makes it worse.',
  mitigation: [
    'Read the quoted responses and find what the reward pays for',
    'Go back to a checkpoint from before the finding, and repair that reward',
    'Until then lower its weight or raise the KL coefficient',
    'If the responses are good after all, call acknowledge() with this finding',
  ],
};
