import { OptionsError, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { ratioLevels } from './importance-ratio.ts';
import { klEstimators } from './kl-estimate.ts';
import { samplerCorrections } from './sampler-correction.ts';
import { type SurrogateParameters, surrogateDefaults, surrogateKinds } from './surrogates.ts';

const gammaSchema = z.strictObject({ power: z.number().nonnegative(), rate: z.number().min(1e-4) });

/** The surrogates' own parameters. */
const surrogateShape = {
  clipLow: z.number().min(0).optional(),
  clipHigh: z.number().gt(-1).optional(),
  dualClip: z.number().gt(1).optional(),
  ratioCap: z.number().gt(1).optional(),
  temperaturePositive: z.number().positive().optional(),
  temperatureNegative: z.number().positive().optional(),
  divergence: z.enum(['total-variation', 'kl']).optional(),
  divergenceLow: z.number().nonnegative().optional(),
  divergenceHigh: z.number().nonnegative().optional(),
  dropped: z.enum(['outward', 'both']).optional(),
  gammaPositive: gammaSchema.optional(),
  gammaNegative: gammaSchema.optional(),
};

const computedCorrections = Object.keys(samplerCorrections) as (keyof typeof samplerCorrections)[];
const corrections = [...computedCorrections, 'column', 'none'] as const;

/** The options of `policyLoss` without `proximal`, which a loop can choose by itself. */
export const policyLossShape = {
  surrogate: z.enum(surrogateKinds).default('clip'),
  ratio: z.enum(ratioLevels).default('token'),
  ...surrogateShape,
  logRatioLimit: z.number().positive().default(20),
  logRatioCap: z.number().positive().optional(),
  countEpsilon: z.number().positive().optional(),
  correction: z.enum(corrections).default('sequence-mask'),
  correctionCap: z.number().positive().default(3),
  correctionFloor: z.number().positive().optional(),
  offPolicyThreshold: z.number().nonnegative().optional(),
  keep: z.enum(['all', 'column']).default('all'),
  klCoefficient: z.union([z.number().nonnegative(), z.literal('column')]).default(0),
  klEstimator: z.enum(klEstimators).default('k3'),
  klGradient: z.enum(['own', 'k2']).default('own'),
  klLimit: z.number().positive().optional(),
  klWeight: z.enum(['one', 'ratio']).default('one'),
  proximalKlCoefficient: z.number().nonnegative().default(0),
  proximalKlEstimator: z.enum(klEstimators).default('absolute'),
  proximalKlTokens: z.enum(['all', 'column']).default('all'),
  entropyCoefficient: z.union([z.number(), z.literal('column')]).default(0),
};

/** A ratio's lower bound is at least 0; GMPO's is that of a log-ratio. */
export function boundsRatios({
  surrogate,
  clipLow = 0,
}: {
  readonly surrogate: string;
  readonly clipLow?: number | undefined;
}): boolean {
  return surrogate === 'gmpo' || clipLow <= 1;
}

/** What is wrong where {@link boundsRatios} does not hold. */
export const boundsNoRatio = {
  path: ['clipLow'],
  message: "must be at most 1, where the ratio's lower bound is 0",
};

const schema = z
  .strictObject({
    ...policyLossShape,
    proximal: z.enum(['current', 'column', 'behavior']).default('current'),
  })
  .refine(({ proximal, correction }) => proximal !== 'behavior' || !isComputed(correction), {
    path: ['correction'],
    message: "must be 'none' or 'column' when proximal is 'behavior': the ratio already contains the gap",
  })
  .refine(boundsRatios, boundsNoRatio)
  .refine(({ correctionFloor = 0, correctionCap }) => correctionFloor <= correctionCap, {
    path: ['correctionFloor'],
    message: 'must be at most correctionCap: no ratio lies between them',
  });

/** Options of `policyLoss`; see there. */
export type PolicyLossOptions = z.input<typeof schema>;

/** {@link PolicyLossOptions} with defaults and the surrogate's parameters filled in. */
export type ResolvedPolicyLoss = Omit<z.output<typeof schema>, keyof SurrogateParameters> & {
  readonly parameters: SurrogateParameters;
};

/** Whether the loss computes the correction itself, from `behaviorLogprobs`. */
export function isComputed(correction: (typeof corrections)[number]): boolean {
  return correction !== 'none' && correction !== 'column';
}

/**
 * Applies the defaults of {@link PolicyLossOptions}.
 *
 * @throws OptionsError naming every problem at once, parameters that the surrogate does not read among them.
 */
export function resolvePolicyLoss(options: PolicyLossOptions): ResolvedPolicyLoss {
  const parsed = parseOptions('policyLoss', schema, options);
  const defaults = surrogateDefaults[parsed.surrogate];
  const given = Object.entries(parsed).filter(([name]) => name in surrogateShape);
  const unread = given.filter(([name, value]) => value !== undefined && !(name in defaults));
  if (unread.length > 0) {
    const known = Object.keys(defaults).join(', ') || 'none';
    throw new OptionsError(
      'policyLoss',
      unread.map(
        ([name]) => `${name}: the surrogate '${parsed.surrogate}' does not read it; its own are: ${known}`,
      ),
    );
  }
  const set = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const rest = Object.fromEntries(Object.entries(parsed).filter(([name]) => !(name in surrogateShape)));
  return { ...rest, parameters: { ...defaults, ...set } } as ResolvedPolicyLoss;
}
