import { algorithmSchemas } from '@rlp/algorithms';
import * as z from 'zod';
import { backendSchema } from './backend-schema.ts';

const common = {
  /** Iterations of the stage. Default 100. */
  iterations: z.int().min(1).default(100),
  /** How the stage trains, over the run's `backend`. Default `{}`. */
  backend: backendSchema.optional(),
};

/** Schema of the algorithm of a run: its name, and its options. */
export const algorithmSchema = z.discriminatedUnion('name', [
  algorithmSchemas.grpo.safeExtend({
    ...common,
    /** GRPO. Default `'grpo'`. */
    name: z.literal('grpo').optional(),
  }),
  algorithmSchemas.ppo.safeExtend({
    ...common,
    /** PPO with a critic on the policy's last hidden states. Required. */
    name: z.literal('ppo'),
  }),
  algorithmSchemas.rloo.safeExtend({
    ...common,
    /** RLOO. Required. */
    name: z.literal('rloo'),
  }),
  algorithmSchemas.reinforce.safeExtend({
    ...common,
    /** REINFORCE. Required. */
    name: z.literal('reinforce'),
  }),
  algorithmSchemas.gigpo.safeExtend({
    ...common,
    /** GiGPO. Required. */
    name: z.literal('gigpo'),
  }),
  algorithmSchemas.dapo.safeExtend({
    ...common,
    /** DAPO, Dr. GRPO or GSPO. Required. */
    name: z.enum(['dapo', 'dr-grpo', 'gspo']),
  }),
]);
