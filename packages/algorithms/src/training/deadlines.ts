import { type NamedSchema, timerMs } from '@rlp/core';
import * as z from 'zod';

const backendShape = {
  /** Longest call of a backend, or of the sampler's `updateWeights`, in milliseconds. Default 3600000 (1 hour). */
  backendMs: timerMs.default(3_600_000),
  /** Waiting time before a note says what the run waits for, in milliseconds. Said again after twice that. Default 30000. */
  noteMs: timerMs.default(30_000),
};

const fields = z.strictObject({
  /** Longest time in which no group gets its rewards while groups wait, in milliseconds. Default 1800000 (30 minutes). */
  rewardsMs: timerMs.default(1_800_000),
  ...backendShape,
});

/** How long a run waits for others. */
export interface DeadlineOptions extends z.input<typeof fields> {}

/** {@link DeadlineOptions} with every default filled in. */
export interface Deadlines extends z.output<typeof fields> {}

/** Schema of {@link DeadlineOptions}. */
export const deadlinesSchema: NamedSchema<DeadlineOptions, Deadlines> = fields;

const backendFields = z.strictObject(backendShape);

/** How long a run over fixed data waits for others. */
export interface BackendDeadlineOptions extends z.input<typeof backendFields> {}

/** {@link BackendDeadlineOptions} with every default filled in. */
export interface BackendDeadlines extends z.output<typeof backendFields> {}

/** Schema of {@link BackendDeadlineOptions}. */
export const backendDeadlinesSchema: NamedSchema<BackendDeadlineOptions, BackendDeadlines> = backendFields;
