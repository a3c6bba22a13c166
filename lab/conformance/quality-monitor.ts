import type { Finding } from '@rlp/core';
import {
  type AssessedBatch,
  type AssessorOptions,
  flatMetrics,
  monitoredReward,
  RewardQualityAssessor,
  RewardQualityMonitor,
} from '@rlp/quality-monitor';
import type { Adapter, AdapterTable, FixtureCase } from './fixture.ts';

/** The original's options, and its decisions in the places where ours are others on purpose. */
function assessor(
  { params }: Pick<FixtureCase, 'params'>,
  conventions: 'tunrex' | 'rlp' = 'tunrex',
): RewardQualityAssessor {
  const thresholds = params.alert_thresholds ?? {};
  const options: AssessorOptions = {
    windowSize: params.window_size,
    minSamplesForAnalysis: params.min_samples_for_analysis,
    alertThresholds: {
      rewardSaturationHigh: thresholds.reward_saturation_high,
      rewardSaturationLow: thresholds.reward_saturation_low,
      varianceCollapse: thresholds.variance_collapse_threshold,
      formatGaming: thresholds.format_gaming_threshold,
      repetition: thresholds.repetition_threshold,
      emptyContent: thresholds.empty_content_threshold,
      diversityCollapse: thresholds.diversity_collapse_threshold,
      rewardSpikeStd: thresholds.reward_spike_std,
    },
    nearDuplicates: 'off',
    singleCharacterAnswers: 'reject',
    conventions,
  };
  return new RewardQualityAssessor(options);
}

const originalNames = ({ rule, severity, message, evidence, component, responsesSeen }: Finding) => ({
  type: rule,
  severity,
  message,
  metrics: { ...evidence, ...(component !== undefined && { reward_name: component }) },
  timestamp: responsesSeen,
});

/** What the original does not measure is left out; the documented rate of gaming is that of our own conventions. */
const assessBatches: Adapter = (fixtureCase) => {
  const { inputs } = fixtureCase;
  const expected = fixtureCase.expected as { batches: Record<string, Record<string, number> | null>[] };
  const original = assessor(fixtureCase);
  const documented = assessor(fixtureCase, 'rlp');
  const batches = inputs.batches.map((given: FixtureCase['inputs'], index: number) => {
    const batch: AssessedBatch = {
      responses: given.responses ?? given.response_index.map((at: number) => inputs.pool[at]),
      rewards: given.rewards,
    };
    const { metrics, findings } = original.assessBatch(batch);
    const wanted = expected.batches[index]!;
    const flat = flatMetrics(metrics);
    const rate = documented.assessBatch(batch).metrics.suspectedFormatGaming;
    return {
      metrics: Object.fromEntries(Object.keys(wanted.metrics!).map((name) => [name, flat[name]])),
      alerts: findings.map(originalNames),
      formatted_gaming_rate: wanted.formatted_gaming_rate === null ? null : rate,
    };
  });
  const summary = original.getSummaryStatistics();
  return {
    batches,
    summary: {
      total_samples: summary.totalSamples,
      window_size: summary.windowSize,
      total_alerts: summary.totalAlerts,
      alerts_by_severity: summary.alertsBySeverity,
      alerts_by_type: summary.alertsByRule,
      reward_statistics: summary.rewardStatistics,
    },
  };
};

const monitor: Adapter = (fixtureCase) => {
  const { inputs, params } = fixtureCase;
  const interventions: unknown[] = [];
  const watched = new RewardQualityMonitor({
    assessor: assessor(fixtureCase),
    config: {
      enableInterventions: params.enable_interventions,
      interventionSeverity: params.intervention_severity,
      alertAggregationWindow: params.alert_aggregation_window,
      maxAlertsPerWindow: params.max_alerts_per_window,
      customAlertCallback: ({ responsesSeen, rule, severity }) => {
        interventions.push([responsesSeen, rule, severity]);
      },
    },
  });
  for (const batch of inputs.batches) watched.monitorBatch(batch);
  const { monitoring } = watched.getMonitoringSummary();
  return {
    interventions,
    monitoring: {
      total_alerts_by_severity: monitoring.totalAlertsBySeverity,
      total_alerts_by_type: monitoring.totalAlertsByRule,
      recent_alert_rate: monitoring.recentAlertRate,
    },
    alerts_by_type: monitoring.totalAlertsByRule,
  };
};

/** The reward is the number of characters, one more where it equals the reference. */
const wrappedReward: Adapter = ({ inputs, params }) => {
  const assessments: unknown[] = [];
  const watched = new RewardQualityMonitor();
  const monitorBatch = watched.monitorBatch.bind(watched);
  watched.monitorBatch = ({ step, responses, rewards }) => {
    assessments.push({ step, responses, rewards });
    return monitorBatch({ step, responses, rewards });
  };
  const reward = monitoredReward(
    (response: string, reference: string) => Array.from(response).length + (response === reference ? 1 : 0),
    {
      name: 'len',
      monitor: watched,
      batchInterval: params.batch_interval,
      monitoring: params.enable_monitoring ? 'on' : 'off',
    },
  );
  const rewards = inputs.calls.map(([response, reference]: [string, string]) => reward(response, reference));
  const before = assessments.length;
  if (inputs.flush) reward.flush();
  return { rewards, assessments_before_flush: before, assessments, pending: reward.pending };
};

/** Metrics of responses by themselves, in a batch without rewards. */
const metricsOf = (responses: readonly string[]) =>
  flatMetrics(
    new RewardQualityAssessor({ conventions: 'tunrex' }).assessBatch({ responses, rewards: {} }).metrics,
  );

export const qualityMonitor: AdapterTable = {
  reward_quality_monitor: {
    assess_batches: assessBatches,
    assess_batches_default: assessBatches,
    repetition_score: ({ inputs }) => ({ score: metricsOf([inputs.text]).repetition_rate }),
    is_empty: ({ inputs }) => ({ empty: metricsOf([inputs.text]).empty_content_rate === 1 }),
    lexical_diversity: ({ inputs }) => ({ value: metricsOf(inputs.responses).lexical_diversity }),
    monitor,
    wrapped_reward: wrappedReward,
  },
};
