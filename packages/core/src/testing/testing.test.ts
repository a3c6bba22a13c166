import { FormatError } from '../errors.ts';
import type { Monitor, MonitorReport } from '../monitor.ts';
import type { ScoredTrajectory } from '../trajectory.ts';
import type { Verifier } from '../verifier.ts';
import { describeMonitor } from './monitor.ts';
import { describeVerifier } from './verifier.ts';

// The smallest implementations that keep the promises: if these fail, the suites ask for too much.

const notEmpty: Verifier = {
  name: 'not-empty',
  async verifyBatch(requests, { signal } = {}) {
    signal?.throwIfAborted();
    return requests.map(({ response }) => ({
      result: response === '' ? 'fail' : 'pass',
      score: response === '' ? 0 : 1,
      details: { length: response.length },
      message: `${response.length} characters`,
    }));
  },
};

/** Finds batches whose best reward is no better than the best so far. */
function standstillMonitor(): Monitor {
  let best: number | null = null;
  return {
    observe({ iteration, trajectories }): MonitorReport {
      const rewards = trajectories.flatMap(({ reward }) => (reward === null ? [] : [reward]));
      if (rewards.length === 0) return { metrics: {}, findings: [] };
      const previous = best;
      const top = Math.max(...rewards);
      best = Math.max(top, previous ?? top);
      const still = previous !== null && top <= previous;
      const message = `best reward ${top}, not above ${previous}`;
      return {
        metrics: { 'reward/best': best },
        findings: still
          ? [{ rule: 'standstill', severity: 'low', message, evidence: { top }, iteration }]
          : [],
      };
    },
    saveState: () => ({ best }),
    loadState(state) {
      if (typeof state !== 'object' || state === null || !('best' in state)) {
        throw new FormatError('standstill monitor: expected { best }, got something else');
      }
      best = state.best as number | null;
    },
  };
}

const scored = (reward: number | null): ScoredTrajectory => ({
  trajectory: {
    id: 't',
    task: { id: 't', prompt: '', metadata: {} },
    steps: [],
    messages: [],
    response: '',
    status: 'completed',
    policyVersion: 0,
  },
  reward,
  components: {},
});

describeVerifier('not-empty', {
  create: () => notEmpty,
  requests: [
    { prompt: 'Say it.', response: 'it' },
    { prompt: 'Say it.', response: '' },
  ],
});

describeMonitor('standstill', {
  create: standstillMonitor,
  batches: [
    { iteration: 0, trajectories: [scored(1), scored(null)] },
    { iteration: 1, trajectories: [scored(0.5)] },
    { iteration: 2, trajectories: [scored(2)] },
  ],
});
