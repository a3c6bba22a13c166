import { extractTag, finalAnswer, plainForm, writtenAnswer } from '@rlp/answers';
import { parseOptions, type RewardComputer, type RewardFunction } from '@rlp/core';
import { isReasoningAnswer, type ReasoningMetadata } from '@rlp/env/reasoning';
import type { TextTokenizer } from '@rlp/models';
import { RewardRegistry } from '@rlp/rewards';
import * as stock from '@rlp/rewards/stock';
import * as z from 'zod';
import { type SavedRewardModel, savedRewardModel } from '../train/reward-models.ts';
import type { DescribedReward } from './reward-schema.ts';

/** What rewards of a configuration read of a task. */
export interface AnswerMetadata {
  readonly answer?: string | undefined;
}

const reference = ({ answer }: AnswerMetadata) => answer ?? '';

const worked = finalAnswer({ from: ['hash'] });

/**
 * Whether a response ends with the right answer: equal text, or equal mathematics.
 *
 * A reference such as a GSM8K solution counts by what stands after `####`.
 */
function rightAnswer(): RewardFunction<AnswerMetadata> {
  const agrees = stock.mathAnswer<AnswerMetadata>({
    reference: (metadata) => worked(reference(metadata)) ?? reference(metadata),
  });
  return (scored, context) => {
    const { response, task } = scored;
    const expected = worked(reference(task.metadata)) ?? reference(task.metadata);
    const texts = [writtenAnswer(response), response].map(plainForm);
    if (expected !== '' && texts.includes(plainForm(expected))) return 1;
    return agrees(scored, context);
  };
}

/** Whether a response answers a task of `@rlp/env/reasoning`. */
function reasoningAnswer(): RewardFunction<AnswerMetadata> {
  return ({ response, task }) =>
    isReasoningAnswer(response, task.metadata as unknown as ReasoningMetadata) ? 1 : 0;
}

/** Score of a game, 0 to 1. */
function gameScore(): RewardFunction<AnswerMetadata> {
  return ({ outcome }) => (outcome as { readonly score?: number } | undefined)?.score ?? null;
}

const noParams = z.strictObject({});
const tagParams = z.strictObject({
  /** Tag around the answer. Default `'answer'`. */
  tag: z.string().min(1).default('answer'),
});

function exactAnswer(params: unknown): RewardFunction<AnswerMetadata> {
  const { tag } = parseOptions('exactAnswer', tagParams, params);
  return stock.exactAnswer({ reference, extract: extractTag(tag, 'agreeing') });
}

function gsm8kAnswer(params: unknown): RewardFunction<AnswerMetadata> {
  parseOptions('gsm8kAnswer', noParams, params);
  return stock.gsm8kAnswer({ reference });
}

const rewardModelParams = z.strictObject({
  /** Folder of a run of mode `'reward-model'`, or of its model. Required. */
  model: z.string().min(1),
});

function rewardModel(params: unknown): RewardFunction<AnswerMetadata> & SavedRewardModel {
  const { model } = parseOptions('rewardModel', rewardModelParams, params);
  return savedRewardModel(model);
}

/** Rewards that a configuration names. Those that compare answers read the task's `answer`. */
const namedRewards = {
  ...stock.stockRewards,
  answer: rightAnswer,
  reasoningAnswer,
  gameScore,
  rewardModel,
  exactAnswer,
  gsm8kAnswer,
  mathAnswer: (params: object) => stock.mathAnswer<AnswerMetadata>({ reference, ...params }),
  checkAnswer: (params: object) => stock.checkAnswer<AnswerMetadata>({ reference, ...params }),
} as const;

/** Rewards that cannot judge a task without an answer. */
const readAnswers: ReadonlySet<string> = new Set([
  'answer',
  'exactAnswer',
  'gsm8kAnswer',
  'mathAnswer',
  'checkAnswer',
] satisfies RewardName[]);

/** Name of a reward in a configuration. */
export type RewardName = keyof typeof namedRewards;

type Parts = Readonly<Record<string, RewardName | (string & {}) | DescribedReward | RewardFunction>>;

/** Rewards of a run. Reward models among them are loaded when they are first used. `close` closes them. */
interface OpenRewards {
  readonly computer: RewardComputer<AnswerMetadata>;
  /** First component that needs an answer in each task. */
  readonly readsAnswer: string | undefined;
  /** @throws what `SavedRewardModel.requireModel` throws. */
  requireModels(policy: TextTokenizer): Promise<void>;
  close(): Promise<void>;
}

/**
 * The weighted sum of rewards by component.
 *
 * @throws OptionsError naming everything that is wrong with names and parameters.
 */
export function createRunRewards(parts: Parts): OpenRewards {
  const models: SavedRewardModel[] = [];
  const own: Record<string, () => RewardFunction<AnswerMetadata>> = {};
  const configs = Object.entries(parts).map(([component, part]) => {
    const described =
      typeof part === 'object' ? part : typeof part === 'string' ? { name: part } : { reward: part };
    const { name, reward, weight, params } = described as DescribedReward;
    const named = `the function of ${component}`;
    if (reward !== undefined) own[named] = () => reward as RewardFunction<AnswerMetadata>;
    return { name: reward === undefined ? (name ?? '') : named, as: component, weight, params };
  });
  const opened = (params: unknown) => {
    const model = rewardModel(params);
    models.push(model);
    return model;
  };
  const registry = new RewardRegistry<AnswerMetadata>({
    rewards: { ...namedRewards, rewardModel: opened, ...own },
  });
  const close = async () => void (await Promise.all(models.map((model) => model.close())));
  const readsAnswer = configs.find(
    ({ name, params }) => readAnswers.has(name) && !Object.hasOwn(params ?? {}, 'reference'),
  )?.as;
  const requireModels = async (policy: TextTokenizer) => {
    for (const model of models) await model.requireModel(policy);
  };
  return { computer: registry.createRewards(configs), readsAnswer, requireModels, close };
}
