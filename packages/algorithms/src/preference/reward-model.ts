import {
  ArgumentError,
  type CriticBackend,
  defineLoss,
  parseOptions,
  type RewardFunction,
  requireGroups,
  type TensorOps,
  type TokenId,
  type TrainingSequence,
  type Trajectory,
  tokenSequences,
} from '@rlp/core';
import type { Variable } from '@rlp/tensor';
import * as z from 'zod';
import type { ResumeOptions } from '../loop/rl.ts';
import {
  runUpdates,
  type UpdateDependencies,
  type UpdateReport,
  type UpdateState,
} from '../loop/run-updates.ts';
import { updateDependencyShape } from '../loop/sft.ts';
import { differentiate } from './differentiate.ts';
import { pairsWithin } from './judged-within.ts';
import { mean } from './learning.ts';
import { hasOneLength, oneLength, passShape } from './options.ts';
import { negativeLogSigmoid, scaled } from './pair-losses.ts';
import type { JudgedPair } from './preferences.ts';

/** Schema of {@link RewardModelOptions}. */
export const rewardModelSchema = z
  .strictObject({
    /** Names the random streams that shuffle the pairs. Default `'reward-model'`. */
    seed: z.string().default('reward-model'),
    /** Factor of the squared sum of both rewards, which keeps rewards near 0. Default 0. */
    centering: z.number().min(0).default(0),
    ...passShape,
  })
  .refine(hasOneLength, oneLength);

/** Options of `runRewardModelTraining`. */
export interface RewardModelOptions extends z.input<typeof rewardModelSchema> {}

/** What `runRewardModelTraining` works with. */
export interface RewardModelDependencies extends UpdateDependencies<CriticBackend> {
  /** Preferences, for instance from `judgedPair`. A completion is judged with its prompt. */
  readonly pairs: readonly JudgedPair[];
}

const dependencySchema = z.strictObject({
  ...updateDependencyShape,
  pairs: z.custom<readonly JudgedPair[]>(
    (value) => Array.isArray(value) && value.length > 0,
    'must be a list of at least one pair',
  ),
} satisfies Record<keyof RewardModelDependencies, z.ZodType>);

/** Reads the values that a reward model is trained by. Its derivative by each is the token's weight. */
const valueSum = defineLoss({
  key: 'reward-model',
  columns: [],
  values: 'only',
  compute: (_ops, { values }) => ({ tokenLosses: values! }),
});

/**
 * Trains a reward model on preferences: a value head on the last token of a sequence. One report per update.
 *
 *     L = −ln σ(r_chosen − r_rejected − margin) + centering · (r_chosen + r_rejected)²
 *
 * The backend needs a value head, such as `createOnnxBackend` makes with `valueHead: 'linear'`. A sequence must be one token
 * shorter than the model's context. Batches and resume are those of `runPreferenceTraining`.
 *
 * @throws OptionsError for options outside their ranges and for dependencies that are missing or not known, ArgumentError for a
 *   backend without a value head.
 * @see Bradley & Terry 1952; Stiennon et al. 2020, https://arxiv.org/abs/2009.01325
 */
export async function* runRewardModelTraining(
  dependencies: RewardModelDependencies,
  options: RewardModelOptions & ResumeOptions<UpdateState> = {},
): AsyncGenerator<UpdateReport, void, undefined> {
  parseOptions('runRewardModelTraining', dependencySchema, dependencies, 'RewardModelDependencies');
  const { resume, ...own } = options;
  const resolved = parseOptions('runRewardModelTraining', rewardModelSchema, own, 'RewardModelOptions');
  const { backend, logger } = dependencies;
  requireGroups('runRewardModelTraining', backend, [{ option: 'the loss', group: 'values' }]);
  const context = { owner: 'runRewardModelTraining', contextLength: backend.contextLength };
  const { items: pairs, note } = pairsWithin(dependencies.pairs, resolved.maxLength, context);
  if (note !== undefined) logger?.note?.(resume?.iteration ?? 0, note);
  if (pairs.length === 0) throw new ArgumentError(`runRewardModelTraining: ${note}, so no pair is left`);
  yield* runUpdates(dependencies, {
    deadlines: resolved.deadlines,
    lengths: pairs.map(({ chosen, rejected }) => chosen.tokens.length + rejected.tokens.length),
    plan: { ...resolved, perBatch: resolved.pairsPerBatch },
    resume,
    accumulate: ({ backend: attended, rows }) =>
      learnRewards(
        attended,
        rows.map((row) => pairs[row]!),
        resolved.centering,
      ),
  });
}

