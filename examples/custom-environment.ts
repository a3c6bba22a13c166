/**
 * Write your own environment
 *
 * The policy guesses a number from 1 to 3 in at most two tries. After a wrong guess it sees `<` or `>`. The environment reports
 * how the game ended, and the reward reads that outcome. The policy is a table, so this runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/custom-environment.ts
 * ```
 */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { State, Task } from '@rlp/core';
import { BaseEnvironment, taskSource } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';

interface Secret {
  readonly answer: string;
}

interface Game extends State, Secret {
  readonly prompt: string;
}

/** What the reward learns about a game. */
interface Result {
  readonly result: 'won' | 'lost';
  readonly guesses: number;
}

class HotAndCold extends BaseEnvironment<Game, Secret, Result> {
  override reset({ metadata }: Task<Secret>): Game {
    return { prompt: '?', response: '', stepCount: 0, ...metadata };
  }

  override updateState(state: Game, response: string): Game {
    const hint = response < state.answer ? '>' : '<';
    return { ...state, prompt: state.prompt + response + hint, response, stepCount: state.stepCount + 1 };
  }

  override isTerminal({ stepCount, response, answer }: Game): boolean {
    return stepCount === 2 || response === answer;
  }

  override outcome({ stepCount, response, answer }: Game): Result {
    return { result: response === answer ? 'won' : 'lost', guesses: stepCount };
  }
}

/** Trains a table of logits to play. Yields the mean reward of each iteration. */
export async function* play(iterations: number): AsyncGenerator<number> {
  const tokenizer = characterTokenizer('?<>123', { end: '.' });
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 2,
    learningRate: 0.3,
  });
  const sampler = new TabularSampler({ backend, tokenizer });
  const tasks = ['1', '2', '3'].map((answer) => ({ id: answer, prompt: '?', metadata: { answer } }));
  const algorithm = new GRPOAlgorithm(
    {
      environment: new HotAndCold(),
      tasks: taskSource(tasks),
      rewards: rewardFunctions({ win: ({ outcome }) => (outcome?.result === 'won' ? 1 : 0) }),
      sampler,
      backend,
      tokenizer,
    },
    { tasksPerIteration: 6, rollout: { sampling: { maxTokens: 1 } } },
  );
  for await (const { metrics } of algorithm.run({ iterations })) yield metrics['reward/mean'] ?? 0;
}

if (import.meta.filename === process.argv[1]) {
  let iteration = 0;
  for await (const reward of play(60)) {
    iteration += 1;
    if (iteration === 1 || iteration % 10 === 0)
      console.log(`iteration ${iteration}: reward ${reward.toFixed(2)}`);
  }
}
