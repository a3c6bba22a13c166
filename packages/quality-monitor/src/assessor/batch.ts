import { ArgumentError } from '@rlp/core';
import type { BatchQuality } from './metrics.ts';
import type { RewardStatistics, RewardWindow, SpikeHistory } from './reward-window.ts';

/** Responses and rewards to assess. */
export interface AssessedBatch {
  readonly responses: readonly string[];
  /** One value per response for each reward. `null` or a value that is not finite counts as missing. */
  readonly rewards: Readonly<Record<string, readonly (number | null)[]>>;
  /** Names the responses in findings. Default: their indices, `'0'`, `'1'`… */
  readonly ids?: readonly string[] | undefined;
  /** Task of each response. Default: each response is its own task. */
  readonly tasks?: readonly string[] | undefined;
  /** Iteration of the findings. Default: batches assessed before. */
  readonly iteration?: number | undefined;
}

/** A batch with what was measured on it. The windows hold it already. */
export interface MeasuredBatch extends AssessedBatch {
  readonly tasks: readonly string[];
  readonly iteration: number;
  readonly quality: BatchQuality;
  /** Windows of all rewards, and the statistics of those with values. */
  readonly windows: ReadonlyMap<string, RewardWindow>;
  readonly statistics: Readonly<Record<string, RewardStatistics>>;
  /** Rewards of the batch with enough values to be judged, and those with a history that spikes are measured against. */
  readonly judged: readonly string[];
  readonly histories: ReadonlyMap<string, SpikeHistory>;
  /** Recent responses, and the different ones among them. Absent if they are too few to judge diversity. */
  readonly recent?: { readonly different: number; readonly count: number } | undefined;
}

/** @throws ArgumentError if a reward does not have one value per response. */
export function checkLengths({ responses, rewards }: AssessedBatch): void {
  const problems = Object.entries(rewards).flatMap(([name, values]) =>
    values.length === responses.length ? [] : [`"${name}" has ${values.length}`],
  );
  if (problems.length === 0) return;
  throw new ArgumentError(
    `assessBatch: expected one reward per response (${responses.length}), but ${problems.join(', ')}`,
  );
}
