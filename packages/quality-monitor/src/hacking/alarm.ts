import type { Finding } from '@rlp/core';
import type { Detection } from './evidence.ts';
import type { DetectorState } from './state.ts';

/** Rule of the detector's findings. */
export const hackingRule = 'suspected_reward_hacking';

type AlarmState = DetectorState['alarm'];

const silence: AlarmState = { signals: [], batches: 0, reported: -1 };

/** Whether an alarm is on, and when it has to be reported: when a signal begins to alarm, and every so many batches. */
export class Alarm {
  readonly #repeatEvery: number;
  #state = silence;

  constructor(repeatEvery: number) {
    this.#repeatEvery = repeatEvery;
  }

  /** For how many batches it has been on. */
  get batches(): number {
    return this.#state.batches;
  }

  /** Takes the names of the signals that alarm. @returns Whether they have to be reported. */
  observe(names: readonly string[], iteration: number): boolean {
    const { signals, reported, batches } = this.#state;
    if (names.length === 0) {
      this.#state = { ...silence, reported };
      return false;
    }
    const isNew = names.some((name) => !signals.includes(name));
    const isDue = isNew || iteration >= reported + this.#repeatEvery;
    this.#state = {
      // A signal that comes and goes while others stay is not new each time.
      signals: isDue ? [...new Set([...signals, ...names])] : signals,
      batches: batches + 1,
      reported: isDue ? iteration : reported,
    };
    return isDue;
  }

  forget(): void {
    this.#state = silence;
  }

  saveState(): AlarmState {
    return this.#state;
  }

  loadState(state: AlarmState): void {
    this.#state = state;
  }
}

/** What a finding is made of. */
export interface AlarmContext {
  /** What alarms, the strongest first; one at least. */
  readonly detections: readonly Detection[];
  /** `h`: nats at which a signal alarms. */
  readonly limit: number;
  /** The component that dominates, if one does. */
  readonly component: string | undefined;
  /** Ids of the responses that show it. */
  readonly suspects: readonly string[];
  readonly iteration: number;
}

/** One finding for all signals. */
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
