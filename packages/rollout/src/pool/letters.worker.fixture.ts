import type { Environment, RandomStream, State } from '@rlp/core';
import type { GroupWorkerParts } from '../index.ts';
import { mockEnvironment, mockPolicy } from '../testing.ts';

const inner = mockEnvironment({ turns: 2 });

/** A task "die" ends the process that runs it. A task "stuck" never begins. */
const environment: Environment = {
  ...inner,
  reset(task, seed) {
    if (task.id === 'die') process.exit(7);
    return task.id === 'stuck' ? new Promise(() => undefined) : inner.reset(task, seed);
  },
};

/** Parts of a worker: a policy that answers with random letters, after some milliseconds. */
export default function parts(): GroupWorkerParts {
  let version = 0;
  const policy = mockPolicy({
    speak: (_prompt, stream: RandomStream) =>
      Array.from({ length: 3 }, () => String.fromCharCode(97 + stream.integer(26))).join(''),
    delay: () => 5,
    policyVersion: () => version,
  });
  return {
    environment: environment as Environment<State>,
    ...policy,
    inference: {
      accepts: ['adapter'],
      async updateWeights(publication) {
        version = publication.version;
        return version;
      },
    },
  };
}

/** No parts. */
export const nothing = () => ({ sampler: policyOnly });
const policyOnly = mockPolicy().sampler;
