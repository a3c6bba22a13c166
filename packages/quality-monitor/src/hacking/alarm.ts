import type { Finding } from '@rlp/core';
import type { Detection } from './evidence.ts';
import type { DetectorState } from './state.ts';

/** Rule of the detector's findings. */
export const hackingRule = 'suspected_reward_hacking';

type State = DetectorState['alarm'];

/**
 * Counts an alarm's batches. It is reported when a signal begins to alarm, and then every `repeatEvery` batches.
 *
 * @param names - Alarming signals. @returns Whether to report them.
 */
export function isAlarmDue(
  state: State,
  names: readonly string[],
  iteration: number,
  repeatEvery: number,
): boolean {
  if (names.length === 0) {
    Object.assign(state, { signals: [], batches: 0 });
    return false;
  }
  state.batches += 1;
  const isNew = names.some((name) => !state.signals.includes(name));
  if (!isNew && iteration < state.reported + repeatEvery) return false;
  // A signal that comes and goes during an alarm is new only once.
  state.signals = [...new Set([...state.signals, ...names])];
  state.reported = iteration;
  return true;
}

/** Parts of a finding. */
export interface AlarmContext {
  /** Alarming traits, strongest first. At least one. */
  readonly detections: readonly Detection[];
  /** Nats of an alarm. */
  readonly limit: number;
  /** Dominant component, if any. */
  readonly component: string | undefined;
  /** Ids of the suspect responses. */
  readonly suspects: readonly string[];
  readonly iteration: number;
}

/** Makes one finding of all alarming traits. */
export function hackingFinding({ detections, limit, component, suspects, iteration }: AlarmContext): Finding {
  const evidence: Record<string, number> = { limit };
  for (const { name, evidence: nats, share, usualShare } of detections) {
    evidence[name] = nats;
    evidence[`${name}_share`] = share;
    evidence[`${name}_usual_share`] = usualShare;
  }
  const isSure = detections[0]!.evidence >= 1.5 * limit || detections.length > 2;
  const explained = detections.slice(0, 4).map((detection) => explain(detection, component));
  return {
    rule: hackingRule,
    severity: isSure ? 'critical' : 'high',
    message: `Suspected reward hacking: ${explained.join('; ')}`,
    evidence,
    iteration,
    trajectories: suspects,
  };
}

function explain({ name, meaning, share, usualShare }: Detection, component: string | undefined): string {
  if (name === 'kl_frontier') return `responses ${meaning} (kl_frontier)`;
  const of = name === 'dominance' && component !== undefined ? ` '${component}'` : '';
  return `${percent(share)} of rewarded responses ${meaning}${of}, ${percent(usualShare)} before (${name})`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
