import { ArgumentError } from '@rlp/core';
import { RewardQualityMonitor } from './monitor.ts';

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

/** A reward function that can be told to assess what it has not assessed yet. */
export type Monitored<Reward> = Reward & {
  /** Assesses the calls that are still pending; call it once training is over. */
  flush(): void;
  /** Scored responses that wait to be assessed. */
  readonly pending: number;
};

/** Options of {@link monitoredReward} and {@link monitoredBatchReward}. */
export interface MonitoredRewardOptions {
  /** Names the reward in metrics and alerts. */
  readonly name: string;
  readonly monitor: RewardQualityMonitor;
  /** Responses between two assessments. Default 10. */
  readonly batchInterval?: number | undefined;
  /** `'off'` leaves the function as it is. Default `'on'`. */
  readonly monitoring?: 'on' | 'off' | undefined;
}

/** Responses and rewards that wait to be assessed. */
class Pending {
  readonly #options: MonitoredRewardOptions;
  readonly #interval: number;
  #responses: string[] = [];
  #rewards: (number | null)[] = [];
  #calls = 0;

  constructor(options: MonitoredRewardOptions) {
    const { batchInterval = 10 } = options;
    if (!Number.isInteger(batchInterval) || batchInterval < 1) {
      throw new ArgumentError(
        `monitored rewards: batchInterval must be a whole number above 0, got ${batchInterval}`,
      );
    }
    this.#options = options;
    this.#interval = batchInterval;
  }

  get count(): number {
    return this.#responses.length;
  }

  add(response: string, reward: number | null): void {
    if (this.#options.monitoring === 'off') return;
    this.#calls += 1;
    this.#responses.push(response);
    this.#rewards.push(reward);
    if (this.#responses.length >= this.#interval) this.flush();
  }

  flush(): void {
    if (this.#responses.length === 0) return;
    const { name, monitor } = this.#options;
    const [responses, rewards] = [this.#responses, this.#rewards];
    this.#responses = [];
    this.#rewards = [];
    const step = Math.max(this.#calls, monitor.step + 1);
    monitor.monitorBatch({ responses, rewards: { [name]: rewards }, step });
  }
}

/** A reward function whose responses and rewards a monitor sees. Its results, and what it throws, stay as they are. */
export function monitoredReward<Reward extends PointwiseReward<never>>(
  reward: Reward,
  options: MonitoredRewardOptions,
): Monitored<Reward> {
  const pending = new Pending(options);
  const wrapped = (response: string, ...rest: never) => {
    const result = reward(response, ...rest);
    if (!(result instanceof Promise)) {
      pending.add(response, result);
      return result;
    }
    return result.then((value) => {
      pending.add(response, value);
      return value;
    });
  };
  return withFlush(wrapped as unknown as Reward, pending);
}

/** The same for a function that scores whole batches. */
export function monitoredBatchReward<Reward extends BatchReward<never>>(
  reward: Reward,
  options: MonitoredRewardOptions,
): Monitored<Reward> {
  const pending = new Pending(options);
  const remember = (responses: readonly string[], values: readonly (number | null)[]) => {
    for (const [at, response] of responses.entries()) pending.add(response, values[at] ?? null);
    return values;
  };
  const wrapped = (responses: readonly string[], ...rest: never) => {
    const result = reward(responses, ...rest);
    return result instanceof Promise
      ? result.then((values) => remember(responses, values))
      : remember(responses, result);
  };
  return withFlush(wrapped as unknown as Reward, pending);
}

function withFlush<Reward extends object>(reward: Reward, pending: Pending): Monitored<Reward> {
  return Object.defineProperty(Object.assign(reward, { flush: () => pending.flush() }), 'pending', {
    get: () => pending.count,
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
 * Wraps named reward functions so that one monitor sees what each of them scores.
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
  const monitor = options.monitor ?? new RewardQualityMonitor();
  const functions = Object.fromEntries(
    Object.entries(rewards).map(([name, reward]) => [
      name,
      monitoredReward(reward, { ...options, name, monitor }),
    ]),
  ) as MonitoredRewardFunctions<Rewards>['functions'];
  return {
    functions,
    monitor,
    flush: () => {
      for (const reward of Object.values(functions)) reward.flush();
    },
  };
}
