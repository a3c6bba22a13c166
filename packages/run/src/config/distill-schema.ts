import type { TokenScorer } from '@rlp/core';
import { rolloutSchema } from '@rlp/rollout';
import * as z from 'zod';
import { backendSchema } from './backend-schema.ts';

const servedSchema = z.strictObject({
  /** Server that the teacher runs on. Required. */
  server: z.enum(['vllm', 'sglang']),
  /** Its address. Required. */
  url: z.url(),
  /** Folder or hub name of the teacher, for its tokenizer. Required. */
  model: z.string().min(1),
});

const isScorer = (value: unknown) =>
  typeof (value as TokenScorer | null | undefined)?.scoreTokens === 'function';

/** Schema of on-policy distillation. */
export const distillSchema = z.strictObject({
  /** Teacher: a folder as of `model`, a name on the hub, a model on a server, or a `TokenScorer`. It has the model's vocabulary. Required. */
  teacher: z.union([
    z.string().min(1),
    servedSchema,
    z.custom<TokenScorer>(
      isScorer,
      'expected a model folder, a name on the hub, { server, url, model } or a scorer',
    ),
  ]),
  /** Iterations of the stage. Default 100. */
  iterations: z.int().min(1).default(100),
  /** Prompts of an iteration. Default 64. */
  tasksPerIteration: z.int().min(1).default(64),
  /** Multiplies the KL of each token. Default 1. */
  coefficient: z.number().positive().default(1),
  /** How the policy samples. Default: one response per prompt. */
  rollout: rolloutSchema.optional(),
  /** How the stage trains, over the run's `backend`. Default `{}`. */
  backend: backendSchema.optional(),
});

/** Teacher of a distillation as it is given. */
export type Teacher = z.output<typeof distillSchema>['teacher'];
