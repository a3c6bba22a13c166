import type { Finding } from '@rlp/core';
import {
  type AssessorOptions,
  type MonitoredBatch,
  RewardQualityAssessor,
  RewardQualityMonitor,
  rewardHackingDetector,
} from '@rlp/quality-monitor';
import type { SavedResponse } from '@rlp/quality-monitor/files';
import type { MetricsRecord } from '@rlp/quality-monitor/page';

/** What a person has to know of a file that was read once and not kept. */
export interface Seen {
  responses: number;
  /** Responses with a reward above the mean of their batch. */
  rewarded: number;
  /** The first and the last place of each batch. */
  readonly places: (readonly [string, string])[];
  /** Rewards by name, and in how many responses each is a number, or something else. */
  readonly rewards: Map<string, { readable: number; faulty: number; firstFault?: string }>;
}

/** Rewarded responses of the detector's reference, and batches between it and the one compared. */
export const comparison = { warmUpResponses: 48, delayBatches: 8 } as const;

/** What a monitor logs about saved responses, batch by batch. Keeps one batch of them. */
export async function analysed(
  responses: AsyncIterable<SavedResponse>,
  {
    assessor,
    batchSize,
    secondOpinion,
    onFailure,
  }: {
    readonly assessor: AssessorOptions;
    readonly batchSize: number;
    readonly secondOpinion: string | undefined;
    readonly onFailure: (message: string) => void;
  },
) {
  const seen: Seen = { responses: 0, rewarded: 0, places: [], rewards: new Map() };
  const records: MetricsRecord[] = [];
  const findings: Finding[] = [];
  const monitor = new RewardQualityMonitor({
    assessor: new RewardQualityAssessor(assessor),
    detectors: [rewardHackingDetector({ ...comparison, secondOpinion })],
    config: { interventionSeverity: 'low', maxAlertsPerWindow: Number.MAX_SAFE_INTEGER },
    loggers: [
      {
        log: (step, metrics) => void records.push({ step, metrics }),
        finding: (_, finding) => void findings.push(finding),
        close: async () => undefined,
      },
    ],
    onFailure,
  });
  for await (const batch of batchesOf(responses, batchSize)) {
    remember(seen, batch);
    const monitored = batchOf(batch, secondOpinion);
    seen.rewarded += rewardedIn(monitored);
    monitor.monitorBatch(monitored);
  }
  return { seen, records, findings, summary: monitor.getMonitoringSummary() };
}

async function* batchesOf(responses: AsyncIterable<SavedResponse>, size: number) {
  let batch: SavedResponse[] = [];
  for await (const one of responses) {
    batch.push(one);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function remember(seen: Seen, batch: readonly SavedResponse[]): void {
  seen.responses += batch.length;
  seen.places.push([batch[0]!.place, batch.at(-1)!.place]);
  for (const { rewards, place } of batch) {
    for (const [name, value] of Object.entries(rewards)) {
      const known = seen.rewards.get(name) ?? { readable: 0, faulty: 0 };
      if (Number.isNaN(value)) {
        known.faulty += 1;
        known.firstFault ??= place;
      } else if (value !== null) known.readable += 1;
      seen.rewards.set(name, known);
    }
  }
}

/** Responses of a batch whose reward is above its mean. */
function rewardedIn({ responses, rewards }: MonitoredBatch): number {
  const columns = rewards.total ? [rewards.total] : Object.values(rewards);
  const sums = responses.map((_, at) => columns.reduce((sum, values) => sum + (values[at] ?? Number.NaN), 0));
  const known = sums.filter((sum) => Number.isFinite(sum));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return known.filter((value) => value > mean).length;
}

/** A second opinion beside rewards is not part of what is paid. */
function batchOf(saved: readonly SavedResponse[], secondOpinion: string | undefined): MonitoredBatch {
  const names = [...new Set(saved.flatMap(({ rewards }) => Object.keys(rewards)))];
  const hasPrompts = saved.every(({ prompt }) => prompt !== undefined);
  const paid = names.filter((name) => name !== secondOpinion);
  const finite = (value = Number.NaN) => (value !== null && Number.isFinite(value) ? value : null);
  const valuesOf = (name: string) => saved.map(({ rewards }) => finite(rewards[name] ?? undefined));
  const needsTotal = paid.length > 0 && paid.length < names.length && !names.includes('total');
  const total = saved.map(({ rewards }) => {
    const values = paid.map((name) => rewards[name] ?? Number.NaN);
    const sum = values.reduce((all, value) => all + value, 0);
    return Number.isFinite(sum) ? sum : null;
  });
  return {
    responses: saved.map(({ response }) => response),
    rewards: {
      ...Object.fromEntries(names.map((name) => [name, valuesOf(name)])),
      ...(needsTotal && { total }),
    },
    ...(hasPrompts && { prompts: saved.map(({ prompt }) => prompt ?? '') }),
  };
}
