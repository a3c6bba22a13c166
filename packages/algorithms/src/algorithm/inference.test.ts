import {
  type CriticBackend,
  defineLoss,
  type Environment,
  type RewardComputer,
  type State,
  type TaskSource,
  type TokenSequence,
} from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { exactAnswer, rewardFunctions, tagFormat } from '@rlp/rewards';
import { relativeRewardComputer } from '@rlp/rewards/computers';
import { RolloutManager } from '@rlp/rollout';
import { describe, expectTypeOf, it } from 'vitest';
import {
  type AlgorithmDependencies,
  DAPOAlgorithm,
  DrGRPOAlgorithm,
  GiGPOAlgorithm,
  GRPOAlgorithm,
  GSPOAlgorithm,
  PPOAlgorithm,
  REINFORCEAlgorithm,
  RLOOAlgorithm,
  type RlReport,
  runRlTraining,
  runSftTraining,
  type SftReport,
} from '../index.ts';

interface Question {
  readonly answer: string;
  readonly level: number;
}
interface Won {
  readonly isWon: boolean;
}
interface Board extends State {
  readonly fields: string;
}

declare const tasks: TaskSource<Question>;
/** It reads less of the task than there is. */
declare const environment: Environment<Board, { readonly answer: string }, Won>;
declare const parts: Pick<AlgorithmDependencies, 'sampler' | 'backend' | 'tokenizer'>;
declare const critic: CriticBackend;

// Never called: the compiler is the test, in `check:types`.
describe('types flow from tasks and environment into rewards', () => {
  it('into functions written in place', () => {
    const made = () =>
      new GRPOAlgorithm({
        ...parts,
        tasks,
        environment,
        rewards: rewardFunctions({
          accuracy: ({ response, task, outcome }) => {
            expectTypeOf(task.metadata).toEqualTypeOf<Question>();
            expectTypeOf(outcome).toEqualTypeOf<Won | undefined>();
            return response === task.metadata.answer && outcome?.isWon ? 1 : 0;
          },
          easy: { weight: 0.1, reward: ({ task }) => -task.metadata.level },
          exact: exactAnswer({ reference: ({ answer }) => answer }),
          format: { weight: 0.2, reward: tagFormat({ tags: ['answer'] }) },
        }),
      });
    expectTypeOf(made).returns.toEqualTypeOf<GRPOAlgorithm<Board, Question, Won>>();
  });

  it('whatever the order of the dependencies, and through a computer around the computer', () => {
    const made = () =>
      new PPOAlgorithm({
        ...parts,
        rewards: relativeRewardComputer(
          rewardFunctions({ level: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        ),
        environment,
        tasks,
        critic: {} as never,
      });
    expectTypeOf(made).returns.toEqualTypeOf<PPOAlgorithm<Board, Question, Won>>();
  });

  it('and what is not there is an error', () => {
    const world = () => ({ ...parts, tasks, environment });
    const made = () => [
      new GRPOAlgorithm({
        ...world(),
        // @ts-expect-error tasks have no `metadata.secret`
        rewards: rewardFunctions({ a: ({ task }) => task.metadata.secret }),
      }),
      new GRPOAlgorithm({
        ...world(),
        // @ts-expect-error outcomes have no `isLost`
        rewards: rewardFunctions({ a: ({ outcome }) => Number(outcome?.isLost) }),
      }),
      new GRPOAlgorithm({
        ...world(),
        // @ts-expect-error a computer that reads other metadata
        rewards: {} as RewardComputer<{ readonly tests: string }>,
      }),
      new GRPOAlgorithm({
        ...world(),
        // @ts-expect-error a computer that reads another outcome
        rewards: {} as RewardComputer<unknown, { readonly score: number }>,
      }),
    ];
    expectTypeOf(made).toBeFunction();
  });

  it('and computers that were made before need read no more than there is', () => {
    const short = () => rewardFunctions({ short: ({ response }) => -response.length });
    const graded = () =>
      rewardFunctions<{ readonly answer: string }>({ a: ({ task }) => task.metadata.answer.length });
    const won = () => rewardFunctions<unknown, Won>({ a: ({ outcome }) => Number(outcome?.isWon) });
    const made = () =>
      [short(), graded(), won()].map(
        (rewards) => new GRPOAlgorithm({ ...parts, tasks, environment, rewards }),
      );
    const apart = () => [
      new GRPOAlgorithm({ ...parts, tasks, environment, rewards: short() }),
      new GRPOAlgorithm({ ...parts, tasks, environment, rewards: graded() }),
      new GRPOAlgorithm({ ...parts, tasks, environment, rewards: won() }),
    ];
    expectTypeOf(made).toBeFunction();
    expectTypeOf(apart).toBeFunction();
  });
});

const world = () => ({ ...parts, tasks, environment });

describe('a reward and a loss written in place need no annotation', () => {
  it('in any algorithm', () => {
    const made = () => ({
      GRPOAlgorithm: new GRPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      DAPOAlgorithm: new DAPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      DrGRPOAlgorithm: new DrGRPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      GSPOAlgorithm: new GSPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      RLOOAlgorithm: new RLOOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      REINFORCEAlgorithm: new REINFORCEAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      GiGPOAlgorithm: new GiGPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
      PPOAlgorithm: new PPOAlgorithm({
        ...world(),
        critic,
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        loss: {
          key: 'policy gradient',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages) }),
        },
      }),
    });
    expectTypeOf(made)
      .returns.toHaveProperty('GRPOAlgorithm')
      .toEqualTypeOf<GRPOAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('DAPOAlgorithm')
      .toEqualTypeOf<DAPOAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('DrGRPOAlgorithm')
      .toEqualTypeOf<DrGRPOAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('GSPOAlgorithm')
      .toEqualTypeOf<GSPOAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('RLOOAlgorithm')
      .toEqualTypeOf<RLOOAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('REINFORCEAlgorithm')
      .toEqualTypeOf<REINFORCEAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('GiGPOAlgorithm')
      .toEqualTypeOf<GiGPOAlgorithm<Board, Question, Won>>();
    expectTypeOf(made)
      .returns.toHaveProperty('PPOAlgorithm')
      .toEqualTypeOf<PPOAlgorithm<Board, Question, Won>>();
  });

  it('and what is not there is an error', () => {
    const made = () =>
      new GRPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ none: () => 0 }),
        loss: {
          key: 'misspelt',
          // @ts-expect-error a column that the loop does not have
          columns: ['advantage'],
          compute: (ops, { logprobs, mask, columns }) => {
            const trained = ops.mul(logprobs, mask);
            // @ts-expect-error the same in the computation
            return { tokenLosses: ops.mul(trained, columns.advantage) };
          },
        },
      });
    const narrow = () =>
      new GRPOAlgorithm({
        ...world(),
        rewards: rewardFunctions({ none: () => 0 }),
        loss: defineLoss({
          key: 'narrow',
          columns: ['advantages'],
          compute: (ops, { logprobs, columns }) => {
            // @ts-expect-error a column that the loss does not name
            return { tokenLosses: ops.mul(logprobs, columns.behaviorLogprobs) };
          },
        }),
      });
    expectTypeOf(made).toBeFunction();
    expectTypeOf(narrow).toBeFunction();
  });

  it('nor do estimators in the options', () => {
    const grpo = () =>
      new GRPOAlgorithm(
        { ...world(), rewards: rewardFunctions({ none: () => 0 }) },
        {
          advantages: (groups) =>
            groups.map(({ group, scored }) => scored.map(() => group.task.metadata.level)),
        },
      );
    const ppo = () =>
      new PPOAlgorithm(
        { ...world(), critic, rewards: rewardFunctions({ none: () => 0 }) },
        {
          advantages: {
            needs: ['values'],
            estimate: ({ rewards, owners }) => {
              expectTypeOf(owners[0]!.scored.trajectory.task.metadata).toEqualTypeOf<Question>();
              return { advantages: rewards };
            },
          },
        },
      );
    expectTypeOf(grpo).returns.toEqualTypeOf<GRPOAlgorithm<Board, Question, Won>>();
    expectTypeOf(ppo).returns.toEqualTypeOf<PPOAlgorithm<Board, Question, Won>>();
  });
});

