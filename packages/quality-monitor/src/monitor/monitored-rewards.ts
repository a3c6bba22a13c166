import {
  ArgumentError,
  having,
  parseOptions,
  promptText,
  type ScoredTrajectory,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import { loggedResponse, loggedText } from '../text/logged-text.ts';
import { createDefaultMonitor } from './create-default-monitor.ts';
import type { RewardQualityMonitor } from './monitor.ts';
import { type LedgerEntry, ledgerOf } from './reward-ledger.ts';

type Scores = number | null | readonly (number | null)[];

/** A `RewardComputer` of any metadata. */
interface AnyRewardComputer {
  readonly computeRewards: (...given: never) => Promise<readonly ScoredTrajectory[]>;
}

/**
 * What scores responses, synchronous or not:
 *
 * - a function of one response, which returns its score. Further arguments, such as a reference, follow
 * - a function of several responses, which returns one score for each
 * - a `RewardFunction` or a `RewardComputer` of `@rlp/core`, such as those of `@rlp/rewards`
 */
export type AnyReward = ((...given: never) => Scores | Promise<Scores>) | AnyRewardComputer;

/** A reward that reports to a monitor. */
export type Monitored<Reward> = Reward & {
  /** Assesses what is pending, of all rewards of the monitor. Call it after training. */
  flush(): void;
  /** Responses with this reward that are not assessed yet. */
  readonly pending: number;
};

const schema = z.strictObject({
  /** Name of the reward in metrics and alerts. Required. */
  name: z.string(),
  /** Monitor that assesses the responses and their rewards. Required. */
  monitor: having<RewardQualityMonitor>('monitorBatch', 'a RewardQualityMonitor'),
  /** Responses per assessment. They count once they have all rewards of the monitor. Default 10. */
  batchInterval: z.int().min(1).default(10),
  /** `'off'` does not report to the monitor. Default `'on'`. */
  monitoring: z.enum(['on', 'off']).default('on'),
});

/** Options of {@link monitoredReward}. */
export interface MonitoredRewardOptions extends z.input<typeof schema> {}

/**
 * Wraps a reward, so that a monitor sees responses and rewards. Results and errors stay the same.
 *
 * Rewards of one monitor are assessed together: each response with all its rewards.
 *
 * @throws ArgumentError if `reward` cannot score, OptionsError for bad options.
 */
export function monitoredReward<Reward extends AnyReward>(
  reward: Reward,
  options: MonitoredRewardOptions,
): Monitored<Reward> {
  const { name, monitor, batchInterval, monitoring } = parseOptions('monitoredReward', schema, options);
  if (typeof reward !== 'function' && !isComputer(reward)) {
    throw new ArgumentError(
      `monitoredReward: expected ${name} to be a function or a reward computer, got ${loggedText(reward) || String(reward)}`,
    );
  }
  const ledger = ledgerOf(monitor);
  if (monitoring === 'on') ledger.join(name);
  const hear = (result: unknown, given: unknown) => {
    if (monitoring === 'off') return;
    const scores = isComputer(reward)
      ? (result as readonly ScoredTrajectory[]).map((one): Score => [entryOf(one.trajectory), one.reward])
      : scoresOf(given, result);
    for (const [entry, score] of scores) ledger.add(name, entry, score, batchInterval);
  };
  return overheard(reward, hear, {
    flush: { value: () => ledger.flush() },
    pending: { get: () => ledger.pending(name) },
  }) as Monitored<Reward>;
}

type Score = readonly [scored: LedgerEntry, score: number | null];

/** Scores by a function. If it gives another number of values, it is unknown which response each belongs to. */
function scoresOf(given: unknown, result: unknown): Score[] {
  if (!Array.isArray(given) || typeof result === 'number' || result === null) {
    return [[entryOf(given), result as number | null]];
  }
  const values = Array.isArray(result) && result.length === given.length ? result : [];
  return given.map((one, at) => [entryOf(one), values[at] ?? null]);
}

/** A response as rewards get it: a text, a trajectory, or messages. */
function entryOf(given: unknown): LedgerEntry {
  if (typeof given === 'object' && given !== null && 'response' in given) {
    const { response, task } = given as Partial<Trajectory>;
    return { response: loggedResponse(response), prompt: task && promptText(task.prompt) };
  }
  return { response: loggedResponse(given) };
}

function isComputer(reward: unknown): reward is AnyRewardComputer {
  return typeof (reward as Partial<AnyRewardComputer> | null)?.computeRewards === 'function';
}

/** The same reward, with further members. `hear` gets the result of each call and its first argument. */
function overheard<Reward extends AnyReward>(
  reward: Reward,
  hear: (result: unknown, given: unknown) => void,
  further: PropertyDescriptorMap = {},
): Reward {
  const scores = (...given: unknown[]) => {
    const heard = (result: unknown) => {
      hear(result, given[0]);
      return result;
    };
    const result: unknown = isComputer(reward)
      ? reward.computeRewards(...(given as never))
      : reward(...(given as never));
    return result instanceof Promise ? result.then(heard) : heard(result);
  };
  const own = isComputer(reward) ? { computeRewards: scores } : {};
  const members = Object.defineProperties(own, further);
  // A proxy of a frozen object could not answer with another member.
  const isFixed = Object.isFrozen(reward) && typeof reward === 'object';
  return new Proxy(isFixed ? { ...reward } : reward, {
    apply: (_, __, given) => scores(...given),
    get: (_, key) => {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key);
      const value: unknown = Reflect.get(reward, key);
      return typeof value === 'function' && isComputer(reward) ? value.bind(reward) : value;
    },
  });
}

/** Result of {@link createMonitoredRewardFunctions}. */
export interface MonitoredRewardFunctions<Rewards> {
  /** The wrapped rewards by name. */
  readonly functions: { readonly [Name in keyof Rewards]: Monitored<Rewards[Name]> };
  readonly monitor: RewardQualityMonitor;
  /** Assesses what is pending. */
  flush(): void;
}

/**
 * Wraps named rewards for one monitor: `options.monitor`, or a `createDefaultMonitor()`.
 *
 * @example
 * const { functions, monitor, flush } = createMonitoredRewardFunctions({ format, accuracy });
 */
export function createMonitoredRewardFunctions<Rewards extends Readonly<Record<string, AnyReward>>>(
  rewards: Rewards,
  options: Partial<Omit<MonitoredRewardOptions, 'name'>> = {},
): MonitoredRewardFunctions<Rewards> {
  const monitor = options.monitor ?? createDefaultMonitor();
  const shared = { ...options, monitor };
  const functions = Object.fromEntries(
    Object.entries(rewards).map(([name, reward]) => [name, monitoredReward(reward, { ...shared, name })]),
  ) as MonitoredRewardFunctions<Rewards>['functions'];
  return { functions, monitor, flush: () => ledgerOf(monitor).flush() };
}

/**
 * Attaches a monitor to a reward computer, such as one of a `RewardRegistry` of `@rlp/rewards`. Each scored group is one batch, with
 * all components.
 *
 * In a training loop pass `monitor` to the algorithm instead: there a batch is an iteration, and interventions are applied.
 */
export function monitoredRewards<Computer extends AnyRewardComputer>(
  computer: Computer,
  monitor: RewardQualityMonitor,
): Computer {
  return overheard(computer, (scored) => {
    monitor.observe({ iteration: monitor.step + 1, trajectories: scored as readonly ScoredTrajectory[] });
  });
}
