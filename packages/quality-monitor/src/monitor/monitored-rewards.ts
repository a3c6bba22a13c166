import { ArgumentError, type RewardComputer } from '@rlp/core';
import { createDefaultMonitor } from './create-default-monitor.ts';
import type { RewardQualityMonitor } from './monitor.ts';
import { ledgerOf } from './reward-ledger.ts';

/** Scores one response. Further arguments, such as a reference, follow. */
export type PointwiseReward<Rest extends readonly unknown[] = readonly unknown[]> = (
  response: string,
  ...rest: Rest
) => number | null | Promise<number | null>;

/** Scores a batch of responses, one number for each, in order. */
export type BatchReward<Rest extends readonly unknown[] = readonly unknown[]> = (
  responses: readonly string[],
  ...rest: Rest
) => readonly (number | null)[] | Promise<readonly (number | null)[]>;

type AnyReward = PointwiseReward<never> | BatchReward<never>;

/** A reward function that reports to a monitor. */
export type Monitored<Reward> = Reward & {
  /** Assesses what is pending, of all functions of the monitor. Call it after training. */
  flush(): void;
  /** Responses with this reward that are not assessed yet. */
  readonly pending: number;
};

/** Options of {@link monitoredReward}. */
export interface MonitoredRewardOptions {
  /** Name of the reward in metrics and alerts. Required. */
  readonly name: string;
  /** Monitor that assesses the responses and their rewards. Required. */
  readonly monitor: RewardQualityMonitor;
  /** Responses per assessment. They count once they have the rewards of all functions of the monitor. Default 10. */
  readonly batchInterval?: number | undefined;
  /** `'off'` does not report to the monitor. Default `'on'`. */
  readonly monitoring?: 'on' | 'off' | undefined;
}

/**
 * Wraps a reward function, pointwise or for batches, so that a monitor sees responses and rewards.
 *
 * Results and errors stay the same. Functions of one monitor are assessed together: each response with all its rewards.
 *
 * @throws ArgumentError if `batchInterval` is not a whole number above 0.
 */
export function monitoredReward<Reward extends AnyReward>(
  reward: Reward,
  { name, monitor, batchInterval = 10, monitoring = 'on' }: MonitoredRewardOptions,
): Monitored<Reward> {
  if (!Number.isInteger(batchInterval) || batchInterval < 1) {
    throw new ArgumentError(
      `monitoredReward: expected batchInterval to be a whole number above 0, got ${batchInterval}`,
    );
  }
  const ledger = ledgerOf(monitor);
  if (monitoring === 'on') ledger.join(name);
  const record = (given: string | readonly string[], result: unknown) => {
    if (monitoring === 'off') return;
    if (typeof given === 'string') return ledger.add(name, given, result as number | null, batchInterval);
    // If the number of values differs, it is unknown which response each belongs to.
    const values = Array.isArray(result) && result.length === given.length ? result : undefined;
    for (const [at, response] of given.entries()) {
      ledger.add(name, response, values?.[at] ?? null, batchInterval);
    }
  };
  const wrapped = (given: never, ...rest: never[]) => {
    const result = (reward as (...all: never[]) => unknown)(given, ...rest);
    if (!(result instanceof Promise)) {
      record(given, result);
      return result;
    }
    return result.then((value) => {
      record(given, value);
      return value;
    });
  };
  const described = {
    flush: { value: () => ledger.flush() },
    pending: { get: () => ledger.pending(name) },
  };
  return Object.defineProperties(wrapped, described) as unknown as Monitored<Reward>;
}

/** Result of {@link createMonitoredRewardFunctions}. */
export interface MonitoredRewardFunctions<Rewards> {
  /** The wrapped functions by name. */
  readonly functions: { readonly [Name in keyof Rewards]: Monitored<Rewards[Name]> };
  readonly monitor: RewardQualityMonitor;
  /** Assesses what is pending. */
  flush(): void;
}

/**
 * Wraps named reward functions for one monitor: `options.monitor`, or a `createDefaultMonitor()`.
 *
 * @example
 * const { functions, monitor, flush } = createMonitoredRewardFunctions({ format, accuracy });
 */
export function createMonitoredRewardFunctions<Rewards extends Readonly<Record<string, AnyReward>>>(
  rewards: Rewards,
  options: Partial<Omit<MonitoredRewardOptions, 'name'>> = {},
): MonitoredRewardFunctions<Rewards> {
  const monitor = options.monitor ?? createDefaultMonitor();
  const functions = Object.fromEntries(
    Object.entries(rewards).map(([name, reward]) => [
      name,
      monitoredReward(reward, { ...options, name, monitor }),
    ]),
  ) as MonitoredRewardFunctions<Rewards>['functions'];
  return { functions, monitor, flush: () => ledgerOf(monitor).flush() };
}

/**
 * Attaches a monitor to a reward computer, such as one of a `RewardRegistry` of `@rlp/rewards`. Each scored group is one batch.
 *
 * In a training loop pass `monitor` to the algorithm instead: there a batch is an iteration, and interventions are applied.
 */
export function monitoredRewards<Metadata>(
  computer: RewardComputer<Metadata>,
  monitor: RewardQualityMonitor,
): RewardComputer<Metadata> {
  return {
    ...computer,
    async computeRewards(group, options) {
      const trajectories = await computer.computeRewards(group, options);
      monitor.observe({ iteration: monitor.step + 1, trajectories });
      return trajectories;
    },
  };
}