describe('runRlTraining', () => {
  it('takes metadata from the tasks, though the environment reads less of it, and outcomes from the environment', () => {
    const run = () =>
      runRlTraining({
        backend: parts.backend,
        inference: parts.sampler,
        tasks,
        rollouts: new RolloutManager({ environment, sampler: parts.sampler, tokenizer: parts.tokenizer }),
        rewards: rewardFunctions({ won: ({ task, outcome }) => (outcome?.isWon ? task.metadata.level : 0) }),
        advantages: (groups) =>
          groups.map(({ group, scored }) => scored.map(() => group.task.metadata.level)),
        loss: {
          key: 'policy gradient',
          columns: ['advantages', 'proximalLogprobs'],
          compute: (ops, { logprobs, columns }) => ({
            tokenLosses: ops.mul(ops.sub(logprobs, columns.proximalLogprobs), columns.advantages),
          }),
        },
      });
    expectTypeOf(run).returns.toEqualTypeOf<AsyncGenerator<RlReport<Question>, void, undefined>>();
  });

  it('takes the metadata of tasks written in place, in an environment that reads none', () => {
    const rollouts = ({ sampler, tokenizer }: typeof parts) =>
      new RolloutManager({ environment: new SimpleTextEnvironment(), sampler, tokenizer });
    const run = () =>
      runRlTraining({
        ...{ backend: parts.backend, inference: parts.sampler, rollouts: rollouts(parts) },
        tasks: taskSource([{ id: 'sum', prompt: '1 + 1', metadata: { sum: 2 } }]),
        rewards: rewardFunctions({
          right: ({ response, task }) => Number(response === `${task.metadata.sum}`),
        }),
      });
    expectTypeOf(run).returns.toEqualTypeOf<AsyncGenerator<RlReport<{ sum: number }>, void, undefined>>();
  });

  it('refuses tasks that lack what the environment reads', () => {
    const run = ({ sampler, tokenizer, backend }: typeof parts) =>
      runRlTraining({
        ...{ backend, inference: sampler },
        rollouts: new RolloutManager({ environment, sampler, tokenizer }),
        // @ts-expect-error the environment reads `answer`
        tasks: taskSource([{ id: 'sum', prompt: '1 + 1', metadata: { sum: 2 } }]),
        rewards: rewardFunctions({ none: () => 0 }),
      });
    expectTypeOf(run).toBeFunction();
  });
});

it('runSftTraining reports what it says, without any', () => {
  const run = (sequences: readonly TokenSequence[]) => runSftTraining({ backend: parts.backend, sequences });
  expectTypeOf(run).returns.toEqualTypeOf<AsyncGenerator<SftReport, void, undefined>>();
  expectTypeOf<SftReport['metrics'][string]>().not.toBeAny();
});
