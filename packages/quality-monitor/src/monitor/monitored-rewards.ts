import { ArgumentError } from '@rlp/core';
import { createDefaultMonitor } from './create-default-monitor.ts';
import type { RewardQualityMonitor } from './monitor.ts';
import { ledgerOf, type RewardLedger } from './reward-ledger.ts';

/** Scores one response. What else it takes, such as a reference, comes after. */
export type PointwiseReward<Rest extends readonly unknown[] = readonly unknown[]> = (
  response: string,
  ...rest: Rest
) => number | null | Promise<number | null>;

/** Scores a batch of responses: one number for each, in order. */
export type BatchReward<Rest extends readonly unknown[] = readonly unknown[]> = (
  responses: readonly string[],
  ...rest: Rest
) => readonly (number | null)[] | Promise<readonly (number | null)[]>;

/** A reward function whose monitor can be told to assess what it has not assessed yet. */
export type Monitored<Reward> = Reward & {
  /** Assesses what is still pending, also of the monitor's other functions; call it once training is over. */
  flush(): void;
  /** Responses with this reward that wait to be assessed. */
  readonly pending: number;
};

/** Options of {@link monitoredReward} and {@link monitoredBatchReward}. */
export interface MonitoredRewardOptions {
  /** Names the reward in metrics and alerts. */
  readonly name: string;
  readonly monitor: RewardQualityMonitor;
  /** Responses between two assessments; of functions with one monitor, responses that have the rewards of all. Default 10. */
  readonly batchInterval?: number | undefined;
  /** `'off'` leaves the function as it is. Default `'on'`. */
  readonly monitoring?: 'on' | 'off' | undefined;
}

/** What a wrapped function tells its monitor. */
class Column {
  readonly #options: MonitoredRewardOptions;
  readonly #interval: number;
  readonly #ledger: RewardLedger;

  constructor(options: MonitoredRewardOptions) {
    const { name, monitor, batchInterval = 10 } = options;
    if (!Number.isInteger(batchInterval) || batchInterval < 1) {
      throw new ArgumentError(
        `monitored rewards: batchInterval must be a whole number above 0, got ${batchInterval}`,
      );
    }
    this.#options = options;
    this.#interval = batchInterval;
    this.#ledger = ledgerOf(monitor);
    if (options.monitoring !== 'off') this.#ledger.join(name);
  }

  get pending(): number {
    return this.#ledger.pending(this.#options.name);
  }

  add(response: string, reward: number | null): void {
    const { name, monitoring } = this.#options;
    if (monitoring !== 'off') this.#ledger.add(name, response, reward, this.#interval);
  }

  flush(): void {
    this.#ledger.flush();
  }
}

/**
 * A reward function whose responses and rewards a monitor sees. Its results, and what it throws, stay as they are. Functions with
 * one monitor are assessed together: each response with all its rewards, their sum being its reward.
 *
 * @throws ArgumentError for a `batchInterval` that is no whole number above 0.
 */
export function monitoredReward<Reward extends PointwiseReward<never>>(
  reward: Reward,
  options: MonitoredRewardOptions,
): Monitored<Reward> {
  const column = new Column(options);
  const wrapped = (response: string, ...rest: never) => {
    const result = reward(response, ...rest);
    if (!(result instanceof Promise)) {
      column.add(response, result);
      return result;
    }
    return result.then((value) => {
      column.add(response, value);
      return value;
    });
  };
  return withFlush(wrapped as unknown as Reward, column);
}

/** The same for a function that scores whole batches. */
export function monitoredBatchReward<Reward extends BatchReward<never>>(
  reward: Reward,
  options: MonitoredRewardOptions,
): Monitored<Reward> {
  const column = new Column(options);
  const remember = (responses: readonly string[], values: readonly (number | null)[]) => {
    // Of values that are not one for each, nobody can say which response they belong to.
    const isFitting = values?.length === responses.length;
    for (const [at, response] of responses.entries()) {
      column.add(response, isFitting ? (values[at] ?? null) : null);
    }
    return values;
  };
  const wrapped = (responses: readonly string[], ...rest: never) => {
    const result = reward(responses, ...rest);
    return result instanceof Promise
      ? result.then((values) => remember(responses, values))
      : remember(responses, result);
  };
  return withFlush(wrapped as unknown as Reward, column);
}

function withFlush<Reward extends object>(reward: Reward, column: Column): Monitored<Reward> {
  return Object.defineProperty(Object.assign(reward, { flush: () => column.flush() }), 'pending', {
    get: () => column.pending,
  }) as Monitored<Reward>;
}

/** What {@link createMonitoredRewardFunctions} makes. */
export interface MonitoredRewardFunctions<Rewards> {
  /** The wrapped functions, under the same names. */
  readonly functions: { readonly [Name in keyof Rewards]: Monitored<Rewards[Name]> };
  readonly monitor: RewardQualityMonitor;
  /** Flushes all of them. */
  flush(): void;
}

/**
 * Wraps named reward functions so that one monitor sees what each of them scores: `options.monitor`, or a `createDefaultMonitor()`.
 *
 * @example
 * const { functions, monitor, flush } = createMonitoredRewardFunctions({ format, accuracy });
 */
export function createMonitoredRewardFunctions<
  Rewards extends Readonly<Record<string, PointwiseReward<never>>>,
>(
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
  return {
    functions,
    monitor,
    flush: () => ledgerOf(monitor).flush(),
  };
}
