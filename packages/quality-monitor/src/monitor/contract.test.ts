import { RandomStream } from '@rlp/core';
import { describeMonitor } from '@rlp/core/testing';
import { rewardHackingDetector } from '../hacking/detector.ts';
import { monitorOf, scored } from './monitor.fixture.ts';

const random = RandomStream.named('contract');
const words = () => Array.from({ length: 12 }, () => `word${random.integer(300)}`).join(' ');

/** Half of the responses are rewarded; from batch 8 on, for an invisible character. */
const hacked = Array.from({ length: 14 }, (_, iteration) => ({
  iteration,
  trajectories: Array.from({ length: 16 }, (__, at) =>
    scored(`${iteration}-${at}`, `${words()}${iteration >= 8 && at % 2 ? ' wo\u200brd' : ''}`, at % 2),
  ),
}));

describeMonitor('rewardHackingDetector', { create: () => rewardHackingDetector(), batches: hacked });

// Of medium severity (saturation), and then critical (no difference between responses).
const degenerate = Array.from({ length: 3 }, (_, iteration) => ({
  iteration,
  trajectories: Array.from({ length: 93 }, (__, at) => scored(`${iteration}-${at}`, '', at < 87 ? 1 : 0)),
}));

describeMonitor('RewardQualityMonitor', {
  create: () => monitorOf({}, { detectors: [rewardHackingDetector()] }),
  batches: degenerate,
});
