import { requireFields } from '@rlp/core';
import * as z from 'zod';

const weight = {
  /** Factor of this term if several are added. Default 1. */
  weight: z.number().default(1),
};
const strength = {
  /** Strength β of the loss. Larger values stay closer to the reference policy. Default 0.1. */
  beta: z.number().positive().default(0.1),
};
const smoothing = {
  /** Probability that a label is flipped. Default 0. */
  labelSmoothing: z.number().min(0).lt(0.5).default(0),
};
const divergence = {
  /** Divergence from the reference policy whose derivative scores a completion. Default `'reverse-kl'`. */
  divergence: z
    .union([
      z.enum(['reverse-kl', 'forward-kl', 'jensen-shannon']),
      z.strictObject({
        /** Order of the alpha divergence. Required. */
        alpha: z.number(),
      }),
    ])
    .default('reverse-kl'),
};
const imitation = (value: number) => ({
  /** Factor of the mean negative log-likelihood of the chosen completions, added to the loss. */
  imitation: z.number().min(0).default(value),
});

const logistic = z.strictObject({
  /** DPO's logistic loss. `'sigmoid-norm'` divides scores by the number of tokens. Required. */
  kind: z.enum(['sigmoid', 'sigmoid-norm']),
  ...weight,
  ...strength,
  ...smoothing,
  ...divergence,
});
const margins = z.strictObject({
  /** Hinge loss of RSO and SLiC, or IPO's squared error of scores per token. Required. */
  kind: z.enum(['hinge', 'ipo']),
  ...weight,
  ...strength,
  ...divergence,
});
const smoothed = z.strictObject({
  /** Robust DPO corrects for flipped labels. Required. */
  kind: z.literal('robust'),
  ...weight,
  ...strength,
  ...smoothing,
  ...divergence,
});
const exo = z.strictObject({
  /** EXO: reverse KL to the smoothed preference. Required. */
  kind: z.literal('exo-pair'),
  ...weight,
  ...strength,
  /** Probability ε of the rejected completion. Default 0.001. */
  labelSmoothing: z.number().positive().lt(0.5).default(1e-3),
  ...divergence,
});
const discopop = z.strictObject({
  /** DiscoPOP: blends the logistic with the exponential loss. Required. */
  kind: z.literal('discopop'),
  ...weight,
  ...strength,
  ...divergence,
  /** Temperature of the blend. Default 0.05. */
  temperature: z.number().positive().default(0.05),
});
const plain = z.strictObject({
  /** NCA, BCO over pairs, SPPO with hard labels, or APO that raises (`zero`) or lowers (`down`) both. Required. */
  kind: z.enum(['nca-pair', 'bco-pair', 'sppo-hard', 'apo-zero', 'apo-down']),
  ...weight,
  ...strength,
});
const transport = z.strictObject({
  /** AOT: pairs the sorted log-ratios of the batch. Required. */
  kind: z.enum(['aot', 'aot-unpaired']),
  ...weight,
  ...strength,
  ...smoothing,
});
const sft = z.strictObject({
  /** Mean negative log-likelihood of the chosen completions. Required. */
  kind: z.literal('sft'),
  ...weight,
});
const cpo = z.strictObject({
  /** CPO: DPO without a reference policy. Required. */
  kind: z.literal('cpo'),
  ...weight,
  ...strength,
  ...smoothing,
  /** Logistic loss, SLiC's hinge, or IPO's squared error of means per token. Default `'logistic'`. */
  form: z.enum(['logistic', 'hinge', 'ipo']).default('logistic'),
  ...imitation(1),
});
const simpo = z.strictObject({
  /** SimPO: mean log-probabilities with a target margin. No reference policy. Required. */
  kind: z.literal('simpo'),
  ...weight,
  ...strength,
  ...smoothing,
  /** Target margin γ between the scaled mean log-probabilities. Default 0.5. */
  margin: z.number().default(0.5),
  /** Exponent α of AlphaPO's reward `(1 − p^−α)/α`. 0 is SimPO. Default 0. */
  alpha: z.number().default(0),
  ...imitation(0),
});
const orpo = z.strictObject({
  /** ORPO: log odds ratio of mean probabilities. No reference policy. Required. */
  kind: z.literal('orpo'),
  ...weight,
  ...strength,
  ...imitation(1),
  /** What is imitated: the whole sequence with its prompt, as TRL does, or the completion. Default `'sequence'`. */
  imitated: z.enum(['sequence', 'completion']).default('sequence'),
});
/** Schema of a term of a preference loss over single sequences. */
export const singleTermSchema = z.strictObject({
  /** KTO on single sequences with a label, or the unpaired form of APO. Required. */
  kind: z.enum(['kto', 'apo-zero-unpaired']),
  ...weight,
  ...strength,
  /** Factor of desirable sequences. Default 1. */
  desirableWeight: z.number().min(0).default(1),
  /** Factor of undesirable sequences. Default 1. */
  undesirableWeight: z.number().min(0).default(1),
});

/** Schema of a term of a preference loss over pairs. */
export const pairTermSchema = z.discriminatedUnion('kind', [
  logistic,
  margins,
  smoothed,
  exo,
  discopop,
  plain,
  transport,
  sft,
  cpo,
  simpo,
  orpo,
]);

/** Schema of {@link PreferenceTerm}. */
export const preferenceTermSchema = z.discriminatedUnion('kind', [
  ...pairTermSchema.options,
  singleTermSchema,
]);

/** A term of a preference loss, with its options. */
export type PreferenceTerm = z.input<typeof preferenceTermSchema>;

/** Names of preference losses. */
export type PreferenceLossName = PreferenceTerm['kind'];

/** {@link PreferenceTerm} with every default filled in. */
export type ResolvedTerm = z.output<typeof preferenceTermSchema>;

/** A term over pairs. */
export type PairTerm = z.output<typeof pairTermSchema>;

/** A term over single sequences. */
export type SingleTerm = z.output<typeof singleTermSchema>;

/** Names of the losses, in the order of the schema. */
export const preferenceLossNames = preferenceTermSchema.options.flatMap(
  ({ shape: { kind } }): readonly PreferenceLossName[] =>
    kind instanceof z.ZodEnum ? kind.options : [...kind.values],
);

/** Whether a term of a preference loss reads a reference policy. */
export function readsReference(term: Pick<ResolvedTerm, 'kind'>): boolean {
  const { kind } = requireFields('readsReference', { kind: 'text' }, term);
  return !['sft', 'cpo', 'simpo', 'orpo'].includes(kind);
}

/** Whether a term is over single sequences with labels. */
export function isSingle(term: ResolvedTerm): term is SingleTerm {
  return term.kind === 'kto' || term.kind === 'apo-zero-unpaired';
}
