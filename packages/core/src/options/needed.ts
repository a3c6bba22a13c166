import type { Environment } from '../environment.ts';
import type { RewardComputer } from '../reward.ts';
import type { Sampler } from '../sampler.ts';
import type { TaskSource } from '../task.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { TrainingBackend } from '../training.ts';
import { withMethods } from '../with-methods.ts';
import { having } from './having.ts';

/** Schemas of the parts that training is made of. Each message says what makes such a part. */
export const needed = {
  environment: withMethods(
    having<Environment>('reset', 'an environment, such as new ConversationEnvironment() of @rlp/env'),
    ['reset', 'buildPrompt', 'updateState', 'isTerminal'],
    'extend BaseEnvironment of @rlp/env',
  ),
  tasks: having<TaskSource<never>>(
    'take',
    'a task source; taskSource(tasks) of @rlp/env makes one of an array',
  ),
  rewards: having<RewardComputer>(
    'computeRewards',
    'a reward computer; rewardFunctions({ … }) of @rlp/rewards makes one of functions',
  ),
  sampler: having<Sampler>('sample', 'a sampler; InferenceModule.create of @rlp/inference makes one'),
  tokenizer: having<Tokenizer>('encode', 'a tokenizer; loadModel and loadTokenizer of @rlp/models read one'),
  backend: having<TrainingBackend>(
    'forwardBackward',
    'a training backend; createOnnxBackend of @rlp/backprop makes one',
  ),
};
