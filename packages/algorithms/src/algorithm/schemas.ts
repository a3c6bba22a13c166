import { gigpoSchema } from './gigpo.ts';
import { grpoSchema } from './grpo.ts';
import { groupSchema } from './options.ts';
import { ppoSchema } from './ppo.ts';
import { reinforceSchema } from './reinforce.ts';
import { rlooSchema } from './rloo.ts';

/** Schema of the options of each algorithm, by its name. */
interface AlgorithmSchemas {
  readonly grpo: typeof grpoSchema;
  readonly ppo: typeof ppoSchema;
  readonly rloo: typeof rlooSchema;
  readonly reinforce: typeof reinforceSchema;
  readonly dapo: typeof groupSchema;
  readonly 'dr-grpo': typeof groupSchema;
  readonly gspo: typeof groupSchema;
  readonly gigpo: typeof gigpoSchema;
}

/**
 * Schemas of the algorithms' options by the algorithm's name, for configurations that are read from files.
 *
 * The type is written out, because an inferred one repeats every field of every schema in the declarations.
 */
export const algorithmSchemas: AlgorithmSchemas = {
  grpo: grpoSchema,
  ppo: ppoSchema,
  rloo: rlooSchema,
  reinforce: reinforceSchema,
  dapo: groupSchema,
  'dr-grpo': groupSchema,
  gspo: groupSchema,
  gigpo: gigpoSchema,
};
