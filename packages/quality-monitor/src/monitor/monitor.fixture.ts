import type { Finding, Metrics, MetricsLogger, ScoredTrajectory } from '@rlp/core';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { withoutNamespace } from './logged.ts';
import { RewardQualityMonitor, type RewardQualityMonitorParts } from './monitor.ts';

/** Degenerate, equal responses. Each batch of them raises two alerts. */
export const empty = new Array<string>(20).fill('');

/** A response without any pathology. */
export const good = '<reasoning>four and four make eight, as everyone knows</reasoning><answer>08</answer>';

/** Everything logged about one step. */
export interface LoggedStep {
  readonly step: number;
  readonly metrics: Metrics;
  readonly findings: Finding[];
  readonly notes: string[];
}

/** Keeps what it is given. */
export function memoryLogger(): MetricsLogger & { readonly records: LoggedStep[] } {
  const records: LoggedStep[] = [];
  return {
    records,
    log: (step, metrics) =>
      void records.push({ step, metrics: withoutNamespace(metrics), findings: [], notes: [] }),
    finding: (_, finding) => void records.at(-1)!.findings.push(finding),
    note: (_, text) => void records.at(-1)!.notes.push(text),
    close: async () => undefined,
  };
}

/** A monitor that alerts from the first sample on. */
export function monitorOf(
  config: RewardQualityMonitorParts['config'] = {},
  parts: Omit<RewardQualityMonitorParts, 'assessor' | 'config'> = {},
): RewardQualityMonitor {
  const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 1, windowSize: 100 });
  return new RewardQualityMonitor({ assessor, config, ...parts });
}

/** A trajectory of one response. */
export function scored(id: string, response: string, reward: number | null): ScoredTrajectory {
  const task = { id, prompt: '', metadata: undefined };
  const trajectory = {
    id,
    task,
    steps: [],
    messages: [],
    response,
    status: 'completed',
    policyVersion: 0,
  } as const;
  return { trajectory, reward, components: { accuracy: reward } };
}
