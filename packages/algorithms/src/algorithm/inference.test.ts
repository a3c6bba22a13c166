import type { Environment, RewardComputer, State, TaskSource } from '@rlp/core';
import { exactAnswer, rewardFunctions, tagFormat } from '@rlp/rewards';
import { relativeRewardComputer } from '@rlp/rewards/computers';
import { describe, expectTypeOf, it } from 'vitest';
import { type AlgorithmDependencies, GRPOAlgorithm, PPOAlgorithm } from '../index.ts';

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
