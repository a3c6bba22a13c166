import { needed, type TrainingBackend, withMethods } from '@rlp/core';

/** Schema of a training backend that has the methods that a run calls. */
export function backendWith(...methods: readonly (keyof TrainingBackend & string)[]) {
  return withMethods(needed.backend, methods, 'implement TrainingBackend of @rlp/core');
}
