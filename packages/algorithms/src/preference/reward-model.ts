import {
  ArgumentError,
  type CriticBackend,
  defineLoss,
  type ForwardBackwardResult,
  type Loss,
  parseOptions,
  type RewardFunction,
  requireArguments,
  requireFields,
  requireGroups,
  type TensorOps,
  type TokenId,
  type TrainingSequence,
  type Trajectory,
  tokenSequences,
  withForeignNames,
} from '@rlp/core';
import type { Variable } from '@rlp/tensor';
import * as z from 'zod';
import {
  runUpdates,
  type UpdateDependencies,
  type UpdateReport,
  type UpdateState,
  updateDependencyShape,
} from '../supervised/run-updates.ts';
import { hasOneLength, oneLength } from '../supervised/update-options.ts';
import { passNames } from '../training/foreign-names.ts';
import { guardedLogger } from '../training/guarded-logger.ts';
import type { ResumeOptions } from '../training/resume-options.ts';
import { differentiate } from './differentiate.ts';
import { pairsWithin } from './judged-within.ts';
import { comparesInOnePass, mean } from './learning.ts';
import { passShape } from './options.ts';
import { negativeLogSigmoid, scaled } from './pair-losses.ts';
import type { JudgedPair } from './preferences.ts';

const schema = z
  .strictObject({
    /** Names the random streams that shuffle the pairs. Default `'reward-model'`. */
    seed: z.string().default('reward-model'),
    /** Factor of the squared sum of both rewards, which keeps rewards near 0. Default 0. */
    centering: z.number().min(0).default(0),
    ...passShape,
  })
  .refine(hasOneLength, oneLength);

/** Schema of {@link RewardModelOptions}. */
export const rewardModelSchema = withForeignNames(schema, passNames);

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

/** {@link rewardModelLoss} over rows of a chosen and a rejected sequence. Columns are 0 but at the judged tokens. */
function joinedLoss(centering: number): Loss {
  return defineLoss({
    key: `reward-model pairs ${centering}`,
    columns: ['chosen', 'rejected', 'margin'],
    values: 'only',
    sequencesPerRow: 2,
    compute(ops, { values, mask, columns }) {
      const pair = {
        chosen: ops.rowSum(ops.mul(values!, columns.chosen)),
        rejected: ops.rowSum(ops.mul(values!, columns.rejected)),
        margin: ops.rowSum(columns.margin),
      };
      return { tokenLosses: ops.mul(mask, rewardModelLoss(ops, pair, centering)) };
    },
  });
}

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
  const { backend } = dependencies;
  const logger = guardedLogger(dependencies.logger, console.warn);
  requireGroups('runRewardModelTraining', backend, [{ option: 'the loss', group: 'values' }]);
  const context = { owner: 'runRewardModelTraining', contextLength: backend.contextLength };
  const { items: pairs, note } = pairsWithin(dependencies.pairs, resolved.maxLength, context);
  if (note !== undefined) logger?.note?.(resume?.iteration ?? 0, note);
  if (pairs.length === 0) throw new ArgumentError(`runRewardModelTraining: ${note}, so no pair is left`);
  yield* runUpdates(
    { ...dependencies, logger },
    {
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
    },
  );
}

async function learnRewards(backend: CriticBackend, batch: readonly JudgedPair[], centering: number) {
  const sides = batch.flatMap(({ chosen, rejected }) => [chosen, rejected]);
  const learn = comparesInOnePass(backend, sides) ? joinedPass : separatePasses;
  const { pass, value, chosen, rejected } = await learn(backend, batch, centering);
  const rewards = [...chosen, ...rejected];
  return {
    pass,
    metrics: {
      'loss/reward-model': value,
      'reward/mean': (mean(chosen) + mean(rejected)) / 2,
      'reward/min': rewards.reduce((least, reward) => Math.min(least, reward), Number.POSITIVE_INFINITY),
      'reward/max': rewards.reduce((most, reward) => Math.max(most, reward), Number.NEGATIVE_INFINITY),
      'reward/margin': mean(chosen) - mean(rejected),
      'reward/accuracy': mean(chosen.map((reward, row) => (reward > rejected[row]! ? 1 : 0))),
    },
  };
}

/** Result of a pass over a batch of pairs, with the rewards of both sides. */
interface PassedRewards {
  readonly pass: ForwardBackwardResult;
  readonly value: number;
  readonly chosen: Float64Array;
  readonly rejected: Float64Array;
}

/** One pass, in which the loss compares both sides of each pair. */
async function joinedPass(
  backend: CriticBackend,
  batch: readonly JudgedPair[],
  centering: number,
): Promise<PassedRewards> {
  const sequences = batch.flatMap(({ chosen, rejected, margin = 0 }) => [
    judged(chosen.tokens, 1 / batch.length, { chosen: 1, rejected: 0, margin }),
    judged(rejected.tokens, 0, { chosen: 0, rejected: 1, margin: 0 }),
  ]);
  const pass = await backend.forwardBackward({ sequences }, joinedLoss(centering));
  const rewards = pass.values!.map((row) => row.at(-1)!);
  const side = (offset: number) => Float64Array.from(batch, (_, row) => rewards[2 * row + offset]!);
  return { pass, value: pass.loss, chosen: side(0), rejected: side(1) };
}

/** A pass that computes the rewards, and one that learns with the derivative by each. */
async function separatePasses(
  backend: CriticBackend,
  batch: readonly JudgedPair[],
  centering: number,
): Promise<PassedRewards> {
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
  return { pass: await backend.forwardBackward({ sequences }, valueSum), value, chosen, rejected };
}

/** What {@link rewardModelLoss} reads. Each is `[B, 1]`. */
export interface RewardPair<T> {
  readonly chosen: T;
  readonly rejected: T;
  readonly margin: T;
}

/** The Bradley–Terry loss of every pair of rewards, `[B, 1]`. */
export function rewardModelLoss<T>(ops: TensorOps<T>, inputs: RewardPair<T>, centering: number): T {
  requireArguments('rewardModelLoss', { ops: 'operations', centering: 'number' }, ops, centering);
  requireFields('rewardModelLoss', { chosen: 'given', rejected: 'given', margin: 'given' }, inputs);
  const { chosen, rejected, margin } = inputs;
  const loss = negativeLogSigmoid(ops, ops.sub(ops.sub(chosen, rejected), margin));
  if (centering === 0) return loss;
  return ops.add(loss, scaled(ops, centering, ops.square(ops.add(chosen, rejected))));
}

/** A value stands before its token, so one more token makes room for the value of the whole sequence. */
function judged(
  tokens: readonly TokenId[],
  weight: number,
  columns: Readonly<Record<string, number>> = {},
): TrainingSequence {
  const longer = [...tokens, tokens.at(-1)!];
  const atEnd = (value: number) => new Float64Array(longer.length).fill(value, tokens.length);
  const filled = Object.entries(columns).map(([name, value]) => [name, atEnd(value)] as const);
  return { tokens: longer, mask: atEnd(1), weights: atEnd(weight), columns: Object.fromEntries(filled) };
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
  requireArguments('rewardModel', { options: 'object?' }, options);
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
