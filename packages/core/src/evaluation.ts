import * as z from 'zod';

/**
 * How an interval was computed.
 *
 * - `wilson`: Wilson's score interval, for one right or wrong answer per task.
 * - `wilson-clustered`: the same with the number of independent answers that the spread between tasks allows, for several
 *   answers per task.
 * - `t`: Student's t over the means of tasks, for graded scores.
 */
export type IntervalKind = 'wilson' | 'wilson-clustered' | 't';

/** A mean over tasks with its confidence interval. */
export interface Measure {
  readonly value: number;
  /** Ends of the confidence interval. Absent if there are too few tasks for one. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly interval: IntervalKind;
  /** Tasks with at least one scored response. */
  readonly tasks: number;
  /** Scored responses. */
  readonly responses: number;
}

/** Responses to one task, in the order they were sampled. */
export interface EvaluatedTask {
  readonly task: string;
  readonly category?: string | undefined;
  /** Rewards. `null` if a response could not be scored. */
  readonly rewards: readonly (number | null)[];
  /** Named parts of the rewards, before weighting. */
  readonly components: Readonly<Record<string, readonly (number | null)[]>>;
  /** Whether each response is right. Absent if scores are not right or wrong. */
  readonly correct?: readonly (boolean | null)[] | undefined;
  /** Sampled tokens of each response. */
  readonly tokens: readonly number[];
}

/** The numbers of one category. */
export interface EvaluatedCategory {
  readonly accuracy?: Measure | undefined;
  readonly reward?: Measure | undefined;
}

/** Responses without a score, and why. */
export interface UnscoredResponses {
  readonly count: number;
  /** Counts by cause, such as `reward "accuracy": threw`. */
  readonly causes: Readonly<Record<string, number>>;
}

/** Result of evaluating a policy on tasks. Numbers that nothing was scored for are absent. */
export interface Evaluation {
  readonly record: 'evaluation';
  readonly name: string;
  readonly seed: string;
  /** Version of the weights. */
  readonly policyVersion: number;
  /** Responses per task that were asked for. */
  readonly samples: number;
  /** Level of all intervals, such as 0.95. */
  readonly confidence: number;
  /** Share of right responses, each task counting the same. Absent if scores are not right or wrong. */
  readonly accuracy?: number | undefined;
  /** Ends of the confidence interval of the accuracy. Absent without an accuracy, or for one task that was sampled several times. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly interval?: IntervalKind | undefined;
  /** Mean reward. */
  readonly reward?: Measure | undefined;
  /** Means of the named parts of the reward. */
  readonly components: Readonly<Record<string, Measure>>;
  /** Probability that at least one of k responses is right, by k. */
  readonly passAt?: Readonly<Record<string, Measure>> | undefined;
  /** Share of tasks whose most frequent answer among k responses is right, by k. */
  readonly majorityAt?: Readonly<Record<string, Measure>> | undefined;
  readonly categories?: Readonly<Record<string, EvaluatedCategory>> | undefined;
  /** Sampled tokens per response. Absent if there is no response. */
  readonly lengths?:
    | { readonly mean: number; readonly median: number; readonly p90: number; readonly max: number }
    | undefined;
  /** Share of responses that a limit on tokens or turns cut. */
  readonly truncated?: number | undefined;
  readonly unscored: UnscoredResponses;
  /** What a reader has to know before trusting the numbers. */
  readonly notes: readonly string[];
  readonly tasks: readonly EvaluatedTask[];
}

const measureSchema = z.strictObject({
  value: z.number(),
  low: z.number().optional(),
  high: z.number().optional(),
  interval: z.enum(['wilson', 'wilson-clustered', 't']),
  tasks: z.int().positive(),
  responses: z.int().positive(),
});

const share = z.number().min(0).max(1);
const scores = z.array(z.number().nullable());

/** Schema of {@link Evaluation}. */
export const evaluationSchema: z.ZodType<Evaluation> = z.strictObject({
  record: z.literal('evaluation'),
  name: z.string(),
  seed: z.string(),
  policyVersion: z.int().nonnegative(),
  samples: z.int().positive(),
  confidence: z.number().gt(0).lt(1),
  accuracy: share.optional(),
  low: share.optional(),
  high: share.optional(),
  interval: z.enum(['wilson', 'wilson-clustered', 't']).optional(),
  reward: measureSchema.optional(),
  components: z.record(z.string(), measureSchema),
  passAt: z.record(z.string(), measureSchema).optional(),
  majorityAt: z.record(z.string(), measureSchema).optional(),
  categories: z
    .record(
      z.string(),
      z.strictObject({ accuracy: measureSchema.optional(), reward: measureSchema.optional() }),
    )
    .optional(),
  lengths: z
    .strictObject({ mean: z.number(), median: z.number(), p90: z.number(), max: z.number() })
    .optional(),
  truncated: share.optional(),
  unscored: z.strictObject({
    count: z.int().nonnegative(),
    causes: z.record(z.string(), z.int().positive()),
  }),
  notes: z.array(z.string()),
  tasks: z.array(
    z.strictObject({
      task: z.string(),
      category: z.string().optional(),
      rewards: scores,
      components: z.record(z.string(), scores),
      correct: z.array(z.boolean().nullable()).optional(),
      tokens: z.array(z.int().nonnegative()),
    }),
  ),
});
