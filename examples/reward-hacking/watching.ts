import {
  hackingRule,
  type InterventionConfig,
  type MonitorSink,
  RewardQualityAssessor,
  RewardQualityMonitor,
  rewardHackingDetector,
} from '@rlp/quality-monitor';

/**
 * What the loop is asked for when hacking is suspected: back to weights from before, and from then on next to nothing for the
 * keyword.
 */
const actions: InterventionConfig['actions'] = {
  [hackingRule]: [
    { action: 'roll-back' },
    { action: 'lower-weight', component: 'reasoning_words', factor: 0.01 },
  ],
};

/** The monitor of an arm. It sees responses and rewards; nobody tells it of held-out accuracy, or what the flaw is. */
export function newMonitor(
  role: 'none' | 'watches' | 'intervenes',
  sinks: readonly MonitorSink[],
): RewardQualityMonitor | undefined {
  if (role === 'none') return undefined;
  return new RewardQualityMonitor({
    assessor: new RewardQualityAssessor({ windowSize: 512 }),
    detectors: [rewardHackingDetector()],
    // Other alerts may be many; the one that is acted on must not be held back by their number.
    config: { maxAlertsPerWindow: 1000, ...(role === 'intervenes' && { actions }) },
    sinks,
  });
}
