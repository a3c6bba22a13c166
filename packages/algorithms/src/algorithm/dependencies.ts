import {
  ArgumentError,
  choosePublication,
  type Environment,
  having,
  type InferenceEngine,
  isRecord,
  type Loss,
  type MetricsLogger,
  type Monitor,
  needed,
  type RewardsFor,
  type RolloutSink,
  type Sampler,
  type State,
  type TaskSource,
  type Tokenizer,
  type TrainingBackend,
  withForeignNames,
  withMethods,
} from '@rlp/core';
import type { Encoding, RolloutOptions } from '@rlp/rollout';
import * as z from 'zod';
import { collectorSchema, sharedShape } from '../loop/dependencies.ts';
import type { GroupCollector, InterventionHandlers } from '../loop/protocol.ts';
import type { PolicyColumn } from '../loss/policy-loss.ts';

/** What an algorithm works with, however it collects. */
export interface LearningDependencies<Metadata = unknown, Outcome = unknown> {
  /** Source of the tasks. */
  readonly tasks: TaskSource<Metadata>;
  /** The policy that is sampled from, and that takes over the weights of `backend`. */
  readonly sampler: Sampler & InferenceEngine;
  /** Trains the policy. */
  readonly backend: TrainingBackend;
  /** Directory for published weights. Needed if trainer and sampler do not share a store. Both must be able to read it. */
  readonly publications?: string | undefined;
  /** Scores trajectories. Reads the metadata of `tasks` and the outcome of `environment`. */
  readonly rewards: RewardsFor<NoInfer<Metadata>, NoInfer<Outcome>>;
  /** Your own loss of the policy. See `RlDependencies`. Defaults to what the algorithm's options describe. */
  readonly loss?: Loss<PolicyColumn> | undefined;
  /** Sees every batch before it is learned from, such as a `RewardQualityMonitor`. What it asks for is done. */
  readonly monitor?: Monitor<NoInfer<Metadata>> | undefined;
  /** Does what a monitor can ask for and the loop cannot do by itself. */
  readonly interventions?: InterventionHandlers | undefined;
  /** Gets every iteration's metrics, notes, findings and some samples, before its report is yielded. Default none. */
  readonly logger?: MetricsLogger | undefined;
  /** Milliseconds from any origin, such as `() => performance.now()`. */
  readonly clock?: (() => number) | undefined;
  /** Waits between the tries of a lost iteration. Rejects with the signal's reason. Defaults to a timer. */
  readonly sleep?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/** What an algorithm works with. It creates none of it and closes none of it. */
export interface AlgorithmDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends LearningDependencies<Metadata, Outcome>,
    Encoding {
  /** The world that the policy acts in. */
  readonly environment: Environment<S, NoInfer<Metadata>, Outcome>;
  /** Takes the events of all episodes, such as `debugLogger` of `@rlp/rollout`. Default none. */
  readonly onEvent?: RolloutSink | readonly RolloutSink[] | undefined;
}

/** What an algorithm works with if groups come from a collector, such as `captureRollouts` of `@rlp/serve/capture`. */
export interface CollectedDependencies<Metadata = unknown, Outcome = unknown>
  extends LearningDependencies<Metadata, Outcome> {
  /**
   * Collects groups of the tasks from `sampler`. The options of a collector are its own. A function is called once with the algorithm's
   * `rollout`, and returns a collector that follows it.
   */
  readonly rollouts:
    | GroupCollector<NoInfer<Metadata>, Outcome>
    | ((options: RolloutOptions) => GroupCollector<NoInfer<Metadata>, Outcome>);
}

/** What an algorithm works with: an environment, or a collector of groups. */
export type PolicyDependencies<S extends State = State, Metadata = unknown, Outcome = unknown> =
  | AlgorithmDependencies<S, Metadata, Outcome>
  | CollectedDependencies<Metadata, Outcome>;

const samplerSchema = withMethods(
  having<Sampler & InferenceEngine>(
    'sample',
    'a sampler; InferenceModule.create of @rlp/inference makes one',
  ),
  ['sample', 'updateWeights'],
  'implement Sampler and InferenceEngine of @rlp/core',
);

const noCritic = z
  .custom<never>(() => false, 'only PPOAlgorithm learns from a critic; leave it out')
  .optional();

/** Schema of {@link CollectedDependencies}. */
export const collectedSchema = z.strictObject({
  ...sharedShape,
  rollouts: z
    .custom<CollectedDependencies['rollouts']>(
      (value) => typeof value === 'function' || isRecord(value),
      'must be a collector of groups, such as a RolloutManager, or a function that makes one',
    )
    .superRefine((value, { addIssue }) => {
      if (typeof value !== 'object' || value === null) return;
      for (const { message } of collectorSchema.safeParse(value).error?.issues ?? []) addIssue(message);
    }),
  sampler: samplerSchema,
  critic: noCritic,
});

/** Whether the groups come from a collector that has its own options. */
export function hasOwnCollector(dependencies: object): boolean {
  return isRecord(dependencies) && 'rollouts' in dependencies && typeof dependencies.rollouts !== 'function';
}

const dependencyFields = z.strictObject({
  ...sharedShape,
  environment: needed.environment,
  sampler: samplerSchema,
  tokenizer: needed.tokenizer,
  critic: noCritic,
  chat: having<NonNullable<Encoding['chat']>>('render', 'a chat renderer').optional(),
  onEvent: z
    .custom<RolloutSink | readonly RolloutSink[]>(
      (value) => [value].flat().every((sink) => typeof sink === 'function'),
      'must be a function, or a list of functions',
    )
    .optional(),
});

/** Schema of {@link AlgorithmDependencies}. Algorithms extend it with further dependencies. */
export const dependencySchema = withForeignNames(dependencyFields, {
  environment: 'env',
  rewards: 'reward_computer reward_funcs',
  backend: 'backprop',
  'leave it out; the algorithm collects by itself, as its option `rollout` says': 'rollout_manager',
});

/** Unused rows that a model's embedding may have beyond its tokenizer, to fill it up to a round number. */
const fillUp = 128;

/** @throws ArgumentError unless backend, sampler and tokenizer are of one model, and the weights can reach the sampler. */
export function requireOnePolicy(
  name: string,
  {
    backend,
    sampler,
    tokenizer,
    publications,
  }: Pick<LearningDependencies, 'backend' | 'sampler' | 'publications'> &
    Partial<Pick<Encoding, 'tokenizer'>>,
): void {
  try {
    choosePublication(backend, sampler, publications);
  } catch (cause) {
    if (!(cause instanceof ArgumentError)) throw cause;
    throw new ArgumentError(`${name}: ${cause.message}`, { cause });
  }
  // A collector has its own tokenizer.
  if (tokenizer === undefined) return;
  const own = tokenizer.vocabularySize;
  const samplers = (sampler as { readonly tokenizer?: Tokenizer | undefined }).tokenizer?.vocabularySize;
  if (samplers !== undefined && samplers !== own) {
    throw new ArgumentError(
      `${name}: \`tokenizer\` has ${own} tokens and the sampler's has ${samplers}; pass the sampler's tokenizer`,
    );
  }
  const known = backend.vocabularySize ?? sampler.vocabularySize;
  if (known === undefined || (own <= known && known <= Math.max(2 * own, own + fillUp))) return;
  throw new ArgumentError(
    `${name}: \`tokenizer\` has ${own} tokens and the model ${known}; pass the tokenizer of this model`,
  );
}
