import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { CriticBackend, RewardComputer } from '@rlp/core';
import { DAPOAlgorithm } from '../algorithm/dapo.ts';
import type { AlgorithmDependencies } from '../algorithm/dependencies.ts';
import { DrGRPOAlgorithm } from '../algorithm/dr-grpo.ts';
import { GiGPOAlgorithm } from '../algorithm/gigpo.ts';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { GSPOAlgorithm } from '../algorithm/gspo.ts';
import type { AlgorithmOptions } from '../algorithm/options.ts';
import type { PolicyAlgorithm } from '../algorithm/policy-algorithm.ts';
import { PPOAlgorithm } from '../algorithm/ppo.ts';
import { REINFORCEAlgorithm } from '../algorithm/reinforce.ts';
import { RLOOAlgorithm } from '../algorithm/rloo.ts';
import {
  atTheTop,
  bandit,
  type ChainState,
  chain,
  chainTasks,
  climbed,
  moves,
  tokenizer,
} from './chain.fixture.ts';

/** What is learned. */
export type Lesson = 'bandit' | 'chain';

/** Where each is learned, and for what. */
export const lessons = {
  bandit: { environment: bandit, rewards: climbed },
  chain: { environment: chain, rewards: atTheTop },
} satisfies Record<Lesson, { environment: typeof chain; rewards: RewardComputer }>;

const shape = { vocabularySize: tokenizer.vocabularySize, contextTokens: 1 };

/** A policy on a table, a critic on another, and all that an algorithm needs besides. */
function tabularSetup(lesson: Lesson, learningRate: number): Setup {
  const backend = new TabularBackend({ ...shape, learningRate });
  const critic = new TabularBackend({ ...shape, learningRate: 2 * learningRate, valueHead: 'linear' });
  const sampler = new TabularSampler({ backend, tokenizer });
  return { ...lessons[lesson], backend, critic, sampler, tokenizer, tasks: chainTasks() };
}

/** What an algorithm is made of. */
export interface Setup extends AlgorithmDependencies<ChainState> {
  readonly critic: CriticBackend;
}

type Make = (
  setup: AlgorithmDependencies<ChainState>,
  options: AlgorithmOptions,
) => Pick<PolicyAlgorithm, 'train'>;

/** Every algorithm as it is by default, but for what is said here. Those that do not compare within groups get groups of one. */
export const algorithms = {
  GRPO: (setup, options) => new GRPOAlgorithm(setup, options),
  'Dr. GRPO': (setup, options) => new DrGRPOAlgorithm(setup, options),
  RLOO: (setup, options) => new RLOOAlgorithm(setup, options),
  // With what it has learned nearly all groups are without variance, and looking for others takes most of the time.
  DAPO: (setup, options) =>
    new DAPOAlgorithm(setup, { ...options, truncatedTrajectories: 'train', collectionRounds: 3 }),
  GSPO: (setup, options) => new GSPOAlgorithm(setup, options),
  GiGPO: (setup, options) =>
    new GiGPOAlgorithm(setup, { ...options, gigpo: { scale: 'std', discount: 0.9 } }),
  REINFORCE: (setup, options) =>
    new REINFORCEAlgorithm(setup, { ...alone(options), reinforce: { discount: 0.9 } }),
  'REINFORCE++': (setup, options) =>
    new REINFORCEAlgorithm(setup, { ...alone(options), variant: 'plus-plus' }),
  PPO: (setup, options) =>
    new PPOAlgorithm(setup as Setup, {
      ...alone(options),
      epochs: 1,
      critic: { epochs: 4 },
      gae: { discount: 0.9, lambda: 0.8 },
    }),
} satisfies Record<string, Make>;

/** As many trajectories, one per task. */
function alone({ rollout, tasksPerIteration, ...options }: AlgorithmOptions): AlgorithmOptions {
  return {
    ...options,
    tasksPerIteration: tasksPerIteration! * rollout!.groupSize!,
    rollout: { ...rollout, groupSize: 1 },
  };
}

/** One of {@link algorithms}. */
export type AlgorithmName = keyof typeof algorithms;

/** Whether everything is learned with every seed, as in the nightly job. */
export const isThorough = Boolean(process.env.RLP_SLOW_TESTS);

/** The seeds that tests are run with. */
export const seeds = ['1', '2', '3', '4', '5'].slice(0, isThorough ? 5 : 1);

const learningRates: Record<Lesson, number> = { bandit: 0.3, chain: 0.15 };

/** Share of episodes that succeeded, for each of 12 iterations (or so many) of 32 episodes. */
export async function learningCurve(
  algorithm: AlgorithmName,
  {
    lesson,
    seed,
    iterations = 12,
  }: { readonly lesson: Lesson; readonly seed: string; readonly iterations?: number },
  setup: Setup = tabularSetup(lesson, learningRates[lesson]),
): Promise<number[]> {
  const rollout = { seed, groupSize: 8, maxTurns: moves, sampling: { maxTokens: 1 } };
  const { critic, ...dependencies } = setup;
  const run = algorithms[algorithm](algorithm === 'PPO' ? setup : dependencies, {
    seed,
    tasksPerIteration: 4,
    rollout,
  });
  const { history } = await run.train({ iterations, print: 'none' });
  return history.map((metrics) => metrics['reward/mean']!);
}

/** What is claimed of the chain: the first learns faster than the second. */
export const comparisons = [
  ['GiGPO', 'GRPO'],
  ['PPO', 'REINFORCE'],
] as const satisfies readonly (readonly [AlgorithmName, AlgorithmName])[];
