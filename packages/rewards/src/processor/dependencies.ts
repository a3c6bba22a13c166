import * as z from 'zod';
import type { ExternalSource } from './external.ts';
import type { FluencyScorer } from './fluency-scorer.ts';

/** What a processor works with, besides its config. */
export interface RewardDependencies extends ExternalSource {
  /** Judges fluency with a model. Default: `fluencyReward`, which needs none. */
  readonly fluencyScorer?: FluencyScorer | undefined;
  /** The reference answer of an example. Default `referenceOf`. */
  readonly reference?: ((metadata: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /** Milliseconds since any fixed point. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
}

const given = z.any().optional();

/** Schema of {@link RewardDependencies}. It checks names and numbers. What is called says itself what it is not, and pages stay small. */
export const dependenciesSchema = z.strictObject({
  external: given,
  externalShare: z.number().min(0).max(1).default(0.7),
  fetch: given,
  fluencyScorer: given,
  reference: given,
  clock: given,
} satisfies Record<keyof RewardDependencies, z.ZodType>);
