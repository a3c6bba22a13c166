import type { NamedSchema } from '@rlp/core';
import * as z from 'zod';

const decaying = {
  /** Decoupled weight decay per update, times the learning rate. Default 0. */
  weightDecay: z.number().min(0).default(0),
  /** Parameters that decay: `'matrices'` leaves out norms and biases. Default `'matrices'`. */
  decay: z.enum(['all', 'matrices']).default('matrices'),
};

const adamShape = {
  /** Decay of the first moment. Default 0.9. */
  beta1: z.number().min(0).lt(1).default(0.9),
  /** Decay of the second moment. Default 0.999. */
  beta2: z.number().min(0).lt(1).default(0.999),
  /** Added to the square root of the second moment. Default 1e-8. */
  epsilon: z.number().positive().default(1e-8),
};

const adamwFields = z.strictObject({
  /** Adam with decoupled weight decay. Default `'adamw'`. */
  kind: z.literal('adamw').optional(),
  ...adamShape,
  ...decaying,
});

const optimizers = z.discriminatedUnion('kind', [
  adamwFields,
  z.strictObject({
    /**
     * AdamW that keeps its moments in 8 bits, in blocks of 256 that share a scale: 2 bytes per weight instead of 8. Parameters of
     * fewer than 4096 numbers keep them in float32. Requires the provider `cpu`. Required.
     */
    kind: z.literal('adamw-8bit'),
    ...adamShape,
    ...decaying,
  }),
  z.strictObject({
    /**
     * AdamW that averages its weights, so that the learning rate need not fall: use a constant schedule, or one that only warms up. The
     * policy is the average. Gradients are taken near it, so ratios of policy-gradient losses are not 1 at first. Meant for SFT and
     * preferences. Required.
     */
    kind: z.literal('schedule-free'),
    ...adamShape,
    ...decaying,
  }),
  z.strictObject({
    /** Moves each weight by the learning rate, in the direction of a momentum's sign. Required. */
    kind: z.literal('lion'),
    /** Share of the momentum in the direction of an update. Default 0.9. */
    beta1: z.number().min(0).lt(1).default(0.9),
    /** Decay of the momentum. Default 0.99. */
    beta2: z.number().min(0).lt(1).default(0.99),
    ...decaying,
  }),
  z.strictObject({
    /** Stochastic gradient descent, with or without momentum. Required. */
    kind: z.literal('sgd'),
    /** Share of the last direction that is kept. Default 0. */
    momentum: z.number().min(0).lt(1).default(0),
    /** `'nesterov'` looks ahead along the momentum. Default `'heavy-ball'`. */
    momentumForm: z.enum(['heavy-ball', 'nesterov']).default('heavy-ball'),
    ...decaying,
  }),
  z.strictObject({
    /** Keeps one number per row and column of a matrix instead of two per weight. Required. */
    kind: z.literal('adafactor'),
    /** Exponent of the second moment's decay, `1 - update^decayRate`. Default -0.8. */
    decayRate: z.number().lt(0).default(-0.8),
    /** Added to squared gradients. Default 1e-30. */
    epsilon: z.number().positive().default(1e-30),
    /** Root mean square of an update that is not scaled down. Default 1. */
    clipThreshold: z.number().positive().default(1),
    /** `'on'` multiplies the learning rate by the root mean square of a parameter, at least 0.001. Default `'off'`. */
    parameterScale: z.enum(['on', 'off']).default('off'),
    ...decaying,
  }),
  z.strictObject({
    /** Makes the momentum of each linear layer orthogonal. Other parameters are trained by AdamW. Required. */
    kind: z.literal('muon'),
    /** Decay of the momentum. Default 0.95. */
    momentum: z.number().min(0).lt(1).default(0.95),
    /** `'nesterov'` looks ahead along the momentum. Default `'nesterov'`. */
    momentumForm: z.enum(['heavy-ball', 'nesterov']).default('nesterov'),
    /** Steps of the Newton-Schulz iteration. Default 5. */
    iterations: z.int().min(1).default(5),
    /**
     * Factor of an update of shape `[m, n]`. `'match-adamw'` is `0.2·√max(m, n)`, so that AdamW's learning rate fits.
     * `'spectral'` is `√max(1, m/n)`. Default `'match-adamw'`.
     */
    updateScale: z.enum(['match-adamw', 'spectral']).default('match-adamw'),
    ...adamShape,
    ...decaying,
  }),
]);

/** Optimizer of a training backend, and its options. */
export type OptimizerOptions = z.input<typeof optimizers>;

/** {@link OptimizerOptions} with every default filled in. */
export type Optimizer = z.output<typeof optimizers>;

/** Schema of {@link OptimizerOptions}. */
export const optimizerSchema: NamedSchema<OptimizerOptions, Optimizer> = optimizers;

/** Options of one kind of optimizer, with every default filled in. */
export type OptimizerOf<Kind extends OptimizerKind> = Extract<Optimizer, { readonly kind: Kind }>;

/** Options of AdamW. */
export interface AdamwOptions extends z.input<typeof adamwFields> {}

/** {@link AdamwOptions} with every default filled in. */
export interface Adamw extends z.output<typeof adamwFields> {}

/** Schema of AdamW, which every backend has. */
export const adamwSchema: NamedSchema<AdamwOptions, Adamw> = adamwFields;

/** Name of an optimizer. */
export type OptimizerKind = NonNullable<Optimizer['kind']>;

/** Name of an optimizer. Options without one are AdamW's. */
export function kindOf({ kind = 'adamw' }: Pick<Optimizer, 'kind'>): OptimizerKind {
  return kind;
}

/** Schema of the maximum global L2 norm of gradients. `'off'` becomes infinity. */
export const maxGradientNormSchema = z.union([
  z.number().positive(),
  z.literal('off').transform(() => Number.POSITIVE_INFINITY),
]);

/** Weight decay of a parameter of this shape. */
export function weightDecayOf(
  { weightDecay, decay }: Pick<Optimizer, 'weightDecay' | 'decay'>,
  shape: readonly number[],
): number {
  return decay === 'all' || shape.length >= 2 ? weightDecay : 0;
}
