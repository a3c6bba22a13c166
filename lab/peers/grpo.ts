import { runRlTraining } from '@rlp/algorithms';
import {
  type InferenceEngine,
  RandomStream,
  type RewardComputer,
  type Sampler,
  type TrainingBackend,
  type Trajectory,
} from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import type { LanguageModel } from '@rlp/models';
import { RolloutManager } from '@rlp/rollout';

const tokensOf = ({ steps }: Trajectory) => steps.flatMap(({ tokens }) => tokens ?? []);

/**
 * The share of tokens whose embeddings have a positive part along a fixed direction. Random models get half. A model of random weights can move
 * its last hidden state along the direction, and little else.
 */
function alongDirection({ config, weights }: LanguageModel): RewardComputer {
  const { hiddenSize, vocabularySize } = config;
  const random = RandomStream.named('peers', 'direction');
  const direction = Array.from({ length: hiddenSize }, () => random.uniform() - 0.5);
  const { data } = weights.get('model.embed_tokens.weight')!;
  const isGood = Array.from({ length: vocabularySize }, (_, token) => {
    const row = data.subarray(token * hiddenSize, (token + 1) * hiddenSize);
    return row.reduce((sum, x, i) => sum + x * direction[i]!, 0) > 0;
  });
  return {
    computeRewards: async ({ trajectories }) =>
      trajectories.map((trajectory) => {
        const tokens = tokensOf(trajectory);
        const reward = tokens.filter((token) => isGood[token]).length / Math.max(1, tokens.length);
        return { trajectory, reward, components: { direction: reward } };
      }),
  };
}

const tasks = ['Once upon', 'The cat', 'Tom and', 'One day'].map((prompt) => ({
  id: prompt,
  prompt,
  metadata: undefined,
}));

/** Parts of a run that a peer provides. */
export interface PeerRun {
  readonly backend: TrainingBackend;
  readonly sampler: Sampler & InferenceEngine;
  /** The model that both hold, as files of this machine. */
  readonly model: LanguageModel;
  readonly publications?: string | undefined;
  readonly iterations: number;
}

/** A short GRPO. Resolves with the mean rewards at its beginning and end, and the largest gap between trainer and sampler. */
export async function shortGrpo({ backend, sampler, model, publications, iterations }: PeerRun) {
  const environment = new SimpleTextEnvironment();
  const rollouts = new RolloutManager(
    { environment, sampler, tokenizer: model.tokenizer },
    { groupSize: 16, concurrency: 64, sampling: { maxTokens: 8 } },
  );
  const rewards: number[] = [];
  const gaps: number[] = [];
  for await (const { metrics } of runRlTraining(
    {
      ...{ rollouts, backend, publications, inference: sampler },
      ...{ rewards: alongDirection(model), tasks: taskSource(tasks, { seed: 'peers' }) },
    },
    { iterations, tasksPerIteration: 4 },
  )) {
    rewards.push(metrics['reward/mean']!);
    // An iteration in which all members of each group did equally well updates nothing.
    const gap = metrics['gap/absolute'];
    if (gap !== undefined) gaps.push(gap);
  }
  const gap = gaps.length === 0 ? Number.NaN : Math.max(...gaps);
  console.log(`peers: rewards ${rewards.map((x) => x.toFixed(3)).join(' ')}; largest mean gap ${gap}`);
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  return { before: mean(rewards.slice(0, 3)), after: mean(rewards.slice(-5)), gap };
}
