import { sftSchema } from '@rlp/algorithms';
import { preferenceSchema, rewardModelSchema } from '@rlp/algorithms/preference';
import { type Environment, type State, type Task, withForeignNames } from '@rlp/core';
import { onnxSamplerSchema } from '@rlp/inference';
import type { RunAgent } from '@rlp/serve/capture';
import * as z from 'zod';
import { agentSchema, type RunAgentOptions } from './agent-schema.ts';
import { algorithmSchema } from './algorithm-schema.ts';
import { backendSchema } from './backend-schema.ts';
import { dataSchema } from './data-schema.ts';
import { distillSchema } from './distill-schema.ts';
import { environmentSchema } from './environment-schema.ts';
import { modelSchema } from './model-schema.ts';
import { modeNames } from './modes.ts';
import { type RunRewards, rewardsSchema } from './reward-schema.ts';

const stage = sftSchema.safeExtend({
  /** Rows of the training data that are imitated. In a run that goes on with RL the others are practised. Default all, in both stages. */
  rows: z.int().min(1).optional(),
  /** Other data to imitate. Default: the run's `data`. */
  data: dataSchema.optional(),
  /** How the stage trains, over the run's `backend`. Default `{}`. */
  backend: backendSchema.optional(),
});

const preferenceStage = preferenceSchema.safeExtend({
  /** How the stage trains, over the run's `backend`. Default `{}`. */
  backend: backendSchema.optional(),
});

const rewardModelStage = rewardModelSchema.safeExtend({
  /** How the stage trains, over the run's `backend`. Default `{}`. */
  backend: backendSchema.optional(),
});

/** Schema of how a run is evaluated. */
export const evaluationSchema = z.strictObject({
  /** Other data to evaluate on. Default: `heldOut` rows of the run's `data`. */
  data: dataSchema.optional(),
  /** Rows of the run's `data` that are only evaluated on. Default: a tenth of them, at most 100. */
  heldOut: z.int().min(1).optional(),
  /** Iterations between two evaluations during a stage. Default 25. */
  every: z.int().min(1).default(25),
  /** Tasks of an evaluation during a stage. The first and the last one take all. Default 100. */
  during: z.int().min(1).default(100),
  /** Component of the reward that says whether a response is right. Default: the first one. */
  component: z.string().min(1).optional(),
  /** Lowest score of a right response. By default 1 is right and 0 is wrong; of games, only 1 is right. */
  correctFrom: z.number().optional(),
  /** Responses per task. Default 1. */
  samples: z.int().min(1).default(1),
  /** Divides the logits. 0 is greedy decoding. Default 0. */
  temperature: z.number().nonnegative().default(0),
  /** Maximum new tokens per turn. Defaults to those of the algorithm's rollout, or 256. */
  maxTokens: z.int().min(1).optional(),
});

const checkpointSchema = z.strictObject({
  /** Iterations between two checkpoints. Default 25. */
  every: z.int().min(1).default(25),
  /** Checkpoints of a stage that stay. Default 2. */
  keep: z.int().min(1).default(2),
});

const trajectorySchema = z.strictObject({
  /** Iterations between two recordings. Default 10. */
  every: z.int().min(1).default(10),
  /** Groups that a recording holds. Default 4. */
  groups: z.int().min(1).default(4),
});

const engineSchema = z.strictObject({
  /** Where to compute: in a thread of the engine, or on the thread of the run, which then answers late. Default `'worker'`. */
  thread: z.enum(['worker', 'inline']).optional(),
  /** Threads of one operator. Default: one per core. */
  threads: z.int().min(1).max(1024).optional(),
  /** Hardware to compute on. Default `'cpu'`. */
  executionProvider: z.enum(['cpu', 'webgpu', 'cuda', 'coreml', 'dml']).default('cpu'),
});

