import {
  type AgentPolicy,
  having,
  type NamedSchema,
  needed,
  OptionsError,
  parseOptions,
  requireArguments,
  requireFields,
  timerMs,
  withForeignNames,
} from '@rlp/core';
import * as z from 'zod';

const defaultMaxTokens = 256;

const samplingFields = z.strictObject({
  /** Maximum new tokens per turn. Default 256. */
  maxTokens: z.int().min(1).default(defaultMaxTokens),
  /** Divides the logits. 0 is greedy decoding. Default 1. */
  temperature: z.number().nonnegative().default(1),
  /** Divides the logits of tokens that occurred before. 1 changes nothing. Off by default. */
  repetitionPenalty: z.number().min(1).optional(),
  /** Samples among this many of the likeliest tokens. 0 means all. Off by default. */
  topK: z.int().nonnegative().optional(),
  /** Samples among the likeliest tokens that together have this probability. Off by default. */
  topP: z.number().gt(0).max(1).optional(),
  /** Drops tokens less likely than this share of the likeliest token's probability. Off by default. */
  minP: z.number().min(0).max(1).optional(),
  /** Token ids that end a turn, besides the model's own. None by default. */
  stopTokens: z.array(z.int().nonnegative()).readonly().optional(),
  /** Texts that end a turn. None by default. */
  stopStrings: z.array(z.string().min(1)).readonly().optional(),
});

/** How tokens are drawn from a policy. */
export interface RolloutSamplingOptions extends z.input<typeof samplingFields> {}

/** {@link RolloutSamplingOptions} with every default filled in. */
export interface ResolvedRolloutSamplingOptions extends z.output<typeof samplingFields> {}

const samplingSchema: NamedSchema<RolloutSamplingOptions, ResolvedRolloutSamplingOptions> = samplingFields;

const schema = z.strictObject({
  /** Names the random streams. Equal seeds sample equal trajectories. Default `'rollout'`. */
  seed: z.string().default('rollout'),
  /** Trajectories sampled per task. Default 8. */
  groupSize: z.int().min(1).default(8),
  /** Groups that run at the same time. Default 64. */
  concurrency: z.int().min(1).default(64),
  /**
   * Episodes that run at the same time, over all groups. Limits how many worlds environments hold open. A group begins once there is room
   * for all its members, so at least one group runs. Default `Infinity`.
   */
  concurrentEpisodes: z.int().min(1).or(z.literal(Infinity)).default(Infinity),
  /** Maximum turns of the policy per episode. A longer episode is `truncated`. Default 16. */
  maxTurns: z.int().min(1).default(16),
  /** How tokens are drawn. Default 256 tokens per turn at temperature 1. */
  sampling: samplingSchema.prefault({}),
  /** Maximum tokens of prompt and completion together. The last turns get what is left of it. Defaults to the sampler's limit. */
  contextLength: z.int().min(2).optional(),
  /**
   * How a conversation continues after a response.
   *
   * `'sampled'` appends what the chat template writes after the response to the sampled tokens. A dialogue is then one training row.
   * `'template'` renders the whole conversation again. If the template rewrites history, each turn becomes its own row. Default
   * `'sampled'`.
   */
  history: z.enum(['sampled', 'template']).default('sampled'),
  /** Maximum duration of one call of `reset` or `updateState`, in milliseconds. Default 30000. */
  environmentTimeoutMs: timerMs.default(30_000),
  /**
   * Maximum time without an answer from the sampler while requests wait, in milliseconds. The waiting requests then fail. Default 1800000
   * (30 minutes).
   */
  samplerTimeoutMs: timerMs.default(1_800_000),
  /**
   * What happens to failed trajectories. `'keep'` leaves them in their group with status `failed`. `'drop-member'` removes them.
   * `'drop-group'` removes their whole group. `'stop'` throws their error. Default `'keep'`.
   */
  onFailure: z.enum(['keep', 'drop-member', 'drop-group', 'stop']).default('keep'),
});

/** Schema of {@link RolloutOptions}. */
export const rolloutSchema = withForeignNames(schema, {
  groupSize: 'num_generations n n_samples_per_prompt group_size',
  concurrency: 'num_parallel',
  maxTurns: 'max_tool_calling_iterations max_assistant_turns max_steps_per_rollout',
  contextLength: 'max_prompt_length vllm_max_model_length max_model_len prompt_max_len',
  sampling: 'generation_kwargs',
  'sampling.maxTokens': 'max_completion_length max_response_length generate_max_len max_tokens',
  'sampling.temperature': 'temperature',
  'sampling.topP': 'top_p',
  'sampling.topK': 'top_k',
  'sampling.minP': 'min_p',
  'sampling.repetitionPenalty': 'repetition_penalty',
  'RolloutStreamOptions.overSampling': 'over_sampling_factor',
  'leave it out; a group begins as soon as another ends': 'maintain_parallel_count',
  'pass `onEvent: debugLogger(console.debug)` of @rlp/rollout with the dependencies': 'verbose',
  'print progressLine(manager.progress()) of @rlp/rollout': 'enable_progress_bar',
});

/** Options of `RolloutManager`. */
export interface RolloutOptions extends z.input<typeof rolloutSchema> {}

/** What the manager reads. Every field with a default is present. */
export type ResolvedRolloutOptions = z.output<typeof rolloutSchema>;

/**
 * Applies the defaults of {@link RolloutOptions}.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveRolloutOptions(options: RolloutOptions = {}): ResolvedRolloutOptions {
  return parseOptions('RolloutManager', rolloutSchema, options, 'RolloutOptions');
}

const { environment, sampler, tokenizer } = needed;

const dependencySchema = z.object({ environment, sampler, tokenizer });

const agentSchema = z.object({
  environment,
  policy: having<AgentPolicy>('getAction', 'a policy that decides on actions, with getAction'),
});

/** @throws OptionsError naming everything that a rollout lacks. */
export function requireDependencies(owner: string, given: object): void {
  parseOptions(owner, dependencySchema, given, 'RolloutDependencies');
}

/** @throws OptionsError naming everything that the rollouts of an agent lack. */
export function requireAgentDependencies(owner: string, given: object): void {
  parseOptions(owner, agentSchema, given, 'AgentRolloutDependencies');
}

/**
 * Checks that a completion of `sampling.maxTokens` can fit the context at all. The default always fits.
 *
 * @param limit - What the sampler's context holds.
 * @throws OptionsError if no completion could be that long.
 */
export function requireAnswerRoom(
  owner: string,
  options: Pick<RolloutOptions, 'sampling' | 'contextLength'>,
  limit: number | undefined,
): void {
  requireArguments('requireAnswerRoom', { owner: 'text', limit: 'number?' }, owner, limit);
  requireFields('requireAnswerRoom', { contextLength: 'number?' }, options);
  const { sampling, contextLength } = options;
  const holds = Math.min(contextLength ?? Number.POSITIVE_INFINITY, limit ?? Number.POSITIVE_INFINITY);
  const asked = sampling?.maxTokens;
  if (asked === undefined || asked === defaultMaxTokens || asked <= holds) return;
  const source = contextLength === holds ? 'contextLength' : "the sampler's context";
  throw new OptionsError(owner, [
    `\`sampling.maxTokens\` is ${asked}, but ${source} holds ${holds} tokens of prompt and answer together: ` +
      `set it below ${holds}, or make the context longer`,
  ]);
}
