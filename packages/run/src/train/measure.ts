import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScoredTrajectory } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { RolloutManager } from '@rlp/rollout';
import { writeText } from '../folder/write-text.ts';
import type { Policy } from './policy.ts';
import type { PreparedRun } from './prepare.ts';

/** One response to a held-out task. */
export interface Answered {
  readonly task: string;
  readonly prompt: string;
  readonly answer?: string | undefined;
  readonly response: string;
  /** Score that says whether it is right. `null` if it could not be scored. */
  readonly score: number | null;
}

/** Result of an evaluation. */
export interface RunEvaluation {
  /** Share of right responses. Absent if nothing was scored. */
  readonly accuracy?: number;
  /** Bounds of the 95 % confidence interval. */
  readonly low?: number;
  readonly high?: number;
  readonly tasks: number;
  readonly answers: readonly Answered[];
}
