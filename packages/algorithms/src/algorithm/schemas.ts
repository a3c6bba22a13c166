import { gigpoSchema } from './gigpo.ts';
import { grpoSchema } from './grpo.ts';
import { algorithmSchema } from './options.ts';
import { ppoSchema } from './ppo.ts';
import { reinforceSchema } from './reinforce.ts';
import { rlooSchema } from './rloo.ts';

/** Schemas of the algorithms' options by the algorithm's name, for configurations that are read from files. */
export const algorithmSchemas = {
  grpo: grpoSchema,
  ppo: ppoSchema,
  rloo: rlooSchema,
  reinforce: reinforceSchema,
  dapo: algorithmSchema,
  'dr-grpo': algorithmSchema,
  gspo: algorithmSchema,
  gigpo: gigpoSchema,
} as const;
