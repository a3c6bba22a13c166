import { timerMs } from '@rlp/core';
import * as z from 'zod';

/** Schema of the deadlines of all runs. */
export const deadlinesSchema = z.strictObject({
  /** Longest time in which no group gets its rewards while groups wait, in milliseconds. Default 1800000 (30 minutes). */
  rewardsMs: timerMs.default(1_800_000),
  /** Longest call of a backend, or of the sampler's `updateWeights`, in milliseconds. Default 3600000 (1 hour). */
  backendMs: timerMs.default(3_600_000),
  /** Waiting time before a note says what the run waits for, in milliseconds. Said again after twice that. Default 30000. */
  noteMs: timerMs.default(30_000),
});

/** How long a run waits. */
export type Deadlines = z.output<typeof deadlinesSchema>;
