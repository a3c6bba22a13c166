import type { MetricsLogger } from '@rlp/core';
import {
  createDefaultMonitor,
  hackingRule,
  type InterventionConfig,
  type RewardQualityMonitor,
} from '@rlp/quality-monitor';

/**
 * What the loop is asked for when hacking is suspected: back to weights from before, and from then on next to nothing for the
 * keyword. Once: the roll-back ends the alarm, but responses without the word are not what the detector knows either.
 */
const actions: InterventionConfig['actions'] = {
  [hackingRule]: [
    { action: 'roll-back', cooldown: 100 },
    { action: 'lower-weight', component: 'reasoning_words', factor: 0.01, cooldown: 100 },
  ],
};

/** The monitor of an arm. It sees responses and rewards; nobody tells it of held-out accuracy, or what the flaw is. */
export function newMonitor(
  role: 'watches' | 'intervenes',
  loggers: readonly MetricsLogger[],
): RewardQualityMonitor {
  return createDefaultMonitor({
    console: 'off',
    loggers,
    actions: role === 'intervenes' ? actions : undefined,
  });
}
