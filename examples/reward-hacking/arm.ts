import { GRPOAlgorithm } from '@rlp/algorithms';
import type { Finding, Metrics, Weights } from '@rlp/core';
import { type ArithmeticMetadata, SimpleTextEnvironment, taskSource } from '@rlp/env';
import { hackingRule, type MonitorSink } from '@rlp/quality-monitor';
import { Checkpoints } from './checkpoints.ts';
import { additionReward } from './flawed-reward.ts';
import { accuracyOf } from './held-out.ts';
import type { Setting } from './setting.ts';
import { newMonitor } from './watching.ts';

/** One telling of the story: what is paid, and who watches. */
export const arms = {
  /** Right answers alone are paid; watched, to see that learning raises no alarm. */
  honest: { reward: 'honest', monitor: 'watches' },
  /** The flawed reward, and nobody looks. */
  unwatched: { reward: 'flawed', monitor: 'none' },
  /** The monitor looks on. */
  watched: { reward: 'flawed', monitor: 'watches' },
  /** The monitor has the loop go back and pay less for the keyword. */
  saved: { reward: 'flawed', monitor: 'intervenes' },
} as const;

export type ArmName = keyof typeof arms;

/** What became of an arm. */
export interface ArmRecord {
  /** Held-out accuracy before the first iteration, then after each. Shape: `[iterations + 1]`. */
  readonly heldOut: readonly number[];
  /** Keywords in a sampled response, on average. Shape: `[iterations]`. */
  readonly keywords: readonly number[];
  /** Suspicions of reward hacking. */
  readonly alarms: readonly Finding[];
  /** What the loop did for the monitor. */
  readonly notes: readonly string[];
}

/** Where an arm's records go, and when it ends early. */
export interface ArmContext {
  readonly directory: string;
  readonly sinks?: readonly MonitorSink[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Gets each iteration's metrics. */
  readonly onIteration?: ((iteration: number, metrics: Metrics) => void) | undefined;
}

/** GRPO from the imitated weights, as the arm has it. @throws the signal's reason when it ends the run. */
export async function runArm(
  name: ArmName,
  setting: Setting,
  imitated: Weights,
  { directory, sinks = [], signal, onIteration }: ArmContext,
): Promise<ArmRecord> {
  const { seed, tokenizer, practice, pay } = setting;
  const policy = await setting.newPolicy(practice, imitated);
  const checkpoints = new Checkpoints(directory, policy.backend);
  const monitor = newMonitor(arms[name].monitor, sinks);
  const grpo = new GRPOAlgorithm(
    {
      environment: new SimpleTextEnvironment<ArithmeticMetadata>(),
      tasks: taskSource(setting.practised, { seed }),
      sampler: policy.sampler,
      backend: policy.backend,
      tokenizer,
      rewards: additionReward(arms[name].reward === 'honest' ? { ...pay, keywordWeight: 0 } : pay),
      monitor,
      interventions: { rollBack: () => checkpoints.goBack() },
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
  const heldOut = [await accuracyOf(policy, setting, signal)];
  const keywords: number[] = [];
  const alarms: Finding[] = [];
  const notes: string[] = [];
  try {
    for await (const report of grpo.run({ numIterations: practice.iterations, signal })) {
      const accuracy = await accuracyOf(policy, setting, signal);
      heldOut.push(accuracy);
      keywords.push(report.metrics['reward/component/reasoning_words'] ?? 0);
      alarms.push(...report.findings.filter(({ rule }) => rule === hackingRule));
      notes.push(...report.notes.map((note) => `iteration ${report.iteration}: ${note}`));
      await checkpoints.consider(report);
      onIteration?.(report.iteration, { ...report.metrics, 'held-out/accuracy': accuracy });
    }
    signal?.throwIfAborted();
  } finally {
    await monitor?.close();
    await policy.close();
  }
  return { heldOut, keywords, alarms, notes };
}
