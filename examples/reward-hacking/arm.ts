import { join } from 'node:path';
import { GRPOAlgorithm } from '@rlp/algorithms';
import type { Metrics, MetricsLogger, Weights } from '@rlp/core';
import { type ArithmeticMetadata, SimpleTextEnvironment, taskSource } from '@rlp/env';
import { hackingRule, type RewardQualityMonitor } from '@rlp/quality-monitor';
import { Checkpoints } from './checkpoints.ts';
import { additionReward } from './flawed-reward.ts';
import { accuracyOf } from './held-out.ts';
import { type ArmRecord, loadArm, saveArm } from './progress.ts';
import type { Policy, Setting } from './setting.ts';
import { newMonitor } from './watching.ts';

/** One telling of the story: what is paid, and who watches. */
export const arms = {
  /** Right answers alone are paid; watched, to see that learning raises no alarm. */
  honest: { reward: 'honest', monitor: 'watches' },
  /** The flawed reward; the monitor looks on. */
  watched: { reward: 'flawed', monitor: 'watches' },
  /** The monitor has the loop go back and pay less for the keyword. */
  saved: { reward: 'flawed', monitor: 'intervenes' },
} as const;

export type ArmName = keyof typeof arms;

/** Where an arm's records go, how it begins and when it ends early. */
export interface ArmContext {
  readonly directory: string;
  /** `resumed`: from where an earlier process was interrupted in it. */
  readonly start?: 'anew' | 'resumed' | undefined;
  readonly loggers?: readonly MetricsLogger[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Gets each iteration's metrics. */
  readonly onIteration?: ((iteration: number, metrics: Metrics) => void) | undefined;
}

/**
 * GRPO from the imitated weights, as the arm has it. Interrupted, it leaves what it takes to go on.
 *
 * @throws the signal's reason when it ends the run.
 */
export async function runArm(
  name: ArmName,
  setting: Setting,
  imitated: Weights,
  { directory, start = 'anew', loggers = [], signal, onIteration }: ArmContext,
): Promise<ArmRecord> {
  const { practice } = setting;
  const policy = await setting.newPolicy(practice, imitated);
  const resumed = start === 'resumed' ? await loadArm(directory, policy.backend) : undefined;
  const checkpoints = new Checkpoints(join(directory, 'good'), policy.backend, resumed?.checkpoints);
  const monitor = newMonitor(arms[name].monitor, loggers);
  const record = resumed?.record ?? { heldOut: [], keywords: [], alarms: [], notes: [] };
  let { state, metrics } = resumed ?? {};
  const measure = async () => {
    const iterations = state?.iteration ?? 0;
    if (record.heldOut.length > iterations) return;
    const accuracy = await accuracyOf(policy, setting, signal);
    record.heldOut.push(accuracy);
    if (metrics !== undefined) onIteration?.(iterations - 1, { ...metrics, 'held-out/accuracy': accuracy });
    metrics = undefined;
  };
  try {
    await policy.sampler.updateWeights(await policy.backend.publish());
    await measure();
    const grpo = algorithmOf(name, setting, { policy, monitor, rollBack: () => checkpoints.goBack() });
    for await (const report of grpo.run({ iterations: practice.iterations, resume: state, signal })) {
      ({ state, metrics } = report);
      record.keywords.push(metrics['reward/component/reasoning_words'] ?? 0);
      record.alarms.push(...report.findings.filter(({ rule }) => rule === hackingRule));
      record.notes.push(...report.notes.map((note) => `iteration ${report.iteration}: ${note}`));
      await checkpoints.consider(report);
      await measure();
    }
    signal?.throwIfAborted();
  } finally {
    if (signal?.aborted && state !== undefined) {
      const progress = { record, checkpoints: [...checkpoints.iterations], ...(metrics && { metrics }) };
      await saveArm(directory, policy.backend, state, progress);
    }
    await monitor.close();
    await policy.close();
  }
  return record;
}

/** What an arm's algorithm works with. */
interface Parts {
  readonly policy: Policy;
  readonly monitor: RewardQualityMonitor;
  readonly rollBack: () => Promise<void>;
}

function algorithmOf(name: ArmName, setting: Setting, { policy, monitor, rollBack }: Parts) {
  const { seed, tokenizer, practice, pay } = setting;
  return new GRPOAlgorithm(
    {
      environment: new SimpleTextEnvironment<ArithmeticMetadata>(),
      tasks: taskSource(setting.practised, { seed }),
      sampler: policy.sampler,
      backend: policy.backend,
      tokenizer,
      rewards: additionReward(arms[name].reward === 'honest' ? { ...pay, keywordWeight: 0 } : pay),
      monitor,
      interventions: { rollBack },
      clock: () => performance.now(),
    },
    {
      seed,
      tasksPerIteration: practice.tasksPerIteration,
      advantage: { scale: 'none' },
      loss: { clipHigh: 0.28 },
      rollout: { seed, groupSize: practice.groupSize, sampling: { maxTokens: setting.maxTokens } },
    },
  );
}
