/**
 * Learn when to check your work
 *
 * A policy stands at forks in the road. At easy ones it can know the way. At hard ones only the map tells, and a look at the map costs one
 * unit of a budget. The policy begins with the habit of looking at every fork. `SVRLRewardComputer` charges for the looks, and the policy learns to
 * look at hard forks only, and is right as often. The policy is a table, so the program runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/self-verification.ts
 * ```
 */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { ChatRenderer, RewardComputer, Task } from '@rlp/core';
import {
  ConversationEnvironment,
  type ConversationState,
  type ToolContext,
  taskSource,
  tool,
  withVerification,
} from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { SVRLRewardComputer, type SVRLRewardComputerOptions } from '@rlp/rewards/computers';
import * as z from 'zod';

/** A fork, and the way that is right. */
interface Fork {
  readonly way: 'left' | 'right';
}

/** At an easy fork the way is left. At a hard one it is left as often as right. */
const tasks = (['easy', 'hard'] as const).flatMap((kind) =>
  (['left', 'right'] as const).map((way): Task<Fork> => {
    return { id: `${kind} ${way}`, prompt: kind, metadata: { way: kind === 'easy' ? 'left' : way } };
  }),
);
const map = tool({
  name: 'map',
  description: 'Shows the way.',
  parameters: z.object({}),
  execute: (_, { state }: ToolContext<ConversationState<Fork>>) => `map: ${state.metadata.way}`,
});
const environment = withVerification(new ConversationEnvironment<Fork>(), [map], { budget: 4 });

/** Each of these is one token, because a table cannot spell. */
const look = '<tool_call>{"name": "map", "arguments": {}}</tool_call>';
const words = ['easy', 'hard', 'map: left', 'map: right', 'left', 'right', look];
const tokenizer = characterTokenizer('\n', { end: '<end>', others: words });
const chat: ChatRenderer = {
  render: (messages) => tokenizer.encode(messages.map(({ content }) => content).join('\n')),
};

/** How rewards are made, and what a check costs. */
export interface Charge extends Pick<SVRLRewardComputerOptions<Fork>, 'method' | 'verificationWeight'> {}

/** Means of an iteration. */
export interface Measured {
  readonly accuracy: number;
  /** Looks at the map per easy and per hard fork. */
  readonly easy: number;
  readonly hard: number;
}

/** Trains a policy. Yields the means of each iteration. */
export async function* trainWalker(
  charge: Charge,
  { seed, iterations }: { readonly seed: string; readonly iterations: number },
): AsyncGenerator<Measured> {
  const isRight = ({ response, task }: { response: string; task: Task<Fork> }) =>
    response === task.metadata.way ? 1 : 0;
  const svrl = new SVRLRewardComputer<Fork>({
    taskEvaluator: isRight,
    ...{ efficiencyWeight: 0, maxTurns: 4, ...charge },
  });
  let seen: { readonly right: number; readonly kind: unknown; readonly spent: number }[] = [];
  const rewards: RewardComputer<Fork> = {
    computeRewards: (group, context) => {
      for (const trajectory of group.trajectories) {
        const spent = trajectory.metrics?.['verification/spent'] ?? 0;
        seen.push({ right: isRight(trajectory), kind: trajectory.task.prompt, spent });
      }
      return svrl.computeRewards(group, context);
    },
  };
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 1,
    learningRate: 0.1,
  });
  // As after imitation of somebody who looks at the map at every fork, and believes it.
  const habits = { easy: look, hard: look, 'map: left': 'left', 'map: right': 'right' };
  for (const [seen, said] of Object.entries(habits)) {
    const [context, token] = [tokenizer.encode(seen), tokenizer.encode(said)[0]!];
    backend.table.logits[backend.table.rowOf(context, 1) + token] = 4;
  }
  const sampler = new TabularSampler({ backend, tokenizer });
  const grpo = new GRPOAlgorithm(
    { environment, tasks: taskSource(tasks), rewards, sampler, backend, tokenizer, chat },
    {
      tasksPerIteration: 8,
      rollout: { seed, groupSize: 16, maxTurns: 4, sampling: { maxTokens: 1 } },
    },
  );
  for await (const _ of grpo.run({ iterations })) {
    const spent = (wanted: string) =>
      mean(seen.filter(({ kind }) => kind === wanted).map((each) => each.spent));
    yield { accuracy: mean(seen.map(({ right }) => right)), easy: spent('easy'), hard: spent('hard') };
    seen = [];
  }
}

/** Means of the last iterations of a run. */
export async function lastOf(reports: AsyncIterable<Measured>, count = 10): Promise<Measured> {
  const all: Measured[] = [];
  for await (const report of reports) all.push(report);
  const last = all.slice(-count);
  const of = (key: keyof Measured) => mean(last.map((report) => report[key]));
  return { accuracy: of('accuracy'), easy: of('easy'), hard: of('hard') };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

if (import.meta.filename === process.argv[1]) {
  for (const verificationWeight of [0, 1])
    for (const seed of ['1', '2', '3']) {
      const { accuracy, easy, hard } = await lastOf(
        trainWalker({ verificationWeight }, { seed, iterations: 60 }),
      );
      const looks = `${easy.toFixed(2)} looks at an easy fork, ${hard.toFixed(2)} at a hard one`;
      console.log(
        `charge ${verificationWeight}, seed ${seed}: ${(100 * accuracy).toFixed(1)} % right, ${looks}`,
      );
    }
}