async function learnRewards(backend: CriticBackend, batch: readonly JudgedPair[], centering: number) {
  const sides = [...batch.map(({ chosen }) => chosen), ...batch.map(({ rejected }) => rejected)];
  const values = await backend.values(sides.map(({ tokens }) => tokens));
  const rewards = Float64Array.from(values, (row) => row.at(-1)!);
  const [chosen, rejected] = [rewards.slice(0, batch.length), rewards.slice(batch.length)];
  const margin = Float64Array.from(batch, (pair) => pair.margin ?? 0);
  const { value, gradients } = differentiate(
    { chosen, rejected, margin },
    ['chosen', 'rejected'],
    (tape, inputs) => rewardModelLoss<Variable>(tape, inputs, centering),
  );
  const derivatives = [...gradients.chosen, ...gradients.rejected];
  const sequences = sides.map(({ tokens }, index) => judged(tokens, derivatives[index]!));
  const pass = await backend.forwardBackward({ sequences }, valueSum);
  return {
    pass,
    metrics: {
      'loss/reward-model': value,
      'reward/mean': mean(rewards),
      'reward/min': rewards.reduce((least, reward) => Math.min(least, reward), Number.POSITIVE_INFINITY),
      'reward/max': rewards.reduce((most, reward) => Math.max(most, reward), Number.NEGATIVE_INFINITY),
      'reward/margin': mean(chosen) - mean(rejected),
      'reward/accuracy': mean(chosen.map((reward, row) => (reward > rejected[row]! ? 1 : 0))),
    },
  };
}

/** What {@link rewardModelLoss} reads. Each is `[B, 1]`. */
export interface RewardPair<T> {
  readonly chosen: T;
  readonly rejected: T;
  readonly margin: T;
}

/** The Bradley–Terry loss of every pair of rewards, `[B, 1]`. */
export function rewardModelLoss<T>(
  ops: TensorOps<T>,
  { chosen, rejected, margin }: RewardPair<T>,
  centering: number,
): T {
  const loss = negativeLogSigmoid(ops, ops.sub(ops.sub(chosen, rejected), margin));
  if (centering === 0) return loss;
  return ops.add(loss, scaled(ops, centering, ops.square(ops.add(chosen, rejected))));
}

/** A value stands before its token, so one more token makes room for the value of the whole sequence. */
function judged(tokens: readonly TokenId[], derivative: number): TrainingSequence {
  const longer = [...tokens, tokens.at(-1)!];
  const mask = new Uint8Array(longer.length);
  const weights = new Float64Array(longer.length);
  mask[tokens.length] = 1;
  weights[tokens.length] = derivative;
  return { tokens: longer, mask, weights, columns: {} };
}

/** Options of {@link rewardModel}. */
export interface RewardModelRewardOptions {
  /** Tokens that the model judges. Default: the last sequence of the policy's own tokens, for a model with the same tokenizer. */
  readonly tokens?: ((trajectory: Trajectory) => readonly TokenId[]) | undefined;
}

/**
 * A trained reward model as a reward: its value of everything the policy read and said.
 *
 * Trajectories that are scored in the same moment are computed as one batch. `null` for a trajectory without tokens.
 *
 * @param model - A backend with a value head, trained by `runRewardModelTraining`.
 * @throws ArgumentError for a backend without a value head.
 */
export function rewardModel(model: CriticBackend, options: RewardModelRewardOptions = {}): RewardFunction {
  requireGroups('rewardModel', model, [{ option: 'model', group: 'values' }]);
  const { tokens = lastTokens } = options;
  let waiting: (readonly TokenId[])[] = [];
  let values: Promise<readonly Float32Array[]> | undefined;
  return async (trajectory) => {
    const sequence = tokens(trajectory);
    if (sequence.length === 0) return null;
    const place = waiting.push(sequence) - 1;
    values ??= Promise.resolve().then(async () => {
      const batch = waiting;
      waiting = [];
      values = undefined;
      return model.values(batch);
    });
    const reward = (await values)[place]!.at(-1)!;
    if (Number.isFinite(reward)) return reward;
    throw new ArgumentError(`rewardModel: expected a finite reward, got ${reward}; load another checkpoint`);
  };
}

function lastTokens({ steps }: Trajectory): readonly TokenId[] {
  return tokenSequences(steps).at(-1)?.tokens ?? [];
}