const schema = z.strictObject({
  /** What the run does: `'sft'`, `'rl'`, `'sft+rl'`, `'dpo'`, `'sft+dpo'`, `'reward-model'`, `'distill'`, `'sft+distill'` or `'eval'`. Default: what the other options ask for. */
  mode: z.enum(modeNames).optional(),
  /** Folder of the run, relative to the working directory. Required, here or as `--out`. */
  output: z.string().min(1).optional(),
  /** Names all random streams. Equal runs with equal seeds give equal weights. Default `'0'`. */
  seed: z.string().min(1).default('0'),
  /** Folder of a Hugging Face model or of a run, a name on the hub such as `Qwen/Qwen3-0.6B`, or a new small model. Required. */
  model: modelSchema,
  /** Tasks, or rows to imitate: a file of JSON Lines (`./rows.jsonl`: beside the configuration file), or what to make. Games bring their own. */
  data: dataSchema.optional(),
  /** World that the policy acts in. Default: `'chat'` if the model has a chat template, else `'text'`. */
  environment: environmentSchema.optional(),
  /** Your agent, in place of an environment: a function of a task and of the address that the policy answers. Default none. */
  agent: agentSchema.optional(),
  /** What a response is worth, by component. Default: whether it has the right answer, or the score of the game. */
  rewards: rewardsSchema.optional(),
  /** Imitates the completions of the data. `{}` takes all defaults. Default: no such stage. */
  sft: stage.optional(),
  /** Learns from rows with `chosen` and `rejected`. `{}` is DPO; other losses by `loss`. Default: no such stage. */
  preference: preferenceStage.optional(),
  /** Trains a reward model on rows with `chosen` and `rejected`. Default: no such stage. */
  rewardModel: rewardModelStage.optional(),
  /** Practises on the rewards. `{}` is GRPO with its defaults. Default: no such stage. */
  algorithm: algorithmSchema.optional(),
  /** Learns from the probabilities that a teacher gives to the policy's text. Default: no such stage. */
  distill: distillSchema.optional(),
  /** How all stages train. Default `{}`. */
  backend: backendSchema.optional(),
  /** Measures the policy on tasks it does not learn from. Default `{}`. */
  evaluation: z.union([z.literal('none'), evaluationSchema]).prefault({}),
  /** When the run is saved. Default `{}`. */
  checkpoints: checkpointSchema.prefault({}),
  /** Which sampled trajectories are recorded. Default `{}`. */
  trajectories: z.union([z.literal('none'), trajectorySchema]).prefault({}),
  /** Watches the rewards for hacking. Default `'default'`. */
  monitor: z.enum(['default', 'none']).default('default'),
  /** What computes. Default `{}`. */
  engine: engineSchema.prefault({}),
  /** How the sampler runs. Default: the sampler's defaults, with 64 sequences at once. */
  sampler: onnxSamplerSchema.omit({ engine: true, model: true, store: true, policyVersion: true }).optional(),
});

/** Schema of {@link RunConfig}. */
export const runSchema = withForeignNames(schema, {
  output: 'output_dir',
  model: 'model_name_or_path',
  evaluation: 'eval_strategy',
  'evaluation.every': 'eval_steps eval_every test_freq',
  'evaluation.samples': 'num_generations_eval',
  'checkpoints.every': 'save_steps save_every save_freq',
  'checkpoints.keep': 'save_total_limit',
  trajectories: 'log_completions',
  'trajectories.groups': 'num_completions_to_print',
});

/** Columns of a row of data. */
export interface RowMetadata {
  /** Right answer, if the row has one. */
  readonly answer?: string | undefined;
  readonly [column: string]: unknown;
}

type Input = z.input<typeof runSchema>;
type Given = Omit<Input, 'data' | 'environment' | 'agent' | 'rewards'>;

/**
 * A run: what `trainRun` takes, and what a configuration file holds.
 *
 * `Metadata` are those of the tasks, and `Outcome` what the environment or the agent says of an episode. Rewards read both.
 */
export interface RunConfig<Metadata = RowMetadata, Outcome = unknown> extends Given {
  /** Tasks, or rows to imitate: a file of JSON Lines, or what to make. Games bring their own. */
  readonly data?: Exclude<Input['data'], readonly Task[]> | readonly Task<Metadata>[] | undefined;
  /** World that the policy acts in. Default: `'chat'` if the model has a chat template, else `'text'`. */
  readonly environment?:
    | Exclude<Input['environment'], Environment>
    | Environment<State, Metadata, Outcome>
    | undefined;
  /** Your agent, in place of an environment: a function of a task and of the address that the policy answers. Default none. */
  readonly agent?: RunAgent<Metadata, Outcome> | RunAgentOptions<Metadata, Outcome> | undefined;
  /** What a response is worth, by component. Default: whether it has the right answer, or the score of the game. */
  readonly rewards?: RunRewards<Metadata, Outcome> | undefined;
}

/** {@link RunConfig} with every default filled in. */
export type ResolvedRunConfig = z.output<typeof runSchema>;
