import * as z from 'zod';
import { requireArguments, requireFields } from './options/require-arguments.ts';
import { type RewardFailure, type ScoredTrajectory, type TokenId, trajectorySchema } from './trajectory.ts';

/** A list with one number per token of a step. Shape: `[T]`. */
type PerToken = readonly number[];

/** What a run knew of one step when it learned from it. Everything is optional. */
export interface StepTrace {
  /** Text of each token. Joined, they are what the policy wrote, its marks included. Shape: `[T]`. */
  readonly tokenTexts?: readonly string[] | undefined;
  /** 1 where the token is trained, else 0. */
  readonly mask?: PerToken | undefined;
  /** What the loss took as advantage. */
  readonly advantages?: PerToken | undefined;
  /** `π(token) / π_b(token)`: policy before the first update over behaviour policy. */
  readonly ratios?: PerToken | undefined;
  /** Entropy of the policy before each token, in nats. */
  readonly entropies?: PerToken | undefined;
  /** How much better the episode did than its group. */
  readonly episodeAdvantage?: number | undefined;
  /** How much better it went on from this state than other episodes did. */
  readonly stepAdvantage?: number | undefined;
  /** Discounted sum of the rewards from this step on. */
  readonly returnToGo?: number | undefined;
  /** The state that the step is compared in, and how many steps of the group are compared, this one included. */
  readonly anchor?: { readonly state: string; readonly steps: number } | undefined;
}

/** A scored trajectory as a run writes it down for people to look at. */
export interface RecordedTrajectory<Metadata = unknown, Outcome = unknown>
  extends ScoredTrajectory<Metadata, Outcome> {
  /** Training iteration that learned from it. */
  readonly iteration?: number | undefined;
  /** What was known of each step, in their order. */
  readonly trace?: readonly StepTrace[] | undefined;
}

/** The record with the text of each token, where it has none. */
export function withTokenTexts<Metadata, Outcome>(
  record: RecordedTrajectory<Metadata, Outcome>,
  tokenTexts: (tokens: readonly TokenId[]) => readonly string[],
): RecordedTrajectory<Metadata, Outcome> {
  requireArguments('withTokenTexts', { tokenTexts: 'function' }, tokenTexts);
  requireFields('withTokenTexts', { trajectory: 'object' }, record);
  requireFields('withTokenTexts', { steps: 'objects' }, record.trajectory);
  const trace = record.trajectory.steps.map(({ tokens }, index) => {
    return { tokenTexts: tokenTexts(tokens), ...record.trace?.[index] };
  });
  return { ...record, trace };
}

const perToken = z.array(z.number());

/** Schema of {@link StepTrace}. */
export const stepTraceSchema: z.ZodType<StepTrace> = z.strictObject({
  tokenTexts: z.array(z.string()).optional(),
  mask: perToken.optional(),
  advantages: perToken.optional(),
  ratios: perToken.optional(),
  entropies: perToken.optional(),
  episodeAdvantage: z.number().optional(),
  stepAdvantage: z.number().optional(),
  returnToGo: z.number().optional(),
  anchor: z.strictObject({ state: z.string(), steps: z.int().positive() }).optional(),
});

/** Schema of {@link RewardFailure}. */
export const rewardFailureSchema: z.ZodType<RewardFailure> = z.strictObject({
  source: z.string(),
  cause: z.enum(['threw', 'timed-out', 'not-finite', 'unreadable']),
  message: z.string(),
});

/** Schema of {@link RecordedTrajectory}. */
export const recordedTrajectorySchema: z.ZodType<RecordedTrajectory> = z
  .strictObject({
    trajectory: trajectorySchema,
    reward: z.number().nullable(),
    components: z.record(z.string(), z.number().nullable()),
    failures: z.array(rewardFailureSchema).optional(),
    iteration: z.int().nonnegative().optional(),
    trace: z.array(stepTraceSchema).optional(),
  })
  .superRefine(({ trajectory: { steps }, trace }, context) => {
    if (trace === undefined) return;
    if (trace.length !== steps.length) {
      const message = `must hold one entry per step, got ${trace.length} for ${steps.length}`;
      context.addIssue({ code: 'custom', path: ['trace'], message });
      return;
    }
    for (const [index, traced] of trace.entries()) {
      const { length } = steps[index]!.tokens;
      for (const [name, values] of Object.entries(traced)) {
        if (!Array.isArray(values) || values.length === length) continue;
        const message = `must hold one entry per token, got ${values.length} for ${length}`;
        context.addIssue({ code: 'custom', path: ['trace', index, name], message });
      }
    }
  });
