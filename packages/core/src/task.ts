import * as z from 'zod';
import { plainRecord } from './field-names.ts';
import { type Message, messageSchema } from './message.ts';

/**
 * One problem, with what the policy sees and what its grader needs.
 *
 * `Metadata` is what the grader needs (a reference answer, unit tests, …). It types reward functions. One that
 * reads `metadata.answer` does not compile on tasks without it.
 */
export interface Task<Metadata = unknown> {
  /** Unique within a run. Names the task's random streams, its group and its records. */
  readonly id: string;
  readonly prompt: string | readonly Message[];
  readonly metadata: Metadata;
  /** Regular expression. A response that matches it ends the episode. */
  readonly terminationPattern?: string | undefined;
}

/**
 * An endless, resumable source of tasks.
 *
 * The sequence is a function of the seed of the source. `cursor` is the number of tasks taken, and `seek(cursor)` continues
 * there. So a resumed run sees the tasks that the interrupted run would have seen.
 */
export interface TaskSource<Metadata = unknown> {
  /** Tasks taken so far. */
  readonly cursor: number;
  /** Takes the next `count` tasks. */
  take(count: number): readonly Task<Metadata>[];
  /** Continues after the first `cursor` tasks. */
  seek(cursor: number): void;
}

/** Schema of a regular expression as text. */
export const patternSchema: z.ZodType<string> = z
  .string({ error: ({ input }) => (input instanceof RegExp ? 'must be text; pass its `source`' : undefined) })
  .refine((source) => {
    try {
      new RegExp(source);
      return true;
    } catch {
      return false;
    }
  }, 'must be a regular expression');

/** Schema of {@link Task} with metadata left as it is; JSON leaves out what is undefined. Further fields are left out. */
export const taskSchema = plainRecord({
  id: z.string(),
  prompt: z.union([z.string(), z.array(messageSchema)], 'expected text or a list of messages'),
  metadata: z.unknown().optional(),
  terminationPattern: patternSchema.optional(),
}) as unknown as z.ZodType<Task>;
