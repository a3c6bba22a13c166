import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { ChatRenderer, Environment, State, Task, Trajectory } from '@rlp/core';
import {
  ConversationEnvironment,
  type ConversationState,
  type ToolContext,
  taskSource,
  tool,
  withTermination,
  withTools,
  withUser,
  withVerification,
} from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { ParetoRewardComputer, SVRLRewardComputer } from '@rlp/rewards/computers';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { PPOAlgorithm } from '../algorithm/ppo.ts';

/**
 * A fork in the road. On easy tasks the right way is known. On hard ones it is left as often as right, and only the map tells. A look at
 * the map costs a tenth of the budget.
 */
interface Fork {
  readonly way: 'left' | 'right';
}
const look = '<tool_call>{"name": "map", "arguments": {}}</tool_call>';
const finish = '<tool_call>{"name": "finish", "arguments": {}}</tool_call>';
const map = tool({
  name: 'map',
  description: 'Shows the way.',
  parameters: z.object({}),
  execute: (_, { state }: ToolContext<ConversationState<Fork>>) => state.metadata.way,
});
const signs = tool({
  name: 'signs',
  description: 'Reads signs.',
  parameters: z.object({}),
  execute: () => 'none',
});

const words = ['easy', 'hard', 'left', 'right', 'other', look];
const tasks = (['easy', 'hard'] as const).flatMap((kind) =>
  (['left', 'right'] as const).map(
    (way): Task<Fork> => ({
      id: `${kind} ${way}`,
      prompt: kind,
      metadata: { way: kind === 'easy' ? 'left' : way },
    }),
  ),
);
const isRight = ({ response, task }: Trajectory<Fork>) => Number(response === task.metadata.way);
const dialogue = () => new ConversationEnvironment<Fork>();

/** What algorithms are made of. A table cannot spell, so each of the texts is one token, and it sees the last one only. */
function setup<S extends State>(environment: Environment<S, Fork>, ...others: readonly string[]) {
  const known = [...words, ...others];
  const tokenizer = characterTokenizer('\n', { end: '<end>', others: known });
  const chat: ChatRenderer = {
    render: (messages) =>
      tokenizer.encode(
        messages.map(({ content }) => (known.includes(content) ? content : 'other')).join('\n'),
      ),
  };
  const shape = { vocabularySize: tokenizer.vocabularySize, contextTokens: 1, learningRate: 0.3 };
  const backend = new TabularBackend(shape);
  const critic = new TabularBackend({ ...shape, valueHead: 'linear' });
  const sampler = new TabularSampler({ backend, tokenizer });
  const seen: Trajectory<Fork>[] = [];
  return {
    seen,
    critic,
    dependencies: { environment, tasks: taskSource(tasks), sampler, backend, tokenizer, chat },
  };
}
const options = (groupSize: number) => ({
  tasksPerIteration: 8,
  loss: { entropyCoefficient: 0.03 },
  rollout: { groupSize, maxTurns: 4, sampling: { maxTokens: 1 } },
});
/** A reward computer that remembers what it scored. */
function remembering<Computer extends { computeRewards: SVRLRewardComputer<Fork>['computeRewards'] }>(
  { computeRewards }: Computer,
  seen: Trajectory<Fork>[],
) {
  const remember: Computer['computeRewards'] = (group, given) => {
    seen.push(...group.trajectories);
    return computeRewards(group, given);
  };
  return { computeRewards: remember };
}
const spentOn = (kind: string, trajectories: readonly Trajectory<Fork>[]) =>
  mean(
    trajectories
      .filter(({ task }) => task.prompt === kind)
      .map(({ metrics }) => metrics!['verification/spent']!),
  );
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('self-verification under a budget', () => {
  it('learns to check what it does not know, and nothing else', async () => {
    const environment = withVerification(withTools(dialogue(), [signs]), [map], { budget: 10 });
    const { seen, dependencies } = setup(environment);
    // A look costs a tenth of the budget, so 0.1. A guess on a hard task earns 0.
    const svrl = new SVRLRewardComputer<Fork>({
      taskEvaluator: (trajectory) => 2 * isRight(trajectory) - 1,
      ...{ verificationWeight: 1, efficiencyWeight: 0, maxTurns: 4 },
    });
    const grpo = new GRPOAlgorithm({ ...dependencies, rewards: remembering(svrl, seen) }, options(16));
    const { history } = await grpo.train({ iterations: 60 });
    const last = seen.slice(-640);
    expect(history.at(-1)!['reward/mean']!).toBeGreaterThan(0.85); // 0.95 is the best there is, without looking 0.5
    expect(mean(last.map(isRight))).toBeGreaterThan(0.95);
    expect(spentOn('hard', last)).toBeGreaterThan(0.9);
    expect(spentOn('easy', last)).toBeLessThan(0.2);
    expect(last[0]!.metrics).toMatchObject({ 'verification/budget': 10 });
  });

  it('has several objectives on the combined environment', async () => {
    const user = async () => 'Well?';
    const instructions = () => 'You are in a hurry.';
    const environment = withTermination(
      withVerification(withUser(dialogue(), user, { instructions, maxTurns: 1 }), [map], { budget: 2 }),
      { tool: 'finish' },
    );
    const { seen, dependencies } = setup(environment as never, finish, 'Well?');
    const svrl = new SVRLRewardComputer<Fork>({ taskEvaluator: isRight, method: 'pareto', maxTurns: 4 });
    const grpo = new GRPOAlgorithm({ ...dependencies, rewards: remembering(svrl, seen) }, options(8));
    const { history } = await grpo.train({ iterations: 3 });
    expect(history).toHaveLength(3);
    expect(seen.every(({ status }) => status === 'completed' || status === 'truncated')).toBe(true);
    const reasons = new Set(seen.map(({ termination }) => termination?.reason));
    expect([...reasons].sort()).toEqual(['tokens', 'turns']); // a response of one token is cut, or answers for ever
    for (const { metrics } of seen) {
      expect(metrics!['verification/spent']).toBeLessThanOrEqual(2);
      expect(metrics!['user/turns']).toBeLessThanOrEqual(1);
    }
  });
});

it('PPO learns by Pareto fronts of several objectives', async () => {
  const { seen, critic, dependencies } = setup(dialogue());
  const isBrief = ({ response }: Trajectory<Fork>) => Number(response.length < 8);
  const rewards = new ParetoRewardComputer<Fork>({ objectives: { right: isRight, brief: isBrief } });
  const ppo = new PPOAlgorithm({ ...dependencies, critic, rewards: remembering(rewards, seen) }, options(16));
  await ppo.train({ iterations: 20 });
  const [first, last] = [seen.slice(0, 128), seen.slice(-128)];
  expect(mean(last.map(isRight))).toBeGreaterThan(mean(first.map(isRight)) + 0.3);
  expect(mean(last.map(isBrief))).toBeGreaterThan(0.9);
});
